// One simulation on the page: its stage, its pictures, or a sentence where it has neither.
import { element, steady, write } from "icct/format.js";
import { makeStage, RAMP } from "icct/stage.js";

const ENDINGS = { collision: "Collision", terminated: "Ended", truncated: "Time is up" };

export function makeScene(stage, title, second, colour) {
  const place = element("div", { class: "scene" });
  const notes = element("div", { class: "notes" });
  const ended = element("span", { class: "ended" });
  const heading = element("div", { class: `title${second ? " other" : ""}` }, title, ended);
  let picture, drawing = null, legend = null, poses = null;
  if (stage) {
    picture = element("canvas", { class: "picture" });
    drawing = makeStage(picture, stage, colour);
    legend = stage.tint ? makeLegend(stage) : null;
  } else {
    picture = element("img", { class: "picture hidden", alt: "The simulator's own picture" });
  }
  const nothing = element("p", { class: "nothing hidden" },
    "This environment draws nothing. With render_mode=\"rgb_array\", or methods stage() and " +
    "poses(), it would be here; see docs/live-view.md.");
  place.append(picture, notes, heading);
  if (legend) place.append(legend.place);
  if (!stage) place.append(nothing);
  const watcher = new ResizeObserver(() => {
    if (drawing && drawing.resize() && poses) drawing.draw(poses);
  });
  watcher.observe(place);

  return {
    place,
    show(step) {
      if (drawing && step.poses) {
        poses = step.poses;
        drawing.draw(poses);
        legend?.show(poses);
      } else if (!stage) {
        picture.classList.toggle("hidden", !step.frame);
        nothing.classList.toggle("hidden", Boolean(step.frame));
        if (step.frame) picture.src = `data:image/jpeg;base64,${step.frame}`;
      }
      write(notes, step.notes.join("\n"));
      write(ended, step.ended ? ENDINGS[step.ended] ?? step.ended : "");
      ended.className = `ended ${step.ended ?? ""}`;
    },
    recolour() { if (drawing && drawing.resize() && poses) drawing.draw(poses); },
    close() { watcher.disconnect(); },
  };
}

// What the colours mean, with a mark at the mean of all bodies.
function makeLegend(stage) {
  const { name, unit, low, high } = stage.tint;
  const mark = element("i"), mean = element("span");
  const bar = element("span", { class: "ramp" }, mark);
  bar.style.background = `linear-gradient(to right, ${RAMP.join(",")})`;
  const place = element("div", { class: "legend" },
    element("span", {}, `${name} ${low}`), bar, element("span", {}, `${high} ${unit}`), mean);
  return {
    place,
    show(poses) {
      const values = Object.values(poses).map((pose) => pose[3]).filter((v) => v !== undefined);
      if (!values.length) return;
      const average = values.reduce((sum, value) => sum + value, 0) / values.length;
      const share = Math.min(Math.max((average - low) / (high - low || 1), 0), 1);
      mark.style.left = `calc(${(100 * share).toFixed(1)}% - 1px)`;
      write(mean, `mean ${steady(average)}`);
    },
  };
}
