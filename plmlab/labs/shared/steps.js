// How much of what was made step by step is shown: a slider, one step back or forward, and all.

import { slider } from "./controls.js";
import { clamp, el } from "./dom.js";

/** How many of `count` steps are shown; `steps` null is all. */
export const shownOf = (steps, count) => (steps === null ? count : clamp(steps, 1, count));

/** The bar; a step is called `unit`, and the keys [ and ] take one back and forward wherever the focus is in the `lab`.
    `walk(steps)` hears how many are to be shown, null for all; `show(steps, count)` draws. */
export function stepper({ unit, lab }, walk) {
  let [shown, all] = [1, 1];
  const button = (text, title, press) =>
    el("button", { type: "button", class: "preset", title, on: { click: press } }, text);
  const by = (far) => () => walk(clamp(shown + far, 1, all));
  const steps = slider({ title: `${unit}s shown`, low: 1, high: 1, step: 1, said: (now, count) => `${now} of ${count}` }, walk);
  const back = button("◂ back", `one ${unit} back (key [)`, by(-1));
  const forward = button("forward ▸", `one ${unit} forward (key ])`, by(1));
  const end = button("all", `all ${unit}s`, () => walk(null));
  lab.addEventListener("keydown", (event) => {
    const to = { "[": back, "]": forward }[event.key];
    if (!to || event.target.matches("input[type=text]")) return;
    to.click();
    event.preventDefault();
    event.stopPropagation();
  });
  return { node: el("div", { class: "bar quiet knobs" }, steps.node, back, forward, end), show(wanted, count) {
    [shown, all] = [shownOf(wanted, count), count];
    steps.show(shown, count);
    back.disabled = shown <= 1;
    forward.disabled = end.disabled = shown >= count;
  } };
}
