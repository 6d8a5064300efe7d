// The drawn tree: folds and unfolds it, zooms and moves it. Shared by the report and the live view.
// The boxes are placed by the rules of icct/policy/layout.py; `numbers` comes from view/tree.py.

const NEAREST = 40, FARTHEST = 4; // how far one can zoom in and out
const MORE = 6; // em for the "+ 3 leaves" behind a folded box

export function makeTree(svg, numbers, { onClick = null, onPoint = () => {}, onLeaf = () => {} } = {}) {
  const drawn = (kind, index) => svg.querySelector(`${kind}[data-child="${index}"]`);
  const boxes = numbers.nodes.map((_, index) => svg.querySelector(`[data-node="${index}"]`));
  const edges = numbers.nodes.map((_, index) => drawn("path", index));
  const answers = numbers.nodes.map((_, index) => drawn("text", index));
  const folded = new Set(numbers.folded);
  let whole = svg.getAttribute("viewBox").split(" ").map(Number); // what "Fit" shows
  const open = (index) => (folded.has(index) ? [] : numbers.nodes[index].children);

  function visible() { // parents before children
    const order = [0];
    for (let i = 0; i < order.length; i++) order.push(...open(order[i]));
    return order;
  }

  function middles(order) {
    const own = (index) => numbers.nodes[index].height + numbers.band;
    const band = {}, start = { 0: -numbers.band / 2 }, middle = {};
    for (const index of [...order].reverse()) {
      const inside = open(index).reduce((sum, child) => sum + band[child], 0);
      band[index] = Math.max(own(index), inside);
    }
    for (const index of order) {
      const [below, above] = open(index);
      if (below === undefined) continue;
      start[below] = start[index] + (band[index] - band[below] - band[above]) / 2;
      start[above] = start[below] + band[below];
    }
    for (const index of [...order].reverse()) {
      const nearest = start[index] + own(index) / 2;
      const farthest = start[index] + band[index] - own(index) / 2;
      const [below, above] = open(index);
      const wanted = below === undefined
        ? (nearest + farthest) / 2 : (middle[below] + middle[above]) / 2;
      middle[index] = Math.min(Math.max(wanted, nearest), farthest);
    }
    return middle;
  }

  function lefts(order, middle) {
    const left = {}, levels = [];
    const level = { 0: 0 };
    for (const index of order) {
      for (const child of open(index)) level[child] = level[index] + 1;
      (levels[level[index]] ??= []).push(index);
    }
    for (const indexes of levels) {
      for (const index of indexes) {
        left[index] = 0;
        let ancestor = numbers.nodes[index].parent, share = 0.5;
        while (ancestor !== null) {
          const box = numbers.nodes[ancestor];
          const apart = Math.abs(middle[index] - middle[ancestor]);
          const clear = (numbers.nodes[index].height + box.height) / 2 + numbers.clear;
          const end = left[ancestor] + (apart < clear ? 1 : share) * box.width + numbers.level;
          left[index] = Math.max(left[index], end);
          ancestor = box.parent;
          share = 0;
        }
      }
      const splits = indexes.filter((index) => numbers.nodes[index].children.length);
      const together = Math.max(...splits.map((index) => left[index]));
      for (const index of splits) left[index] = together;
    }
    return left;
  }

  function edge(parent, child, left, middle) {
    const { width, height } = numbers.nodes[parent];
    const to = [left[child], middle[child]];
    let from, one, two;
    if (left[child] < left[parent] + width) {
      const x = left[parent] + width / 2;
      from = [x, middle[parent] + (to[1] < middle[parent] ? -1 : 1) * height / 2];
      one = two = [x, to[1]];
    } else {
      from = [left[parent] + width, middle[parent]];
      const halfway = (from[0] + to[0]) / 2;
      one = [halfway, from[1]];
      two = [halfway, to[1]];
    }
    const [a, b, c, d] = [from, one, two, to].map((point) => point.map(em).join(" "));
    return `M${a}C${b} ${c} ${d}`;
  }

  const em = (value) => (value * numbers.em).toFixed(1);

  function leavesUnder(index) {
    const { children } = numbers.nodes[index];
    return children.length ? children.reduce((sum, child) => sum + leavesUnder(child), 0) : 1;
  }

  function place() {
    const order = visible(), shown = new Set(order);
    const middle = middles(order), left = lefts(order, middle);
    const reach = (size, from) => Math.max(...order.map((i) => from(i) + numbers.nodes[i][size]));
    const width = reach("width", (i) => left[i] + (folded.has(i) ? MORE : 0));
    const height = reach("height", (i) => middle[i] - numbers.nodes[i].height / 2);
    const { margin } = numbers;
    whole = [-margin, -margin, width + 2 * margin, height + 2 * margin].map((n) => n * numbers.em);
    numbers.nodes.forEach(({ parent, height, children }, index) => {
      const box = boxes[index];
      box.classList.toggle("hidden", !shown.has(index));
      if (children.length) {
        box.setAttribute("aria-expanded", String(!folded.has(index)));
        box.querySelector(".more").textContent =
          folded.has(index) ? `+ ${leavesUnder(index)} leaves` : "";
      }
      if (parent !== null) {
        edges[index].classList.toggle("hidden", !shown.has(index));
        answers[index].classList.toggle("hidden", !shown.has(index));
      }
      if (!shown.has(index)) return;
      const y = middle[index] - height / 2;
      box.setAttribute("transform", `translate(${em(left[index])} ${em(y)})`);
      if (parent === null) return;
      edges[index].setAttribute("d", edge(parent, index, left, middle));
      answers[index].setAttribute("x", em(left[index] - 0.35));
      const side = middle[index] < middle[parent] ? -0.6 : 0.65;
      answers[index].setAttribute("y", em(middle[index] + side + 0.25));
    });
  }

  function fold(index) {
    if (!numbers.nodes[index].children.length) return;
    folded.has(index) ? folded.delete(index) : folded.add(index);
    place();
  }

  // -- zoom and move: the picture's window ----------------------------------------------------
  let view = [...whole];
  const look = () => svg.setAttribute("viewBox", view.map((n) => n.toFixed(1)).join(" "));

  function zoom(factor, at = [0.5, 0.5]) {
    const [x, y, width, height] = view;
    const wanted = Math.min(Math.max(width * factor, whole[2] / NEAREST), whole[2] * FARTHEST);
    const size = wanted / width;
    view = [x + width * (1 - size) * at[0], y + height * (1 - size) * at[1],
      width * size, height * size];
    look();
  }

  function fit() { view = [...whole]; look(); }

  function unfoldAll() { folded.clear(); place(); }

  function foldAsFirst() {
    folded.clear();
    for (const index of numbers.folded) folded.add(index);
    place();
  }

  if (folded.size) { place(); fit(); }

  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // plain scrolling moves the page
    event.preventDefault();
    const area = svg.getBoundingClientRect();
    zoom(event.deltaY > 0 ? 1.1 : 0.9,
      [(event.clientX - area.left) / area.width, (event.clientY - area.top) / area.height]);
  }, { passive: false });
  let grabbed = null, moved = false;
  svg.addEventListener("pointerdown", (event) => {
    grabbed = { x: event.clientX, y: event.clientY, view: [...view] };
    moved = false;
  });
  svg.ownerDocument.addEventListener("pointermove", (event) => {
    if (!grabbed) return;
    const [dx, dy] = [event.clientX - grabbed.x, event.clientY - grabbed.y];
    if (Math.hypot(dx, dy) > 4) moved = true;
    if (!moved) return;
    const area = svg.getBoundingClientRect();
    const scale = Math.max(view[2] / area.width, view[3] / area.height);
    view = [grabbed.view[0] - dx * scale, grabbed.view[1] - dy * scale, view[2], view[3]];
    look();
  });
  svg.ownerDocument.addEventListener("pointerup", () => { grabbed = null; });

  boxes.forEach((box, index) => {
    const tell = () => onPoint(box.querySelector("title").textContent, index);
    const act = () => {
      if (onClick) onClick(index);
      else if (numbers.nodes[index].children.length) fold(index);
      else onLeaf(index);
    };
    box.addEventListener("mouseenter", tell);
    box.addEventListener("focus", tell);
    box.addEventListener("click", () => { if (!moved) act(); });
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || (event.key === " " && !onClick)) { event.preventDefault(); act(); }
    });
  });

  return { boxes, edges, answers, fit, zoom, unfoldAll, foldAsFirst };
}
