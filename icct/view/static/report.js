// The report: its tree folds, sliders move an observation through it, and it prints.
import { actionOf, pathOf } from "icct/decide.js";
import { makeExplanation } from "icct/explain.js";
import { number, withUnit, write } from "icct/format.js";
import { makeLitTree } from "icct/lit.js";
import { makeSliders } from "icct/sliders.js";

const byId = (id) => document.getElementById(id);
const policy = JSON.parse(byId("policy-data").textContent);
const outline = [...document.querySelectorAll(".outline [data-node]")];
const explanation = makeExplanation(
  { path: byId("path"), rules: byId("rules"), title: byId("rule-title") }, policy);
const tree = makeLitTree(byId("tree-place"), policy, {
  onPoint: (sentence) => write(byId("region"), sentence),
  onLeaf: (leaf) => { if (policy.examples[leaf]) sliders.move(policy.examples[leaf]); },
});
const shown = { path: [], action: [], observation: [] };

function show(observation) {
  const path = pathOf(policy.raw.nodes, observation), leaf = path.at(-1);
  const action = actionOf(policy.raw, leaf, observation);
  const physical = Array.from(observation, (value, i) => value * policy.features[i].scale);
  tree.light(path, physical);
  for (const line of outline) {
    const lit = path.includes(Number(line.dataset.node)), branch = line.closest("details");
    line.classList.toggle("lit", lit);
    if (lit && branch) branch.open = true; // an observation outside the bounds
  }
  explanation.show({ path, leaf, action }, physical);
  write(byId("acts"), `leaf ${leaf}: ` + policy.actions.map(({ name, unit, scale }, i) =>
    `${name} = ${withUnit(number(action[i] * scale), unit)}`).join(", "));
  Object.assign(shown, { path, action, observation: Array.from(observation) });
}

const sliders = makeSliders(byId("sliders"), policy, show);
for (const hidden of document.querySelectorAll("[data-scripted]")) hidden.hidden = false;
const buttons = { "zoom-in": () => tree.zoom(0.8), "zoom-out": () => tree.zoom(1.25),
  fit: tree.fit, unfold: () => { tree.unfoldAll(); tree.fit(); } };
for (const [id, act] of Object.entries(buttons)) byId(id).addEventListener("click", act);
window.addEventListener("beforeprint", () => {
  tree.foldAsFirst();
  tree.fit();
  for (const more of document.querySelectorAll("details")) more.open = true;
});
globalThis.icctReport = { shown, sliders };
