// Training time: a slider over the snapshots, and a button that plays them.

import { clamp, el } from "../shared/dom.js";
import { number } from "../shared/words.js";

const STEP = 450; // ms per snapshot when playing
const GLIDE = 260; // ms: duration of the transition after a move of the slider

const still = () => globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches;

/** The slider. `show(time)` draws a time between snapshots, 0 … last, and `choose(at)` is called for each snapshot
    reached; `extra` nodes are appended. */
export function scrubber({ updates, at, show, choose, signal, extra = [] }) {
  const last = updates.length - 1;
  let [time, goal, playing, frame, before] = [at, at, false, 0, 0];
  const output = el("output", {}, number(updates[at]));
  const input = el("input", { type: "range", min: 0, max: last, step: 1, "aria-label": "training update" });
  const play = el("button", { type: "button", class: "play", on: { click: () => (playing ? stop() : start()) } },
    "▶ play");
  const name = () => {
    output.textContent = number(updates[goal]);
    input.value = goal;
    input.setAttribute("aria-valuetext", `update ${number(updates[goal])}`);
    play.textContent = playing ? "■ stop" : "▶ play";
    play.setAttribute("aria-label", playing ? "stop" : "play the training");
  };
  const run = (now) => {
    const passed = Math.min(now - (before || now), 100);
    before = now;
    if (playing) {
      time = Math.min(time + passed / STEP, last);
      if (Math.floor(time + 1e-6) !== goal) {
        goal = Math.floor(time + 1e-6);
        name();
        choose(goal);
      }
      if (time >= last) stop();
    } else {
      const far = goal - time;
      time = Math.abs(far) < 0.004 || still() ? goal : time + far * (1 - Math.exp((-4 * passed) / GLIDE));
    }
    show(time);
    frame = playing || time !== goal ? requestAnimationFrame(run) : 0;
    if (!frame) before = 0;
  };
  const go = () => { frame ||= requestAnimationFrame(run); };
  function start() {
    playing = true;
    if (goal === last) [time, goal] = [0, 0];
    name();
    choose(goal);
    go();
  }
  function stop() {
    playing = false;
    goal = clamp(Math.round(time), 0, last);
    name();
    choose(goal);
    go();
  }
  const to = (place) => {
    if (place === goal) return;
    playing = false;
    goal = place;
    name();
    go();
  };
  input.addEventListener("input", () => {
    to(Number(input.value));
    choose(goal);
  });
  signal.addEventListener("abort", () => cancelAnimationFrame(frame));
  name();
  const node = el("div", { class: "bar scrubber", role: "group", "aria-label": "training" }, play,
    el("label", { class: "slider" }, el("span", {}, "update"), input, output), ...extra);
  return { node, to, playing: () => playing, time: () => time };
}
