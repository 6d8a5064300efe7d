// Actions, leaves and return over time. A trace row is [actions..., return, leaf].
import { decimalsFor, element, steady, withUnit, write } from "icct/format.js";

const STRIP = 7; // pixels of the strip that shows which leaf acted
const HUES = 12;

// Neighbouring leaves get colours far apart.
export function leafColour(leaf, leaves, dark) {
  const place = leaves.indexOf(leaf);
  const hue = (place * 360 * 0.382 + 210) % 360;
  const tone = Math.floor(place / HUES) % 2;
  return `hsl(${hue.toFixed(0)} 58% ${(dark ? 62 : 52) - 12 * tone}%)`;
}

export function makeCharts(place, policy, colour, onSeek) {
  const leaves = policy.nodes.flatMap((node, index) => (node.rules ? [index] : []));
  const shown = policy.actions.map((action, index) => ({
    label: withUnit(action.name, action.unit), at: index, scale: action.scale,
    low: action.low, high: action.high,
  }));
  shown.push({ label: "return", at: policy.actions.length, scale: 1, low: null, high: null });
  place.replaceChildren();
  const charts = shown.map((what, index) => {
    const value = element("b"), canvas = element("canvas", { title: "Click to go there" });
    const row = element("div", { class: `chart${shown.length < 3 ? " tall" : ""}` },
      element("div", { class: "label" }, element("span", {}, what.label), value), canvas);
    place.append(row);
    canvas.addEventListener("click", (event) => {
      const share = event.offsetX / canvas.clientWidth;
      onSeek(span[0] + Math.round(share * (span[1] - span[0])));
    });
    return { ...what, value, canvas, strip: index === shown.length - 1 };
  });
  let span = [0, 1];

  function range(chart, runs) {
    let [low, high] = [chart.low ?? Infinity, chart.high ?? -Infinity];
    if (chart.low === null || chart.high === null) {
      for (const { rows } of runs) {
        for (const row of rows) {
          const value = row[chart.at] * chart.scale;
          if (value < low) low = value;
          if (value > high) high = value;
        }
      }
    }
    if (!(high > low)) [low, high] = [Math.min(low, 0) || -1, Math.max(high, 0) || 1];
    return [low, high];
  }

  function drawOne(chart, runs, cursor) {
    const ratio = window.devicePixelRatio || 1, { canvas } = chart;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
    if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext("2d"), [low, high] = range(chart, runs);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const bottom = height - (chart.strip ? STRIP + 4 : 2);
    const x = (step) => (step - span[0]) / (span[1] - span[0]) * (width - 2) + 1;
    const y = (value) => 2 + (1 - (value - low) / (high - low)) * (bottom - 4);
    pen.lineWidth = 1;
    pen.strokeStyle = colour("--line");
    for (const level of low < 0 && high > 0 ? [low, 0, high] : [low, high]) {
      pen.beginPath();
      pen.moveTo(0, y(level));
      pen.lineTo(width, y(level));
      pen.stroke();
    }
    runs.forEach(({ rows, first }, run) => {
      pen.strokeStyle = colour(run ? "--other" : "--blue");
      pen.lineWidth = 1.6;
      pen.beginPath();
      const every = Math.max(1, Math.floor(rows.length / (2 * width)));
      for (let i = 0; i < rows.length; i += every) {
        pen[i ? "lineTo" : "moveTo"](x(first + i), y(rows[i][chart.at] * chart.scale));
      }
      pen.stroke();
    });
    if (chart.strip) drawStrip(pen, runs[0], x, height - STRIP);
    pen.fillStyle = colour("--lit");
    pen.fillRect(x(cursor) - 0.75, 0, 1.5, height);
    const decimals = decimalsFor(high - low);
    write(chart.value, runs.map(({ rows, first }) => {
      const row = rows[Math.min(Math.max(cursor - first, 0), rows.length - 1)];
      return row ? steady(row[chart.at] * chart.scale, decimals) : "";
    }).join("  |  "));
  }

  function drawStrip(pen, { rows, first }, x, top) {
    const dark = document.documentElement.dataset.theme === "dark";
    for (let i = 0; i < rows.length;) {
      const leaf = rows[i][rows[i].length - 1];
      let end = i + 1;
      while (end < rows.length && rows[end][rows[end].length - 1] === leaf) end += 1;
      if (leaf !== null) {
        pen.fillStyle = leafColour(leaf, leaves, dark);
        pen.fillRect(x(first + i), top, Math.max(x(first + end) - x(first + i), 1), STRIP);
      }
      i = end;
    }
  }

  return {
    draw(runs, cursor, newest) {
      span = [runs[0].first, Math.max(newest, runs[0].first + 1)];
      for (const chart of charts) drawOne(chart, runs, cursor);
    },
  };
}

// A curve of training, as points that come now and then.
export function drawCurve(canvas, curve, colour) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  const [low, high] = [Math.min(...curve.values), Math.max(...curve.values)];
  const [first, last] = [curve.steps[0], curve.steps[curve.steps.length - 1]];
  pen.strokeStyle = colour("--good");
  pen.lineWidth = 1.6;
  pen.beginPath();
  curve.steps.forEach((step, i) => {
    const x = 1 + (step - first) / (last - first || 1) * (width - 2);
    const y = 3 + (1 - (curve.values[i] - low) / (high - low || 1)) * (height - 6);
    pen[i ? "lineTo" : "moveTo"](x, y);
  });
  pen.stroke();
}
