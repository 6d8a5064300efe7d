// A stage and the bodies on it, drawn on a canvas; see icct/envs/stage.py for what they say.

export const RAMP = ["#d6482e", "#facd6c", "#56b4e9"]; // slow to fast, for any colour vision
const MARGIN = 14; // pixels

export function makeStage(canvas, stage, colour) {
  const pen = canvas.getContext("2d");
  let still = null, scale = 1, offset = [0, 0], ratio = 1;

  function fit() {
    ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width || !height) return false;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const [x0, y0, x1, y1] = stage.world;
    scale = Math.min((width - 2 * MARGIN) / (x1 - x0), (height - 2 * MARGIN) / (y1 - y0));
    offset = [width / 2 - scale * (x0 + x1) / 2, height / 2 + scale * (y0 + y1) / 2];
    still = document.createElement("canvas");
    still.width = canvas.width;
    still.height = canvas.height;
    drawLines(still.getContext("2d"));
    return true;
  }

  const place = ([x, y]) => [offset[0] + scale * x, offset[1] - scale * y];

  function trace(pen, line) {
    pen.beginPath();
    line.points.forEach((point, index) => pen[index ? "lineTo" : "moveTo"](...place(point)));
    if (line.closed) pen.closePath();
    pen.stroke();
  }

  function drawLines(pen) {
    pen.scale(ratio, ratio);
    pen.lineCap = pen.lineJoin = "round";
    const roads = stage.lines.filter((line) => line.role === "road");
    for (const [name, extra] of [["--road-edge", 3], ["--road", 0]]) {
      pen.strokeStyle = colour(name);
      for (const line of roads) {
        pen.lineWidth = (line.width ?? 3) * scale + extra;
        trace(pen, line);
      }
    }
    for (const line of stage.lines) {
      if (line.role === "road") continue;
      const guide = line.role === "guide";
      pen.setLineDash(guide ? [7, 7] : []);
      pen.strokeStyle = colour(guide ? "--guide" : "--edge");
      pen.lineWidth = guide ? 1.5 : 2.5;
      trace(pen, line);
    }
  }

  function fill(role, tint) {
    if (tint !== undefined && stage.tint) {
      const { low, high } = stage.tint;
      return ramp((tint - low) / (high - low || 1));
    }
    return colour({ ego: "--lit", other: "--blue", target: "--good", obstacle: "--quiet" }[role]);
  }

  function shape(body, grow = 0) {
    pen.beginPath();
    if (body.radius !== undefined) {
      pen.arc(0, 0, Math.max(body.radius * scale, 2) + grow, 0, 2 * Math.PI);
      return;
    }
    const [length, width] = [body.length * scale + 2 * grow, body.width * scale + 2 * grow];
    pen.roundRect(-length / 2, -width / 2, length, width, Math.min(width / 3, 6));
  }

  function drawBody(body, [x, y, heading, tint]) {
    pen.save();
    pen.translate(...place([x, y]));
    pen.rotate(-heading);
    if (body.role === "ego") { // ringed in the colour of the lit path
      shape(body, 5);
      pen.fillStyle = colour("--lit");
      pen.fill();
      shape(body, 2);
      pen.fillStyle = colour("--panel");
      pen.fill();
    }
    shape(body);
    pen.fillStyle = fill(body.role, tint);
    pen.fill();
    pen.strokeStyle = colour("--outline");
    pen.lineWidth = 1;
    pen.stroke();
    pen.fillStyle = "#1d1d1fbf"; // dark in both themes, as the bodies are bright
    if (body.radius === undefined) { // a windscreen says where the front is
      const [length, width] = [body.length * scale, body.width * scale];
      pen.fillRect(length * 0.14, -width * 0.36, length * 0.14, width * 0.72);
    } else {
      pen.fillRect(body.radius * scale * 0.2, -1, body.radius * scale * 0.8, 2);
    }
    pen.restore();
    if (body.label) label(body, place([x, y]));
  }

  function label(body, [x, y]) {
    const size = (body.radius ?? body.length / 2) * scale + (body.role === "ego" ? 13 : 8);
    const [cx, cy] = [canvas.clientWidth / 2, canvas.clientHeight / 2];
    const away = Math.hypot(x - cx, y - cy) || 1; // towards the middle, where there is room
    pen.fillStyle = colour(body.role === "ego" ? "--lit" : "--quiet");
    pen.font = `${body.role === "ego" ? "bold " : ""}12px Helvetica, Arial, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(body.label, x - (x - cx) / away * (size + 4), y - (y - cy) / away * (size + 2));
  }

  return {
    resize: fit,
    draw(poses) {
      if (!still && !fit()) return;
      pen.setTransform(1, 0, 0, 1, 0, 0);
      pen.clearRect(0, 0, canvas.width, canvas.height);
      pen.drawImage(still, 0, 0);
      pen.scale(ratio, ratio);
      const ids = Object.keys(stage.bodies).filter((id) => poses[id]);
      for (const id of ids.sort((a, b) => rank(stage.bodies[a]) - rank(stage.bodies[b]))) {
        drawBody(stage.bodies[id], poses[id]);
      }
    },
  };
}

const rank = (body) => (body.role === "ego" ? 1 : 0); // the ego on top

export function ramp(share) {
  const place = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const low = Math.min(Math.floor(place), RAMP.length - 2);
  const [a, b] = [RAMP[low], RAMP[low + 1]].map((text) =>
    [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)));
  return `rgb(${a.map((u, i) => Math.round(u + (b[i] - u) * (place - low))).join(" ")})`;
}
