// This step in words and numbers: why this leaf, and what its equation makes of the observation.
import { decimalsFor, element, number, steady, withUnit, write } from "icct/format.js";

const MOST = 8; // terms of a rule that are written out; the others count together
const decimalsOf = (part) => decimalsFor((part.high ?? 1) - (part.low ?? -1));

export function makeExplanation(places, policy) {
  const largest = new Map(); // "leaf action" → the largest contribution so far: bars do not jump
  let shownPath = "", pathRows = [], ruleRows = [];

  // -- the splits on the path, with the distance to each threshold ------------------------------
  function buildPath(path) {
    pathRows = path.slice(0, -1).map((index, i) => {
      const node = policy.nodes[index], feature = policy.features[node.feature];
      const limit = withUnit(number(node.threshold), feature.unit);
      const away = element("div", { class: "away" });
      const row = element("div", { class: "question" }, `${feature.name} ≤ ${limit}? `,
        element("b", {}, path[i + 1] === node.below ? "yes" : "no"), away);
      return { node, feature, away, row };
    });
    places.path.replaceChildren(...(pathRows.length ? pathRows.map(({ row }) => row)
      : [element("div", { class: "question" }, "The tree is one leaf: it always acts.")]));
  }

  function updatePath(observation) {
    for (const { node, feature, away } of pathRows) {
      const seen = observation[node.feature], decimals = decimalsOf(feature);
      const distance = seen - node.threshold;
      write(away, `it is ${steady(seen, decimals)}, ${steady(Math.abs(distance), decimals)} ` +
        `${distance > 0 ? "above" : "below"}`);
    }
  }

  // -- the leaf's equations, in words and with the numbers of now --------------------------------
  function sum(terms) {
    return terms.map(([value, name], i) => {
      const sign = i ? (value < 0 ? " − " : " + ") : (value < 0 ? "−" : "");
      return `${sign}${number(Math.abs(value))}${name}`;
    }).join("");
  }

  function squashed(inside, action) {
    if (policy.squash === "none") return inside;
    if (policy.squash === "clip") {
      return `clip(${inside}, ${number(action.low)}, ${number(action.high)})`;
    }
    const centre = action.centre ? `${number(action.centre)} + ` : "";
    return `${centre}${action.half !== 1 ? `${number(action.half)} ` : ""}tanh(${inside})`;
  }

  // The largest terms of a rule, in order, and the rest; as icct/policy/caption.py measures them.
  function largestTerms({ weights }) {
    const influence = ([f, weight]) => {
      const { low, high } = policy.features[f];
      return Math.abs(weight) * (low === null || high === null ? 1 : high - low);
    };
    if (weights.length <= MOST) return [weights, []];
    const sorted = [...weights].sort((one, other) => influence(other) - influence(one));
    const kept = new Set(sorted.slice(0, MOST));
    return [weights.filter((term) => kept.has(term)), sorted.slice(MOST)];
  }

  function equation(rule, action) {
    if (!rule.weights.length) return `${action.name} is constant here: `;
    const [largest, rest] = largestTerms(rule);
    const terms = largest.map(([f, w]) => [w, ` ${policy.features[f].name}`]);
    if (rule.bias !== 0) terms.push([rule.bias, ""]);
    const more = rest.length ? ` + ${rest.length} smaller terms` : "";
    return `${action.name} = ${squashed(sum(terms) + more, action)}`;
  }

  function term(name, weights, constant = 0) {
    const bar = element("i"), value = element("span", { class: "n" });
    const parts = [element("span", { class: "name", title: name }, name),
      element("span", { class: "bar" }, bar, element("i", { class: "middle" })), value];
    return { weights, constant, bar, value, parts };
  }

  function buildRules(leaf) {
    places.title.textContent = `What leaf ${leaf} does`;
    ruleRows = policy.nodes[leaf].rules.map((rule, position) => {
      const action = policy.actions[position];
      const [largest, rest] = largestTerms(rule);
      const terms = largest.map((one) => term(policy.features[one[0]].name, [one]));
      if (rest.length) terms.push(term(`${rest.length} smaller terms`, rest));
      if (terms.length && rule.bias !== 0) terms.push(term("constant", [], rule.bias));
      const numbers = element("span", { class: "numbers" }), result = element("span", { class: "result" });
      const place = element("div", { class: "rule" }, element("div", {}, equation(rule, action)),
        element("div", {}, numbers, result),
        element("div", { class: "terms" }, ...terms.flatMap(({ parts }) => parts)));
      return { action, terms, numbers, result, key: `${leaf} ${position}`, place };
    });
    places.rules.replaceChildren(...ruleRows.map(({ place }) => place));
  }

  function updateRules(observation, command) {
    ruleRows.forEach(({ action, terms, numbers, result, key }, position) => {
      const parts = terms.map(({ weights, constant }) =>
        weights.reduce((total, [f, weight]) => total + weight * observation[f], constant));
      const peak = Math.max(largest.get(key) ?? 1e-9, ...parts.map(Math.abs));
      largest.set(key, peak);
      const decimals = decimalsFor(peak);
      terms.forEach(({ bar, value }, i) => {
        write(value, steady(parts[i], decimals));
        const share = Math.abs(parts[i]) / peak;
        bar.className = parts[i] < 0 ? "minus" : "plus";
        bar.style.transform = `scaleX(${(share * Math.sign(parts[i])).toFixed(3)})`;
      });
      if (terms.length) {
        const written = terms.map(({ weights }, i) => {
          if (weights.length !== 1) return [parts[i], ""];
          const [[f, weight]] = weights;
          return [weight, ` × ${steady(observation[f], decimalsOf(policy.features[f]))}`];
        });
        write(numbers, `= ${squashed(sum(written), action)} = `);
      }
      const acted = steady(command[position] * action.scale, decimalsOf(action));
      write(result, withUnit(acted, action.unit));
    });
  }

  return {
    show(step, observation) {
      const path = step.path.join(" ");
      if (path !== shownPath) {
        shownPath = path;
        if (step.path.length) {
          buildPath(step.path);
          buildRules(step.leaf);
        }
      }
      updatePath(observation);
      updateRules(observation, step.action);
    },
  };
}
