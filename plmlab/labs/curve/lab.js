// A live training curve: loss against step, the floor dashed, the current numbers above it.

import { clamp, eachFrame, el, resized, svg } from "../shared/dom.js";
import { lab, observe } from "../shared/lab.js";
import { number } from "../shared/words.js";

const MARGIN = { left: 46, right: 24, top: 24, bottom: 36 };
const HEIGHT = 262;
const MOST_TICKS = 12;

function decades(low, high, steps) {
  const marks = [];
  for (let decade = 10 ** Math.floor(Math.log10(low)); decade <= high; decade *= 10) {
    for (const step of steps) marks.push(Number((step * decade).toPrecision(2)));
  }
  return marks.filter((value) => value >= low && value <= high);
}

/** About `about` round numbers between two values; on a logarithmic axis, as many per decade as fit. */
export function ticks(low, high, about = 5, logarithmic = false) {
  if (logarithmic) {
    for (const steps of [[1, 1.5, 2, 3, 4, 5, 7], [1, 2, 5], [1]]) {
      const inside = decades(low, high, steps);
      if (inside.length <= MOST_TICKS || steps.length === 1) return inside.length >= 3 ? inside : ticks(low, high, about);
    }
  }
  const rough = (high - low) / about || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const size = power * [1, 2, 5, 10].find((m) => m * power >= rough);
  const marks = [];
  for (let i = Math.ceil(low / size); i * size <= high + size * 1e-9; i++) {
    marks.push(Number((i * size).toPrecision(12)));
  }
  return marks;
}

/** The range of losses to draw, the floor included, and whether the axis is logarithmic; null without values. */
export function range(state) {
  const values = [...state.training, ...state.validation].map(([, loss]) => loss);
  if (state.floor !== null) values.push(state.floor);
  if (!values.length) return null;
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (least > 0 && most / least > 1.6) return { low: least / 1.06, high: most * 1.04, logarithmic: true };
  const air = (most - least) * 0.08 || Math.abs(most) * 0.05 || 0.5;
  return { low: least - air, high: most + air, logarithmic: false };
}

/** Maps a value to a coordinate in px. */
export function scale(low, high, from, to, logarithmic = false) {
  const f = logarithmic ? Math.log : (v) => v;
  return (value) => from + ((f(value) - f(low)) / (f(high) - f(low) || 1)) * (to - from);
}

export const pathOf = (points, x, y) =>
  points.map(([step, loss], i) => `${i ? "L" : "M"}${x(step).toFixed(1)} ${y(loss).toFixed(1)}`).join("");

const fixed = (value) => (value === null ? "–" : value.toFixed(3));

/** How far a loss is above the floor, or below it: [name, value]. */
const gap = (above) =>
  [Number(above.toFixed(3)) < 0 ? "below the floor by" : "above it", fixed(Math.abs(above))];

/** The current numbers, [[name, value], …]. */
export function numbers(state) {
  const step = state.steps ? `${state.step} of ${state.steps}` : String(state.step);
  const rows = [["step", step], ["training", fixed(state.loss)]];
  if (state.validation.length) rows.push(["held-out", fixed(state.held_out)]);
  if (state.floor !== null) {
    rows.push([state.floor_name, fixed(state.floor)]);
    const best = state.held_out ?? state.training.at(-1)?.[1] ?? null;
    if (best !== null) rows.push(gap(best - state.floor));
  }
  return rows;
}

/** Evenly spaced points for a table of at most `most` rows, the last point included. */
export function sampled(points, most = 12) {
  const every = Math.ceil(points.length / most) || 1;
  return points.filter((_, i) => (points.length - 1 - i) % every === 0);
}

function plot(state, width, cursor) {
  const limits = range(state);
  const { low, high, logarithmic } = limits ?? { low: 0, high: 1, logarithmic: false };
  const end = Math.max(state.steps ?? 0, state.step, 1);
  const x = scale(0, end, MARGIN.left, width - MARGIN.right);
  const y = scale(low, high, HEIGHT - MARGIN.bottom, MARGIN.top, logarithmic);
  const right = width - MARGIN.right;
  const bottom = HEIGHT - MARGIN.bottom;
  const parts = [];
  for (const value of limits ? ticks(low, high, 5, logarithmic) : []) {
    parts.push(svg("path", { class: "rule", d: `M${MARGIN.left} ${y(value)}H${right}` }),
      svg("text", { x: MARGIN.left - 8, y: y(value) + 4, "text-anchor": "end" }, String(value)));
  }
  for (const value of ticks(0, end, clamp(width / 110, 2, 8))) {
    parts.push(svg("text", { x: x(value), y: bottom + 16, "text-anchor": "middle" }, number(value)));
  }
  parts.push(svg("text", { x: (MARGIN.left + right) / 2, y: HEIGHT - 3, "text-anchor": "middle" }, "step"),
    svg("text", { x: 0, y: 11 }, `loss, ${state.unit}${logarithmic ? " (log scale)" : ""}`),
    svg("path", { class: "rule", d: `M${MARGIN.left} ${bottom}H${right}` }));
  if (state.floor !== null) {
    parts.push(svg("path", { class: "floor", d: `M${MARGIN.left} ${y(state.floor)}H${right}` }));
  }
  parts.push(svg("path", { class: "training", d: pathOf(state.training, x, y) }),
    svg("path", { class: "held-out", d: pathOf(state.validation, x, y) }),
    ...state.validation.map(([step, loss]) =>
      svg("circle", { class: "held-out", cx: x(step), cy: y(loss), r: 3.2 })));
  if (state.floor !== null) {
    parts.push(svg("text", { class: "floor-name", x: MARGIN.left + 6, y: y(state.floor) - 7 },
      `${state.floor_name} ${fixed(state.floor)}`));
  }
  const at = state.training[cursor];
  if (at) {
    parts.push(svg("path", { class: "cursor", d: `M${x(at[0])} ${MARGIN.top}V${bottom}` }),
      svg("circle", { class: "cursor", cx: x(at[0]), cy: y(at[1]), r: 4 }));
  }
  return { parts, x };
}

/** The last held-out loss at or before a step, or null. */
export const heldOutAt = (validation, step) => validation.findLast(([measured]) => measured <= step)?.[1] ?? null;

function begin({ model, signal, parts }) {
  const view = { cursor: null, x: null };
  const now = el("dl", { class: "numbers" });
  const bar = el("progress", { "aria-label": "progress" });
  const canvas = svg("svg", { height: HEIGHT, "aria-hidden": "true" });
  const box = el("div",
    { class: "plot", role: "slider", tabindex: "0", "aria-label": "training curve, step by step" }, canvas);
  const read = el("p", { class: "read" });
  const rows = el("tbody");
  const heads = el("tr", {}, ...["step", "training", "held-out"].map((t) => el("th", { scope: "col" }, t)));
  const table = el("details", { class: "table-of" }, el("summary", {}, "The numbers as a table"),
    el("table", {}, el("thead", {}, heads), rows));
  parts.body.replaceChildren(now, bar, box, read, table);

  const key = (name, text) =>
    el("span", { class: "line-key" }, el("i", { class: name, "aria-hidden": "true" }), text);
  const caption = (state) => {
    const at = state.training[view.cursor];
    if (at) {
      const held = heldOutAt(state.validation, at[0]);
      const also = held === null ? "" : `, held-out ${fixed(held)}`;
      return [`step ${at[0]}: training ${fixed(at[1])}${also} ${state.unit}`];
    }
    const mean = state.together > 1 ? ` (each point the mean of ${state.together} steps)` : "";
    return [key("training", `training${mean}`),
      ...(state.validation.length ? [key("held-out", "held-out")] : []),
      el("span", { role: "status" }, state.note)];
  };
  const draw = () => {
    const state = model.get("state");
    const width = Math.max(parts.body.clientWidth, 240);
    const drawn = plot(state, width, view.cursor);
    view.x = drawn.x;
    canvas.setAttribute("width", width);
    canvas.replaceChildren(...drawn.parts);
    now.replaceChildren(...numbers(state).map(([name, value]) =>
      el("div", {}, el("dt", {}, name), el("dd", {}, value))));
    bar.hidden = !state.steps || state.done;
    if (state.steps) [bar.max, bar.value] = [state.steps, state.step];
    read.replaceChildren(...caption(state));
    const at = state.training[view.cursor ?? state.training.length - 1];
    for (const [name, value] of [["min", 0], ["max", Math.max(state.training.length - 1, 0)],
      ["now", view.cursor ?? Math.max(state.training.length - 1, 0)],
      ["text", at ? `step ${at[0]}, training loss ${fixed(at[1])} ${state.unit}` : "no values yet"]]) {
      box.setAttribute(`aria-value${name}`, value);
    }
    if (table.open) {
      const cells = (texts) => texts.map((text) => el("td", {}, text));
      rows.replaceChildren(...sampled(state.training).map(([step, loss]) =>
        el("tr", {}, ...cells([String(step), fixed(loss), fixed(heldOutAt(state.validation, step))]))));
    }
  };
  const soon = eachFrame(draw);
  const go = (cursor) => {
    view.cursor = cursor;
    soon();
  };
  box.addEventListener("pointermove", (event) => {
    const { training } = model.get("state");
    const px = event.clientX - canvas.getBoundingClientRect().left;
    const gaps = training.map(([step]) => Math.abs(view.x(step) - px));
    if (gaps.length) go(gaps.indexOf(Math.min(...gaps)));
  });
  box.addEventListener("pointerleave", () => go(null));
  box.addEventListener("blur", () => go(null));
  box.addEventListener("keydown", (event) => {
    const last = model.get("state").training.length - 1;
    const from = view.cursor ?? last;
    const to = {
      ArrowLeft: from - 1, ArrowRight: from + 1, PageUp: from + 10, PageDown: from - 10, Home: 0, End: last,
      Escape: null,
    }[event.key];
    if (to === undefined || last < 0) return;
    event.preventDefault();
    event.stopPropagation();
    go(to === null ? null : clamp(to, 0, last));
  });
  table.addEventListener("toggle", draw);
  observe(model, ["state"], soon, signal);
  resized(parts.body, draw, signal);
  draw();
}

export default {
  render: (shown) => lab({ title: shown.model.get("state").title, lead: "" }, begin).render(shown),
};
