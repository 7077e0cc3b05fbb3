// The Gate Lab: an LSTM on a sentence, unit by unit; clamped gates and cell states, and the next-word prediction.

import { mapOf } from "./map.js";
import { holdPanel, nextPanel } from "./panels.js";
import { DRAWN, SORTS, cellSaid, finding, holdsWith, scored, yardsticks } from "./messages.js";
import { bytesOf } from "../shared/bytes.js";
import { following, presetBar, radioGroup, select, textField } from "../shared/controls.js";
import { clamp, eachFrame, el, keepingFocus, resized } from "../shared/dom.js";
import { guess, lab, observe, setter, tell, written } from "../shared/lab.js";

const POINTS = Object.keys(DRAWN);
const ASKED = { end: "at the end of the text", step: "after the chosen word" };
const TRIES = { hold: "close its forget gate", write: "flip singular/plural" };
const SIDE_BY_SIDE = 760;

/** The values of the units: `at(point, place, step)`; `was(place, step)`, the cell state without holds; `range(place)`,
    the range of the cell state without holds. */
export function readings(state) {
  const numbers = Object.fromEntries(POINTS.map((point) => [point, new Float32Array(bytesOf(state.values[point]))]));
  const before = state.before && new Float32Array(bytesOf(state.before));
  const count = state.tokens.length;
  return {
    at: (point, place, step) => numbers[point][place * count + step],
    was: (place, step) => (before ? before[place * count + step] : undefined),
    range: (place) => {
      const memory = (before ?? numbers.memory).subarray(place * count, (place + 1) * count);
      return Math.max(...memory) - Math.min(...memory);
    },
  };
}

const askedSwitch = (value, choose) => radioGroup({ label: "where the next word is predicted", value,
  options: Object.entries(ASKED).map(([asked, title]) => [asked, title, { "data-at": `asked-${asked}` }]) },
(asked) => choose({ asked })).node;

export default lab({
  title: "What does an LSTM store in its cell state?",
  lead: "Each unit has a cell state and three gates. Which unit tracks what? Clamp one, and see what depends on it.",
}, ({ model, signal, parts }) => {
  parts.node.classList.add("gates");
  const get = (name) => model.get(name);
  const { presets, layers, labels } = get("menu");
  const disabled = Boolean(get("alone"));
  const choose = setter(model);
  const hold = (holds) => tell(model, { holds });
  const view = { throughout: false, value: 3, open: null };
  const layerTitles = [[-1, "all"], ...Array.from({ length: layers }, (_, i) => [i, String(i)])];
  const menu = (trait, label, options, chosen) =>
    following(model, trait, select({ label, lead: label, options }, chosen), signal);
  parts.controls.prepend(
    el("div", { class: "bar" }, textField(model, "the text", signal)),
    presetBar(model, presets),
    el("div", { class: "bar quiet choices" },
      menu("sort", "sorted by", Object.entries(SORTS), (sort) => choose({ sort, unit: [] })),
      menu("layer", "layer", layerTitles, (layer) => choose({ layer, unit: [] })),
      menu("drawn", "drawn", Object.entries(DRAWN), (drawn) => choose({ drawn }))));

  let now = null;
  const chosen = () => {
    const [layer, unit] = get("unit");
    const row = now.rows.findIndex((drawn) => drawn.layer === layer && drawn.unit === unit);
    return { row: Math.max(row, 0), step: clamp(get("step"), 0, now.state.tokens.length - 1) };
  };
  const explanation = ({ row, step }) => {
    const place = now.places[row];
    const unit = now.rows[row];
    const at = Object.fromEntries(POINTS.map((point) => [point, now.read.at(point, place, step)]));
    at.before = step ? now.read.at("memory", place, step - 1) : 0;
    at.was = now.read.was(place, step);
    const holds = get("holds").filter((held) => held.layer === unit.layer && held.unit === unit.unit);
    return cellSaid({ unit, step, name: now.state.names[step], drawn: get("drawn"), at, holds });
  };
  const explain = (cell) => now.why.replaceChildren(...written(explanation(cell)));
  const asks = () => (get("asked") === "step" ? chosen().step : now.state.tokens.length - 1);
  const nextDrawn = () => {
    const step = asks();
    return nextPanel({ next: now.state.next[step], name: now.state.names[step], held: now.state.held,
      switcher: askedSwitch(get("asked"), choose) });
  };
  const renew = (redraw) => keepingFocus(parts.body, redraw, () => parts.body.querySelector(".hold [data-at]"));
  const point = () => {
    const cell = chosen();
    explain(cell);
    now.map.point(cell, now.why.textContent);
    now.panel.point(now.rows[cell.row], cell.step);
    if (now.asked !== asks()) {
      renew(() => {
        const panel = nextDrawn();
        now.next.replaceWith(panel);
        now.next = panel;
      });
      now.asked = asks();
    }
  };
  const question = ({ question: prompt, answer, ...tries }) => {
    const buttons = Object.entries(TRIES).map(([name, title]) => el("button", { type: "button", class: "preset",
      disabled, "data-at": `try-${name}`, on: { click: () => hold([tries[name]]) } }, title));
    return guess(view, prompt, [answer, el("span", { class: "tries" }, ...buttons)]);
  };
  const draw = () => {
    const state = get("state");
    if (!state.tokens) return;
    const [sort, room] = [get("sort"), parts.body.clientWidth];
    const places = state.orders[sort][get("layer")];
    const rows = places.map((place) => state.units[place]);
    const read = now?.state === state ? now.read : readings(state);
    const ranges = places.map(read.range);
    const why = el("p", { class: "why", role: "status", "aria-live": "polite" });
    now = { state, places, rows, read, why };
    now.map = mapOf({ state, rows, sort, drawn: get("drawn"), ranges, holds: get("holds"), room, page: parts.node,
      value: (row, step) => read.at(get("drawn"), places[row], step),
      onHover: (cell) => explain(cell ?? chosen()),
      onCell: ({ row, step }) => choose({ ...(row === null ? {} : { unit: [rows[row].layer, rows[row].unit] }),
        ...(step === null ? {} : { step }) }) });
    now.panel = holdPanel({ holds: get("holds"), names: state.names, view, disabled,
      hold: (added) => hold(holdsWith(get("holds"), added)),
      release: (i) => hold(get("holds").filter((_, k) => k !== i)), releaseAll: () => hold([]) });
    now.asked = asks();
    now.next = nextDrawn();
    const beside = sort === "moving" ? [] : [scoreboard(sort, labels)];
    renew(() => parts.body.replaceChildren(
      el("h4", { class: "finding" }, finding(sort, labels)), ...beside, why, now.map.node,
      el("div", { class: room >= SIDE_BY_SIDE ? "below" : "below stacked" },
        el("div", {}, now.panel.node, ...(state.guess ? [question(state.guess)] : [])), now.next)));
    point();
  };
  observe(model, ["state", "sort", "layer", "drawn"], eachFrame(draw), signal);
  observe(model, ["unit", "step", "asked"], eachFrame(() => now && point()), signal);
  resized(parts.body, draw, signal);
  draw();
});

/** The four figures of a label, and a note about them. */
function scoreboard(sort, labels) {
  const { rows, note } = yardsticks(sort, labels);
  return el("div", { class: "scores" },
    el("dl", { class: "numbers" }, ...rows.map(([what, figure]) =>
      el("div", {}, el("dt", {}, what), el("dd", {}, scored(figure))))), el("p", { class: "note" }, note));
}
