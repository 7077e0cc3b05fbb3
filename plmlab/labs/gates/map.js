// The map of the Gate Lab: one row per unit, one column per position; words above, scores left, gold labels below.

import { DRAWN, scored } from "./messages.js";
import { clamp, el, ruler } from "../shared/dom.js";
import { diverging, heatMap, pixels, ramp, scaleBar, sequential } from "../shared/heat.js";
import { decimal } from "../shared/words.js";

const LABEL = 168;
const ROW = 22;
const [NARROW, DENSE, WIDE] = [12, 20, 110];
const ENDS = [2, 3, 5, 10, 20, 50];
const WITHIN = 0.7;
const NUMBERS = { sg: "singular", pl: "plural" };

/** The ends of the colour scale: 0 to 1 for gates, −1 to 1 for candidates. For cell states, the first of ±2, ±3, … that
    covers 70 % of them, because a few units count, and would make all others pale. */
export function scaleOf(drawn, values) {
  if (drawn === "candidate") return { low: -1, high: 1, marks: ["−1", "0", "1"] };
  if (drawn !== "memory") return { low: 0, high: 1, marks: ["0 closed", "½", "1 open"] };
  const covered = (end) => values.filter((value) => Math.abs(value) <= end).length >= WITHIN * values.length;
  const end = ENDS.find(covered) ?? ENDS.at(-1);
  return { low: -end, high: end, marks: [`−${end} or less`, "0", `${end} or more`] };
}

/** Runs of equal labels, [{ from, to, label }]; none where the label is null or false. */
export function stretches(labels) {
  const runs = [];
  labels.forEach((label, step) => {
    const last = runs.at(-1);
    if (last && last.to === step && last.label === label) last.to = step + 1;
    else if (label !== null && label !== false) runs.push({ from: step, to: step + 1, label });
  });
  return runs;
}

/** The score of a unit, as shown at its row. */
export function scoreText({ scores }, sort, range) {
  if (sort === "moving") return decimal(range);
  const [score, rises] = scores[sort];
  return `${scored(score)} ${rises ? "↑" : "↓"}`;
}

const spans = (labels, pitch, name, text) => stretches(labels).map(({ from, to, label }) => el("span", {
  class: `stretch ${name(label)}`, title: text(label),
  style: `left:${from * pitch}px;width:${(to - from) * pitch - 2}px` }, text(label)));

/** The gold labels below the map, one line each. */
function track(gold, pitch, count) {
  const line = (name, ...inside) => [el("span", { class: "name" }, name),
    el("div", { class: "track", style: `width:${count * pitch}px` }, ...inside)];
  if (!gold) {
    return el("p", { class: "no-gold" }, "No sentence of the world starts with this text, so it has no gold labels.");
  }
  const left = gold.left
    ? gold.left.map((words, step) => el("span", { class: "count", style: `left:${step * pitch}px;width:${pitch}px` },
      pitch >= 18 || step % 3 === 0 ? String(words) : ""))
    : [el("span", { class: "unfinished" }, "known only for a finished sentence")];
  const guessed = gold.left ? [] : [el("p", { class: "no-gold" }, "The text begins a sentence; the labels " +
    `are those of its most probable completion, “${gold.said}”.`)];
  return el("div", { class: "gold", role: "group", "aria-label": "gold labels" },
    ...line("subject’s number", ...spans(gold.number, pitch, (label) => label, (label) => NUMBERS[label])),
    ...line("inside a name", ...spans(gold.inside, pitch, () => "inside", () => "name")),
    ...line("words remaining", ...left), ...guessed);
}

/**
 * The figure. `rows` are the units drawn, `value(row, step)` their values; `onCell` is called when the reader moves by
 * click or key, `onHover` with the cell under the pointer or null; `point({ row, step }, label)` moves the crosshair.
 */
export function mapOf({ state, rows, sort, drawn, value, ranges, holds, room, page, onCell, onHover }) {
  const count = state.tokens.length;
  const pitch = clamp(Math.floor((room - LABEL - 10) / count), NARROW, WIDE);
  const measure = ruler(page, "12.5px");
  const turned = state.tokens.some((token) => measure(token) > pitch - 8);
  const [width, height] = [count * pitch, rows.length * ROW];
  const map = heatMap({ rows: rows.length, columns: count, width, height,
    label: `${DRAWN[drawn]}: one row per unit, one column per position`,
    onCell: ({ row, column }) => onCell({ row, step: column }) });
  const values = Array.from({ length: rows.length * count }, (_, i) => value(Math.floor(i / count), i % count));
  const { low, high, marks } = scaleOf(drawn, values);
  const stops = low < 0 ? diverging(page) : sequential();
  map.paint(pixels(values.length, (i) => values[i], low, high, ramp(stops)));
  for (const hold of holds) {
    const row = rows.findIndex(({ layer, unit }) => layer === hold.layer && unit === hold.unit);
    if (row < 0 || hold.start >= count) continue;
    const wide = hold.point === "memory" ? pitch : width - hold.start * pitch;
    map.node.append(el("i", { class: "held-cells", "aria-hidden": "true",
      style: `left:${hold.start * pitch}px;top:${row * ROW}px;width:${wide}px;height:${ROW}px` }));
  }
  const chips = state.tokens.map((token, step) => el("bdi", { class: "chip", title: turned ? token : null,
    style: `width:${pitch - 2}px`, on: { click: () => onCell({ row: null, step }) } }, token));
  const names = rows.map((unit, row) => el("div", { class: "unit",
    style: `height:${ROW}px`, on: { click: () => onCell({ row, step: null }) } },
  el("span", {}, `${unit.layer} · ${unit.unit}`), el("b", {}, scoreText(unit, sort, ranges[row]))));
  const under = (event) => {
    const box = map.node.getBoundingClientRect();
    return { row: clamp(Math.floor((event.clientY - box.top) / ROW), 0, rows.length - 1),
      step: clamp(Math.floor((event.clientX - box.left) / pitch), 0, count - 1) };
  };
  const field = el("div", { class: "field", style: `width:${width}px;height:${height}px` }, map.node);
  field.addEventListener("pointermove", (event) => {
    event.stopPropagation();
    onHover(under(event));
  }, { capture: true });
  field.addEventListener("pointerleave", () => onHover(null));
  const point = ({ row, step }, label) => {
    map.point({ row, column: step }, label);
    names.forEach((name, i) => name.classList.toggle("now", i === row));
    chips.forEach((chip, i) => chip.classList.toggle("now", i === step));
  };
  const score = sort === "moving" ? "range" : "score";
  const look = `units-grid${turned ? " turned-words" : ""}${pitch < DENSE ? " dense" : ""}`;
  const node = el("div", { class: "units" }, el("div", { class: "scroll" },
    el("div", { class: look, style: `grid-template-columns:${LABEL}px ${width}px` },
      el("div", { class: "unit head" }, el("span", {}, "layer · unit"), el("b", {}, score)),
      el("div", { class: "words" }, ...chips), el("div", { class: "names" }, ...names), field,
      track(state.gold, pitch, count))),
  scaleBar(stops, marks, DRAWN[drawn]));
  return { node, point };
}
