// How often each leaf has acted, as bars.
import { leafColour } from "icct/charts.js";
import { element, write } from "icct/format.js";

export function makeUsage(place, policy) {
  const leaves = policy.nodes.flatMap((node, index) => (node.rules ? [index] : []));
  const uses = new Map(leaves.map((leaf) => {
    const bar = element("i"), count = element("span");
    const row = element("div", { class: "use" }, element("span", {}, `leaf ${leaf}`),
      element("span", { class: "track" }, bar), count);
    return [leaf, { row, bar, count }];
  }));
  place.classList.toggle("many", leaves.length > 8);
  place.replaceChildren(...[...uses.values()].map(({ row }) => row));
  let told = [], total = 1;

  return {
    show(counts, leaf) {
      const theme = document.documentElement.dataset.theme;
      const now = [theme, leaf, ...leaves.map((index) => counts.get(index) ?? 0)];
      const sum = Math.max(now.slice(2).reduce((one, other) => one + other, 0), 1);
      leaves.forEach((index, i) => {
        const { row, bar, count } = uses.get(index), n = now[i + 2];
        if (theme !== told[0]) bar.style.background = leafColour(index, leaves, theme === "dark");
        if (leaf !== told[1]) row.classList.toggle("lit", index === leaf);
        if (n !== told[i + 2]) write(count, String(n));
        if (n / sum !== told[i + 2] / total) bar.style.transform = `scaleX(${(n / sum).toFixed(3)})`;
      });
      [told, total] = [now, sum];
    },
  };
}
