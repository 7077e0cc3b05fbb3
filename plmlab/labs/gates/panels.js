// What stands beneath the map of the Gate Lab: how a unit is held, what is held, and the words that come next.

import { groupTitle, holdText, nextSaid } from "./told.js";
import { checkbox, slider } from "../shared/controls.js";
import { el } from "../shared/dom.js";
import { chance } from "../shared/softmax.js";
import { decimal } from "../shared/words.js";

const GATES = ["input", "forget", "output"];
const GROUPS = ["singular", "plural", "control"];
const REACH = 3;

/**
 * How the chosen unit is held. `view` keeps what its controls are set to: `throughout`, and the `value` to write.
 * `point(unit, step)` says whose they are; `hold(hold)`, `release(index)` and `releaseAll()` ask for it.
 */
export function holdPanel({ holds, names, view, disabled, hold, release, releaseAll }) {
  const title = el("h4");
  const from = el("span");
  let now;
  const start = () => (view.throughout ? 0 : now.step);
  const ask = (point, value, at) => hold({ point, layer: now.unit.layer, unit: now.unit.unit, value, start: at });
  const gates = GATES.map((gate) => el("div", { class: "bar gate" }, el("span", {}, `${gate} gate`),
    ...[["shut", 0], ["open", 1]].map(([how, value]) => el("button", { type: "button", disabled,
      "data-at": `${gate}-${how}`, "aria-label": `hold the ${gate} gate ${how}`,
      on: { click: () => ask(gate, value, start()) } }, `${how} (${value})`))));
  const throughout = checkbox({ title: "throughout", checked: view.throughout, "data-at": "throughout", disabled },
    (on) => {
      view.throughout = on;
      follow();
    });
  const write = el("button", { type: "button", disabled, "data-at": "write",
    on: { click: () => ask("memory", view.value, now.step) } });
  const range = { low: -REACH, high: REACH, step: 0.25 };
  const amount = slider({ title: "memory", ...range, value: view.value, disabled }, (value) => {
    view.value = value;
    follow();
  });
  amount.input.dataset.at = "amount";
  const follow = () => {
    title.textContent = `Hold layer ${now.unit.layer}, unit ${now.unit.unit}`;
    from.textContent = view.throughout ? "throughout the text" : `from “${names[now.step]}” on`;
    write.textContent = `write ${decimal(view.value)} after “${names[now.step]}”`;
  };
  const list = holds.map((one, i) => el("li", {}, el("span", {}, holdText(one, names)),
    el("button", { type: "button", class: "preset", disabled, "data-at": `release-${i}`,
      "aria-label": `release ${holdText(one, names)}`, on: { click: () => release(i) } }, "release")));
  const node = el("div", { class: "hold" }, title,
    el("div", { class: "bar quiet" }, from, throughout.node), ...gates,
    el("div", { class: "bar write" }, amount.node, write),
    el("p", { class: "note" }, holds.length ? "Held now (dashed in the map):"
      : "Nothing is held. Choose a unit and a word in the map, then hold a gate or write a memory."),
    ...(holds.length ? [el("ul", { class: "held" }, ...list)] : []),
    ...(holds.length > 1 ? [el("button", { type: "button", class: "preset", disabled, "data-at": "release-all",
      on: { click: releaseAll } }, "release all")] : []));
  return { node, point: (unit, step) => {
    now = { unit, step };
    follow();
  } };
}

/** The place of a share on a bar. */
const wide = (p) => `${(100 * p).toFixed(2)}%`;

/** A line of bars: before, and where something is held, after; a mark for the world's share. */
function bars(name, [before, after, world], held, role = "") {
  const tick = !world ? [] : [el("u", { class: "world", style: `left:${wide(world)}` })];
  const amount = held ? `${chance(before)} → ${chance(after)}` : chance(before);
  const said = `${name}: ${held ?}`${chance(before)} before, ${chance(after)} now` : chance(before)}` +
    (world === null ? "" : `, in the world ${chance(world)}`);
  return el("div", { class: `next ${role}`, role: "img", "aria-label": said }, el("bdi", { class: "token" }, name),
    el("span", { class: "lines" }, ...(held ? [el("i", { class: "before", style: `width:${wide(before)}` })] : []),
      el("i", { class: "after", style: `width:${wide(after)}` }), ...tick),
    el("span", { class: "amount" }, amount),
    el("span", { class: "amount exact" }, world === null ? "–" : chance(world)));
}

/** The next word after a step, in its groups and word by word. */
export function nextPanel({ next, name, held, switcher }) {
  const known = next.rows.some(([, , , world]) => world !== null);
  const key = (role, text) => el("span", {}, el("i", { class: role }), text);
  return el("div", { class: "nexts" }, el("h4", {}, `The next word, after “${name}”`), switcher,
    el("p", { class: "said", role: "status", "aria-live": "polite" }, nextSaid(next, name, held)),
    el("p", { class: "keys" }, ...(held ? [key("before", "before"), key("after", "with what is held")]
      : [key("after", "the model")]), ...(known ? [key("world", "the world’s exact share")] : [])),
    el("div", { class: "next head" }, el("span", {}, "all together"), el("span", {}),
      el("span", { class: "amount" }, held ? "before → now" : "model"), el("span", { class: "amount exact" }, "world")),
    ...GROUPS.map((group) => bars(groupTitle(group), next.groups[group], held, "group")),
    el("div", { class: "next head" }, el("span", {}, held ? "what moves most" : "likeliest")),
    ...next.rows.map(([word, ...shares]) => bars(word, shares, held)));
}
