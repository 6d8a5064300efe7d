// A recording plays itself: it answers what the page asks as a server would.
import { makeView } from "icct/view.js";

const recording = JSON.parse(document.getElementById("recording").textContent);
const { about, runs } = recording;
const newest = Math.max(...runs.map(({ steps }) => steps.length)) - 1;
const pause = 1000 * (about.step_s || 0.04);
let cursor = 0, playing = false, speed = 1, due = 0, frame = 0, told = false;

const asked = {
  play() {
    if (cursor >= newest) cursor = 0; // from the start, like a film
    playing = true;
    due = performance.now();
    tell();
    requestAnimationFrame(tick);
  },
  pause() { playing = false; tell(); },
  step() { playing = false; move(cursor + 1); },
  seek({ step }) { playing = false; move(step); },
  speed({ value }) { speed = value; due = performance.now(); },
};
const view = makeView((message) => asked[message.type]?.(message), { live: false });

function tick(time) {
  if (!playing) return;
  const steps = speed >= 1000 ? 1 : Math.floor((time - due) * speed / pause);
  if (steps > 0) {
    due = speed >= 1000 ? time : due + steps * pause / speed;
    playing = cursor + steps < newest;
    move(cursor + steps);
  }
  requestAnimationFrame(tick);
}

function move(step) {
  cursor = Math.min(Math.max(step, 0), newest);
  tell();
}

function tell() {
  frame += 1;
  view.receive({ type: "frame", frame, episode: 1, cursor, first: 0, newest, playing,
    traces: told ? runs.map(() => []) : runs.map(({ steps }) => steps.map((step) =>
      [...step.action, step.return, step.leaf])),
    steps: runs.map(({ steps }) => steps[Math.min(cursor, steps.length - 1)]) });
  told = true;
}

view.receive({ type: "about", ...about });
view.receive({ type: "episode", episode: 1, seed: runs[0].seed, stages: runs.map((run) => run.stage) });
tell();
globalThis.icctView = view;
