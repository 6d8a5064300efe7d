// The report: its tree folds, and before printing everything is unfolded.
import { makeTree } from "icct/tree.js";

const byId = (id) => document.getElementById(id);
const numbers = JSON.parse(byId("tree-data").textContent);
const tree = makeTree(document.querySelector(".tree"), numbers, {
  onPoint: (sentence) => { byId("region").textContent = sentence; },
});
const buttons = { "zoom-in": () => tree.zoom(0.8), "zoom-out": () => tree.zoom(1.25),
  fit: tree.fit, unfold: tree.unfoldAll };
for (const [id, act] of Object.entries(buttons)) byId(id).addEventListener("click", act);
window.addEventListener("beforeprint", () => {
  tree.unfoldAll();
  tree.fit();
  for (const more of document.querySelectorAll("details")) more.open = true;
});
