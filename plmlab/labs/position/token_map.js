// A square heat map with the tokens of a sentence on two sides.

import { clamp, el, svg } from "../shared/dom.js";
import { heatMap } from "../shared/heat.js";

const EDGE = 8;
const BOLD = 1.15; // how much wider bold type runs
const [TITLE, TOLD] = [20, 26]; // the heights of what may stand above the tokens

/** Whether a label is written where each `every`th has room; the marked one always is, those beside it give way. */
export const isWritten = (i, every, marked) => i === marked || (i % every === 0 && Math.abs(i - marked) >= every);

/** As much of a text as is `room` px wide, the rest an ellipsis. */
export function trimmed(text, room, measure) {
  if (measure(text) <= room) return text;
  const letters = [...text];
  while (letters.length && measure(`${letters.join("")}…`) > room) letters.pop();
  return `${letters.join("")}…`;
}

/** A square of cells, row a query and column a key, with the tokens on its sides; above it, where there are any, a
    title and `told`, a number for each column. `head` is the height of its labels, `at` how cells and labels stand.
    `mark(cell)` marks the labels of a cell. */
export function tokenMap({ tokens, at, label, measure, head, withRows, name, onCell, title = "", told = [] }) {
  const count = tokens.length;
  const size = at.cell * count;
  const left = withRows ? label : EDGE;
  const top = (title ? TITLE : 0) + head;
  const map = heatMap({ rows: count, columns: count, width: size, height: size, onCell, label: name });
  Object.assign(map.node.style, { left: `${left}px`, top: `${top}px` });
  const middle = (i) => (i + 0.5) * at.cell;
  const rows = !withRows ? [] : tokens.map((token, i) =>
    svg("text", { x: left - 7, y: top + middle(i) + 4, "text-anchor": "end" }, trimmed(token, label - 12, measure)));
  const keys = tokens.map((token, i) =>
    svg("text", { transform: `translate(${left + middle(i) + 4} ${top - 6}) rotate(-90)` },
      trimmed(token, head - (told.length ? TOLD : EDGE), measure)));
  const numbers = told.map((position, i) =>
    svg("text", { x: left + middle(i), y: 32, "text-anchor": "middle" }, String(position)));
  const wide = Math.max(size, measure(title) * BOLD);
  const drawing = svg("svg", { class: "plot-of", width: left + wide + EDGE, height: top + size + EDGE,
    "aria-hidden": "true", style: `font-size:${clamp(at.cell, 10, 12)}px` },
  svg("text", { class: "map-title", x: left, y: 12 }, title),
  ...numbers, ...keys, ...rows);
  const follow = (labels, every, marked, role) => labels.forEach((text, i) => {
    text.classList.toggle(role, i === marked);
    text.style.visibility = isWritten(i, every, marked) ? "" : "hidden";
  });
  const mark = ({ row, column }) => {
    follow(rows, at.tokens, row, "is-query");
    follow(keys, at.tokens, column, "is-key");
    follow(numbers, at.positions, column, "is-key");
  };
  return { map, mark, node: el("div", { class: "map-figure" }, drawing, map.node) };
}
