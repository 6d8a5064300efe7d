// The page: takes messages (from a server, or from a recording that plays itself) and shows them.
//   about     the policies and their world        episode   a new episode, with its stages
//   frame     one step of each run, with the rows of the charts since the frame before
//   edited, saved, failed, refused, crashed, curve: answers to what was asked
import { drawCurve, makeCharts } from "icct/charts.js";
import { makeControls } from "icct/controls.js";
import { makeEditor } from "icct/editor.js";
import { makeExplanation } from "icct/explain.js";
import { element, steady, write } from "icct/format.js";
import { makeLitTree } from "icct/lit.js";
import { makeScene } from "icct/scene.js";
import { makeUsage } from "icct/usage.js";

const byId = (id) => document.getElementById(id);
const colours = new Map();
const colour = (name) => {
  if (!colours.has(name)) {
    colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  }
  return colours.get(name);
};

export function makeView(send, { live }) {
  const app = byId("app");
  const state = { about: null, policies: [], runs: [], scenes: [], chosen: 0, episode: 0,
    frame: null, waiting: null, drawn: 0 };
  let tree = null, charts = null, explanation = null, uses = null, editor = null;
  app.classList.toggle("editable", live);
  byId("open-editor").classList.toggle("hidden", !live);
  const controls = makeControls(send, { live, notice, recolour, toggleEditor });

  // -- messages -----------------------------------------------------------------------------------
  const answers = {
    about(message) {
      state.about = message;
      state.policies = message.policies;
      [state.frame, state.episode] = [null, -1]; // a frame of another policy does not fit its tree
      byId("name").textContent = message.policies[0].name;
      describeWorld(message);
      if (live) {
        editor = makeEditor(byId("editor"), state.policies[0],
          { send, savesIn: message.saves_in, onNode: () => toggleEditor(false) });
      }
      choose(Math.min(state.chosen, state.policies.length - 1));
    },
    starting() { app.dataset.state = "starting"; },
    episode(message) {
      app.dataset.state = "running";
      notice(null);
      state.episode = message.episode;
      state.runs = message.stages.map(() => ({ first: 0, rows: [] }));
      state.frame = null;
      controls.episode(message.seed);
      buildScenes(message.stages);
      const comparing = message.stages.length > 1;
      editor?.comparing(comparing);
      const wanted = live && comparing ? 1 : 0; // the edited one, while it runs
      if (wanted !== state.chosen) choose(wanted);
      else buildChoice();
    },
    frame(message) {
      state.waiting = message;
      requestAnimationFrame(draw);
    },
    edited(message) {
      state.policies = message.policy ? [state.policies[0], message.policy] : [state.policies[0]];
      editor.receive(message);
      choose(message.policy && state.runs.length > 1 ? 1 : 0);
    },
    saved({ path }) { notice(`Saved as ${path}`, null, true); },
    failed({ why }) { notice(why); editor?.draw(); },
    refused({ why }) { notice(why); },
    crashed({ why }) {
      app.dataset.state = "crashed";
      notice(`The simulator has stopped. ${why}`, ["Restart it", () => controls.restart()]);
    },
    curve(message) { Object.assign(state.about, message); describeWorld(state.about); buildCurves(); },
  };

  function describeWorld({ title, folder }) {
    byId("world").textContent = folder ? `${title} · newest of ${folder.path}: ${folder.file}` : title;
  }

  // -- what is built when policies or episodes change -----------------------------------------------
  function choose(index) {
    state.chosen = index;
    const policy = state.policies[index];
    tree = makeLitTree(byId("tree-place"), policy, {
      onPoint: (sentence) => { byId("region").textContent = sentence; },
      onClick: (node) => { if (live) { toggleEditor(true); editor.select(node); } },
    });
    tree.markChanged(editor?.changed() ?? new Set());
    charts = makeCharts(byId("charts"), policy, colour, controls.seek);
    explanation = makeExplanation(
      { path: byId("path"), rules: byId("rules"), title: byId("rule-title") }, policy);
    uses = makeUsage(byId("usage"), policy);
    buildCurves();
    buildChoice();
    if (state.frame) show(state.frame);
  }

  function buildChoice() {
    const both = state.runs.length > 1 && state.policies.length > 1;
    byId("which").classList.toggle("hidden", !both);
    if (!both) return;
    byId("which").replaceChildren(...names().map((name, index) => {
      const button = element("button", { type: "button", ariaPressed: String(index === state.chosen) }, name);
      button.addEventListener("click", () => choose(index));
      return button;
    }));
  }

  const names = () => (live ? ["Original", "Edited"]
    : state.about.names ?? state.policies.map(({ name }) => name));

  function buildScenes(stages) {
    for (const scene of state.scenes) scene.close();
    state.scenes = stages.map((stage, index) =>
      makeScene(stage, stages.length > 1 ? names()[index] ?? "" : "", index > 0, colour));
    byId("scenes").replaceChildren(...state.scenes.map(({ place }) => place));
  }

  function buildCurves() {
    for (const old of byId("charts").querySelectorAll(".curve")) old.remove();
    for (const curve of state.about.curves ?? []) {
      const last = curve.values[curve.values.length - 1];
      byId("charts").append(element("div", { class: "chart curve" },
        element("div", { class: "label" }, element("span", {}, `training: ${curve.name}`),
          element("b", {}, steady(last))), element("canvas")));
    }
    drawCurves();
  }

  function drawCurves() {
    const canvases = byId("charts").querySelectorAll(".curve canvas");
    (state.about.curves ?? []).forEach((curve, i) => {
      if (canvases[i]) drawCurve(canvases[i], curve, colour);
    });
  }

  // -- one frame --------------------------------------------------------------------------------------
  function draw() {
    const message = state.waiting;
    if (!message) return;
    state.waiting = null;
    send({ type: "ack", frame: message.frame }); // the next one may travel while this one is drawn
    if (message.episode === state.episode && message.steps.length) {
      message.traces.forEach((rows, run) => take(state.runs[run], rows, message.first));
      state.frame = message;
      show(message);
      state.drawn += 1;
    }
  }

  function take(run, rows, first) {
    for (const row of rows) run.rows.push(row);
    if (first > run.first) run.rows.splice(0, first - run.first);
    run.first = Math.max(run.first, first);
  }

  function show(message) {
    message.steps.forEach((step, index) => state.scenes[index]?.show(step));
    const index = Math.min(state.chosen, message.steps.length - 1);
    const step = message.steps[index], policy = state.policies[state.chosen];
    const observation = step.observation.map((value, i) => value * policy.features[i].scale);
    if (step.path.length) {
      tree.light(step.path, observation);
      explanation.show(step, observation);
      uses.show(usage(state.runs[index], step), step.leaf);
    }
    charts.draw(state.runs, message.cursor, message.newest);
    controls.frame(message, state.about.step_s);
    const returns = message.steps.map((one) => steady(one.return)).join(" | ");
    write(byId("return"), returns);
    app.dataset.step = step.step;
    app.dataset.leaf = step.leaf;
  }

  function usage(run, step) {
    const counts = new Map();
    const end = step.step - run.first + (step.ended ? 0 : 1); // the last observation is not acted on
    for (let i = 0; i < Math.min(end, run.rows.length); i += 1) {
      const leaf = run.rows[i][run.rows[i].length - 1];
      counts.set(leaf, (counts.get(leaf) ?? 0) + 1);
    }
    return counts;
  }

  // -- the rest of the page -----------------------------------------------------------------------------
  function toggleEditor(on = byId("editor").classList.contains("hidden")) {
    if (!live || !editor) return;
    byId("editor").classList.toggle("hidden", !on);
    document.querySelector("main").classList.toggle("editing", on);
    if (on) editor.draw();
  }

  function notice(text, button = null, good = false) {
    const place = byId("notice"), [words, press] = place.children;
    place.classList.toggle("hidden", !text);
    place.classList.toggle("good", good);
    words.textContent = text ?? "";
    press.textContent = button ? button[0] : "Close";
    press.onclick = () => { place.classList.add("hidden"); button?.[1](); };
  }

  function recolour() {
    colours.clear();
    for (const scene of state.scenes) scene.recolour();
    if (state.frame) show(state.frame);
    if (state.about) drawCurves();
  }

  for (const [id, act] of [["zoom-in", () => tree?.zoom(0.8)], ["zoom-out", () => tree?.zoom(1.25)],
    ["fit", () => tree?.fit()], ["open-editor", () => toggleEditor()]]) {
    byId(id).addEventListener("click", act);
  }
  new ResizeObserver(() => {
    if (state.frame) show(state.frame);
    if (state.about) drawCurves();
  }).observe(byId("charts"));

  return { receive: (message) => answers[message.type]?.(message), notice, state };
}
