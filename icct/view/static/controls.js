// Play, pause, step, scrub, speed, seed, theme; and their keys.
import { write } from "icct/format.js";

const byId = (id) => document.getElementById(id);

export function makeControls(send, { live, notice, recolour, toggleEditor }) {
  let now = { cursor: 0, first: 0, newest: 0, playing: false }, seeking = null;

  const play = () => send({ type: now.playing ? "pause" : "play" });
  const step = () => send({ type: "step" });
  const back = () => seek(now.cursor - 1);
  const restart = () => {
    const seed = Number(byId("seed").value);
    if (!Number.isInteger(seed) || seed < 0 || seed > 2147483647) {
      notice("A seed is a whole number from 0 to 2,147,483,647.");
      return;
    }
    send({ type: "reset", seed });
  };

  function seek(place) {
    const target = Math.max(Math.min(Math.round(place), now.newest), now.first);
    if (seeking === null) { // as often as the screen shows it, and the newest wins
      requestAnimationFrame(() => {
        send({ type: "seek", step: seeking });
        seeking = null;
      });
    }
    seeking = target;
  }

  byId("play").addEventListener("click", play);
  byId("step").addEventListener("click", step);
  byId("back").addEventListener("click", back);
  byId("scrub").addEventListener("input", (event) => seek(Number(event.target.value)));
  byId("speed").addEventListener("change", (event) =>
    send({ type: "speed", value: Number(event.target.value) }));
  byId("loop").addEventListener("change", (event) => send({ type: "loop", on: event.target.checked }));
  byId("episode").addEventListener("submit", (event) => { event.preventDefault(); restart(); });
  byId("episode").classList.toggle("hidden", !live);
  for (const button of document.querySelectorAll("footer button")) {
    button.addEventListener("click", () => button.blur()); // so that space plays and pauses again
  }

  const keys = { " ": play, ArrowRight: step, ArrowLeft: back, Home: () => seek(now.first),
    End: () => seek(now.newest), r: () => live && restart(), e: () => toggleEditor() };
  document.addEventListener("keydown", (event) => {
    const { target } = event;
    const typing = target.matches("select, button, input:not([type=range]):not([type=checkbox])");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });

  // -- dark and light -----------------------------------------------------------------------------
  const root = document.documentElement;
  const wanted = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  root.dataset.theme = remembered() ?? wanted;
  byId("theme").addEventListener("click", () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("icct-theme", root.dataset.theme); } catch { /* a file may not */ }
    recolour();
  });

  function remembered() {
    try { return localStorage.getItem("icct-theme"); } catch { return null; }
  }

  return {
    seek,
    restart,
    episode(seed) { byId("seed").value = seed; },
    frame({ cursor, first, newest, playing }, step_s) {
      now = { cursor, first, newest, playing };
      write(byId("play"), playing ? "Pause" : "Play");
      byId("play").classList.toggle("primary", !playing);
      byId("back").disabled = cursor <= first;
      const scrub = byId("scrub");
      scrub.min = first;
      scrub.max = Math.max(newest, first + 1);
      if (document.activeElement !== scrub || seeking === null) scrub.value = cursor;
      const share = (cursor - first) / Math.max(newest - first, 1);
      scrub.style.setProperty("--done", `${(100 * share).toFixed(2)}%`);
      const time = step_s ? ` · ${(cursor * step_s).toFixed(1)} s` : "";
      write(byId("place"), `step ${cursor}${cursor < newest ? ` of ${newest}` : ""}${time}`);
    },
  };
}
