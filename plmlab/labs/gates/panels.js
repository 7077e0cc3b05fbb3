// The panels below the map of the Gate Lab: clamping a unit, the list of holds, and the next-word prediction.

import { groupTitle, holdText, nextSaid } from "./messages.js";
import { checkbox, slider } from "../shared/controls.js";
import { el } from "../shared/dom.js";
import { chance } from "../shared/softmax.js";
import { decimal } from "../shared/words.js";

const GATES = ["input", "forget", "output"];
const GROUPS = ["singular", "plural", "control"];
const REACH = 3;

/**
 * Controls that clamp the chosen unit. `view` stores their settings: `throughout`, and the `value` for the cell state.
 * `point(unit, step)` selects the unit; `hold(hold)`, `release(index)` and `releaseAll()` are called by the buttons.
 */
export function holdPanel({ holds, names, view, disabled, hold, release, releaseAll }) {
  const title = el("h4");
  const from = el("span");
  let now;
  const start = () => (view.throughout ? 0 : now.step);
  const ask = (point, value, at) => hold({ point, layer: now.unit.layer, unit: now.unit.unit, value, start: at });
  const gates = GATES.map((gate) => el("div", { class: "bar gate" }, el("span", {}, `${gate} gate`),
    ...[["closed", 0], ["open", 1]].map(([how, value]) => el("button", { type: "button", disabled,
      "data-at": `${gate}-${how}`, "aria-label": `clamp the ${gate} gate ${how}`,
      on: { click: () => ask(gate, value, start()) } }, `${how} (${value})`))));
  const throughout = checkbox({ title: "throughout", checked: view.throughout, "data-at": "throughout", disabled },
    (on) => {
      view.throughout = on;
      follow();
    });
  const write = el("button", { type: "button", disabled, "data-at": "write",
    on: { click: () => ask("memory", view.value, now.step) } });
  const range = { low: -REACH, high: REACH, step: 0.25 };
  const amount = slider({ title: "cell state", ...range, value: view.value, disabled }, (value) => {
    view.value = value;
    follow();
  });
  amount.input.dataset.at = "amount";
  const follow = () => {
    title.textContent = `Clamp layer ${now.unit.layer}, unit ${now.unit.unit}`;
    from.textContent = view.throughout ? "throughout the text" : `from “${names[now.step]}” on`;
    write.textContent = `set to ${decimal(view.value)} after “${names[now.step]}”`;
  };
  const list = holds.map((held, i) => el("li", {}, el("span", {}, holdText(held, names)),
    el("button", { type: "button", class: "preset", disabled, "data-at": `release-${i}`,
      "aria-label": `release ${holdText(held, names)}`, on: { click: () => release(i) } }, "release")));
  const node = el("div", { class: "hold" }, title,
    el("div", { class: "bar quiet" }, from, throughout.node), ...gates,
    el("div", { class: "bar write" }, amount.node, write),
    el("p", { class: "note" }, holds.length ? "Clamped now (dashed in the map):"
      : "Nothing is clamped. Choose a unit and a word, then clamp a gate or set the cell state."),
    ...(holds.length ? [el("ul", { class: "held" }, ...list)] : []),
    ...(holds.length > 1 ? [el("button", { type: "button", class: "preset", disabled, "data-at": "release-all",
      on: { click: releaseAll } }, "release all")] : []));
  return { node, point: (unit, step) => {
    now = { unit, step };
    follow();
  } };
}

/** A probability as a width on a bar. */
const wide = (p) => `${(100 * p).toFixed(2)}%`;

/** A line of bars: before and, with holds, after; a mark for the exact probability in the world. */
function bars(name, [before, after, world], held, role = "") {
  const tick = !world ? [] : [el("u", { class: "world", style: `left:${wide(world)}` })];
  const amount = held ? `${chance(before)} → ${chance(after)}` : chance(before);
  const label = `${name}: ${held ? `${chance(before)} before, ${chance(after)} after` : chance(before)}` +
    (world === null ? "" : `, in the world ${chance(world)}`);
  return el("div", { class: `next ${role}`, role: "img", "aria-label": label }, el("bdi", { class: "token" }, name),
    el("span", { class: "lines" }, ...(held ? [el("i", { class: "before", style: `width:${wide(before)}` })] : []),
      el("i", { class: "after", style: `width:${wide(after)}` }), ...tick),
    el("span", { class: "amount" }, amount),
    el("span", { class: "amount exact" }, world === null ? "–" : chance(world)));
}

/** The next-word distribution at a position, by group and by word. */
export function nextPanel({ next, name, held, switcher }) {
  const known = next.rows.some(([, , , world]) => world !== null);
  const key = (role, text) => el("span", {}, el("i", { class: role }), text);
  return el("div", { class: "nexts" }, el("h4", {}, `The next word, after “${name}”`), switcher,
    el("p", { class: "said", role: "status", "aria-live": "polite" }, nextSaid(next, name, held)),
    el("p", { class: "keys" }, ...(held ? [key("before", "before"), key("after", "after clamping")]
      : [key("after", "the model")]), ...(known ? [key("world", "exact probability in the world")] : [])),
    el("div", { class: "next head" }, el("span", {}, "by group"), el("span", {}),
      el("span", { class: "amount" }, held ? "before → after" : "model"),
      el("span", { class: "amount exact" }, "world")),
    ...GROUPS.map((group) => bars(groupTitle(group), next.groups[group], held, "group")),
    el("div", { class: "next head" }, el("span", {}, held ? "largest changes" : "most probable")),
    ...next.rows.map(([word, ...shares]) => bars(word, shares, held)));
}
