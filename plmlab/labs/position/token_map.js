// A square heat map with the tokens of a sentence along two sides.

import { clamp, el, svg } from "../shared/dom.js";
import { heatMap } from "../shared/heat.js";

const EDGE = 8;
const BOLD = 1.15; // width of bold type relative to regular
const [TITLE, TOLD] = [20, 26]; // px: heights of the title and of the row of numbers above the tokens

/** Whether label `i` is written if only every `every`th fits; the marked label always is, and hides its neighbours. */
export const isWritten = (i, every, marked) => i === marked || (i % every === 0 && Math.abs(i - marked) >= every);

/** A text truncated to `room` px, with an ellipsis. */
export function trimmed(text, room, measure) {
  if (measure(text) <= room) return text;
  const characters = [...text];
  while (characters.length && measure(`${characters.join("")}…`) > room) characters.pop();
  return `${characters.join("")}…`;
}

/** A square heat map, one row per query and one column per key, with the tokens along its sides; above it optionally a
    title and `told`, a number for each column. `head` is the height of the labels, `at` the layout of cells and labels.
    `mark(cell)` highlights the labels of a cell. */
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
    follow(numbers, at.position_ids, column, "is-key");
  };
  return { map, mark, node: el("div", { class: "map-figure" }, drawing, map.node) };
}
