// The editor: numbers of one node in physical units, and what a change does to the whole policy.
import { element, number, steady, withUnit } from "icct/format.js";

export function makeEditor(place, original, { send, savesIn, onNode }) {
  const changes = new Map(); // "node action feature" → the change
  let selected = 0, found = null, comparing = false;
  const keyOf = (change) => `${change.node} ${change.action ?? ""} ${change.feature ?? ""}`;

  function ask() { send({ type: "edit", changes: [...changes.values()] }); }

  function field(label, unit, value, change) {
    const key = keyOf(change), now = changes.get(key)?.value ?? value;
    const input = element("input", { type: "number", step: "any", value: shorten(now),
      ariaLabel: label });
    const row = element("label", { class: `field${changes.has(key) ? " changed" : ""}` },
      element("span", { title: label }, label), input, element("span", { class: "quiet" }, unit));
    input.addEventListener("change", () => {
      const typed = Number(input.value);
      if (input.value === "" || !Number.isFinite(typed)) { input.value = shorten(now); return; }
      if (typed === Number(shorten(value))) changes.delete(key);
      else changes.set(key, { ...change, value: typed });
      ask();
    });
    return row;
  }

  function fields() {
    const node = original.nodes[selected];
    if (!node.rules) {
      const feature = original.features[node.feature];
      return [element("h3", {}, `Split ${selected}: ${feature.name}`),
        element("p", { class: "quiet" }, bounds(feature)),
        field("“yes” up to", feature.unit, node.threshold, { node: selected })];
    }
    return node.rules.flatMap((rule, position) => {
      const action = original.actions[position];
      const inside = original.squash === "tanh" ? "1" : action.unit || "1";
      const weights = rule.weights.map(([f, weight]) => {
        const { name, unit } = original.features[f];
        return field(`${name} ×`, unit ? `${inside} per ${unit}` : inside, weight,
          { node: selected, action: position, feature: f });
      });
      return [element("h3", {}, `Leaf ${selected}: ${action.name}`), ...weights,
        field("constant", inside, rule.bias, { node: selected, action: position })];
    });
  }

  const bounds = ({ low, high, unit }) =>
    (low === null || high === null ? "It has no declared bounds."
      : `It stays within ${number(low)} and ${withUnit(number(high), unit)}.`);

  function effect() {
    if (!changes.size) {
      return [element("p", { class: "quiet" },
        "Change a number to see what it does to every possible observation. The file stays as it is.")];
    }
    if (!found) return [element("p", { class: "quiet" }, "Working it out …")];
    const lines = [element("h2", {}, "Over all observations"),
      ...found.bounds.map((text) => element("p", {}, sentence(text)))];
    if (found.alike !== null && found.moves) {
      lines.push(element("p", { class: "quiet" },
        `The same rules act in ${(100 * found.alike).toFixed(1)} % of the declared box.`));
    }
    if (found.here) lines.push(element("h2", {}, "For the step shown"), ...here());
    if (found.properties.length) {
      lines.push(element("h2", {}, "Properties"), ...found.properties.map(property));
    }
    return lines;
  }

  const here = () => original.actions.map((action, i) => {
    const [before, after] = [found.here.before[i], found.here.after[i]].map((v) => v * action.scale);
    const text = before === after ? `${action.name} stays ${steady(before)}`
      : `${action.name}: ${steady(before)} becomes ${steady(after)}`;
    return element("p", {}, withUnit(text, action.unit));
  });

  function property(one) {
    const mark = element("span", { class: one.holds ? "holds" : "broken" }, one.holds ? "✓" : "✗");
    const moved = one.before === one.after ? one.after : `${one.before} → ${one.after}`;
    return element("div", { class: "property", title: `${one.text}\n${one.why}` }, mark,
      element("span", {}, `${one.name}: ${moved}`));
  }

  const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`.replace("^2", "²");

  function saving() {
    const name = element("input", { type: "text", value: `${fileName(original.name)}-edited.json`,
      id: "save-name", ariaLabel: "Name of the new file" });
    const save = element("button", { type: "button", id: "save", class: "primary" }, "Save as new file");
    save.addEventListener("click", () => send({ type: "save", name: name.value }));
    const beside = element("button", { type: "button", id: "compare" },
      comparing ? "Stop the comparison" : "Run beside the original");
    beside.addEventListener("click", () => send({ type: "compare", on: !comparing }));
    const undo = element("button", { type: "button", id: "undo" }, "Take all back");
    undo.addEventListener("click", () => { changes.clear(); ask(); });
    return [element("div", { class: "row" }, beside, undo), element("h2", {}, "Save"),
      element("div", { class: "row" }, name), element("div", { class: "row" }, save),
      element("p", { class: "quiet" }, `In ${savesIn}. No file is ever overwritten.`)];
  }

  function draw() {
    const focused = document.activeElement?.ariaLabel;
    const close = element("button", { type: "button", id: "close-editor", title: "Close (E)" }, "Close");
    close.addEventListener("click", () => onNode(null));
    place.replaceChildren(
      element("div", { class: "row" }, element("h2", {}, "Edit"), element("span", { class: "gap" }), close),
      element("p", { class: "quiet" }, "Click a box of the tree to choose it."),
      ...fields(),
      element("div", { class: "effect" }, ...effect()),
      ...(changes.size ? saving() : []));
    if (focused) [...place.querySelectorAll("input")].find((i) => i.ariaLabel === focused)?.focus();
  }

  return {
    select(node) { selected = node; draw(); },
    receive(message) { // what the server found out, or null when all is taken back
      found = message.policy ? message : null;
      draw();
    },
    comparing(on) { comparing = on; draw(); },
    changed: () => new Set([...changes.values()].map(({ node }) => node)),
    draw,
  };
}

const shorten = (value) => String(Number(value.toPrecision(7)));
const fileName = (name) => name.replace(/[^A-Za-z0-9_.-]+/g, "-").slice(0, 80) || "policy";
