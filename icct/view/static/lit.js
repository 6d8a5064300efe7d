// The tree with its path lit, and in each split a gauge: how far its feature is from the threshold.
import { makeTree } from "icct/tree.js";

const SVG = "http://www.w3.org/2000/svg";
const shape = (tag, attributes) => {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
};

export function makeLitTree(place, policy, options) {
  // Drawn by icct/policy/svg.py, which escapes every name; in the report it stands there already.
  if (policy.tree.svg) place.innerHTML = policy.tree.svg;
  const svg = place.querySelector(".tree"), { em } = policy.tree.numbers;
  if (policy.tree.svg) svg.removeAttribute("style");
  const tree = makeTree(svg, policy.tree.numbers, options);
  const gauges = policy.nodes.map((node, index) =>
    (node.rules ? null : makeGauge(node, index)));
  let lit = [];

  function makeGauge(node, index) {
    const { width, height } = policy.tree.numbers.nodes[index];
    const [middle, half, y] = [width * em / 2, width * em / 2 - 7, height * em];
    const dot = shape("circle", { r: 4.2, cx: middle, cy: y });
    const group = shape("g", { class: "gauge" }); // along the lower border of the box
    group.append(shape("line", { x1: middle, x2: middle, y1: y - 4, y2: y + 5 }), dot);
    tree.boxes[index].append(group);
    const { low, high } = policy.features[node.feature];
    const ends = [low, high].filter((end) => end !== null); // without bounds: some measure
    const reach = Math.max(...ends.map((end) => Math.abs(end - node.threshold)),
      ends.length ? 1e-9 : Math.max(Math.abs(node.threshold), 1));
    let shown = null;
    return (value) => { // the root tells small distances apart; left of the middle is "yes"
      const away = value - node.threshold;
      const share = Math.sign(away) * Math.min(Math.sqrt(Math.abs(away) / reach), 1);
      const place = (middle + share * half).toFixed(1);
      if (place !== shown) dot.setAttribute("cx", shown = place);
    };
  }

  return {
    ...tree,
    light(path, observation) {
      if (path.length !== lit.length || path.some((node, i) => node !== lit[i])) {
        for (const node of lit) mark(node, false);
        for (const node of path) mark(node, true);
        lit = [...path];
      }
      gauges.forEach((gauge, index) => gauge?.(observation[policy.nodes[index].feature]));
    },
    markChanged(nodes) {
      tree.boxes.forEach((box, index) => box.classList.toggle("changed", nodes.has(index)));
    },
  };

  function mark(node, on) {
    tree.boxes[node].classList.toggle("lit", on);
    tree.edges[node]?.classList.toggle("lit", on);
    tree.answers[node]?.classList.toggle("lit", on);
  }
}
