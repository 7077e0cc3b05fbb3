// The text as a strip of blocks: one cell per block in reading order, in rows, coloured by the judge's score.

import { blockSaid, marksOf } from "./messages.js";
import { el } from "../shared/dom.js";
import { ramp, scaleBar, sequential, shaded } from "../shared/heat.js";
import { number } from "../shared/words.js";

// px; the width of a cell is LEAST and PER_TOKEN for each token
const LEAST = 18;
const PER_TOKEN = 2;
const SAME = 44;
const GAP = 4;

/** The width of each cell in px: by its number of tokens, or the same for all. */
export const widthsOf = (blocks, uniform) =>
  blocks.map(({ tokens }) => (uniform ? SAME : LEAST + PER_TOKEN * tokens.length));

/** The cells in rows of at most `room` px: [[{ n, left, width }]]. */
export function rowsOf(widths, room) {
  const rows = [[]];
  let left = 0;
  widths.forEach((width, n) => {
    if (left && left + width > room) {
      rows.push([]);
      left = 0;
    }
    rows.at(-1).push({ n, left, width });
    left += width + GAP;
  });
  return rows;
}

/** The block that a key moves to from block `at`: the next, or the nearest in the row above or below; null for any
    other key. */
export function blockAfter(key, rows, at) {
  const all = rows.flat();
  const along = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 }[key];
  if (along !== undefined) return Math.min(Math.max(along, 0), all.length - 1);
  const by = { ArrowUp: -1, ArrowDown: 1 }[key];
  if (!by) return null;
  const row = rows.findIndex((cells) => cells.some(({ n }) => n === at));
  const middle = ({ left, width }) => left + width / 2;
  const from = middle(all[at]);
  return (rows[row + by] ?? [all[at]]).reduce((best, cell) =>
    (Math.abs(middle(cell) - from) < Math.abs(middle(best) - from) ? cell : best)).n;
}

const COLOURS = ramp(sequential());
/** The strip at a step. `at` is the selected block; `select(n)` is called when a block gets the focus, `point(n)` when
    the pointer is on it, and `point(null)` when the pointer leaves. */
export function stripOf({ state, step, needed, uniform, room, at, select, point }) {
  const now = state.steps[step];
  const rows = rowsOf(widthsOf(state.blocks, uniform), room);
  const cells = rows.flat().map(({ n, width }) => {
    const score = now.scores[n];
    const { paper, ink } = score === null ? {} : shaded(score, COLOURS);
    const kinds = { memory: now.memory.includes(n), idle: score === null, excluded: state.excluded.includes(n) };
    return el("button", {
      type: "button", class: ["cell", ...Object.keys(kinds).filter((kind) => kinds[kind])].join(" "),
      "data-at": `block ${n}`, "data-block": n, tabindex: n === at ? "0" : "-1", "aria-pressed": String(n === at),
      "aria-label": blockSaid(state, step, n, needed),
      style: `width:${width}px;${paper ? `background:${paper};color:${ink}` : ""}`,
      on: { focus: () => select(n), click: (event) => event.currentTarget.focus({ preventScroll: true }),
        pointerenter: () => point(n), pointerleave: () => point(null) },
    }, el("span", { class: "place" }, number(n + 1)),
    el("span", { class: "signs" }, marksOf(state, step, n, needed).map(([sign]) => sign).join("")),
    el("span", { class: "score" }, kinds.memory && score !== null ? score.toFixed(2) : ""));
  });
  const node = el("div", { class: "strip", role: "group",
    "aria-label": "the blocks of the text: move with the arrow keys, hold with h, exclude with x, free with f" },
  ...rows.map((row) => el("div", { class: "line" }, ...row.map(({ n }) => cells[n]))));
  node.addEventListener("keydown", (event) => {
    const to = blockAfter(event.key, rows, Number(event.target.dataset.block));
    if (to === null) return;
    cells[to].focus({ preventScroll: true });
    cells[to].scrollIntoView({ block: "nearest" });
    event.preventDefault();
    event.stopPropagation();
  });
  const mark = (selected) => cells.forEach((cell, n) => {
    cell.tabIndex = n === selected ? 0 : -1;
    cell.setAttribute("aria-pressed", String(n === selected));
  });
  return { node, mark };
}

/** The legend. */
export function legendOf(needed) {
  const sign = (mark, text) => el("li", {}, el("b", {}, mark), text);
  return el("div", { class: "keys" }, scaleBar(sequential(), ["0", "0.5", "1"], "relevance score by the judge"),
    el("ul", { class: "legend signs-of" },
      el("li", {}, el("span", { class: "swatch outlined" }), "● in the memory"), sign("+", "entered in this step"),
      sign("−", "decayed in this step"), el("li", {}, el("span", { class: "swatch idle" }), "not scored in this step"),
      sign("■", "held"), sign("×", "excluded"), sign("✎", "rewritten"), sign("✓", "contains the predicted answer"),
      ...(needed ? [sign("★", "needed for the answer")] : [])));
}
