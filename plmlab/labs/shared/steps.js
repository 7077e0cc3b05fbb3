// A control for how many steps are shown: a slider, buttons for one step back or forward, and one for all.

import { slider } from "./controls.js";
import { clamp, el } from "./dom.js";

/** How many of `count` steps are shown; `steps` null is all. */
export const shownOf = (steps, count) => (steps === null ? count : clamp(steps, 1, count));

/** The bar. A step is called `unit`; the keys [ and ] go one step back and forward from anywhere in the `lab`.
    `walk(steps)` is called with the number of steps to show, null for all; `show(steps, count)` updates the bar. */
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
