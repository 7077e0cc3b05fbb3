// Drawing helpers for both views of the Gradient Lab: axes around a heat map, and legend entries.

import { el, svg } from "../shared/dom.js";
import { linear, roundNumbers } from "../shared/plot.js";
import { short } from "../shared/words.js";

const MARGIN = { left: 46, right: 14, top: 22, bottom: 36 };

/** Maps a value on an axis to px; `first` and `last` are the values of the outermost of `cells` cells. */
export const scale = ({ first, last, cells }, size) => linear(first, last, size / cells / 2, size - size / cells / 2);

/** Side length of a square map that fits into a width, axes included. */
export const sideIn = (room) => Math.max(160, Math.min(400, room - MARGIN.left - MARGIN.right));

/** A square heat map with axes, and the elements `over` on top. `x` and `y` are { first, last, cells, title }. */
export function framed({ map, side, x, y, over = [] }) {
  const numbers = ({ first, last, cells }) =>
    roundNumbers(Math.min(first, last), Math.max(first, last), Math.min(6, cells - 1));
  const [toX, toY] = [scale(x, side), scale(y, side)];
  const [width, height] = [MARGIN.left + side + MARGIN.right, MARGIN.top + side + MARGIN.bottom];
  Object.assign(map.node.style, { left: `${MARGIN.left}px`, top: `${MARGIN.top}px` });
  map.node.append(...over);
  const axes = svg("svg", { class: "plot-of", width, height, "aria-hidden": "true" },
    ...numbers(x).map((value) => svg("text", { x: MARGIN.left + toX(value), y: MARGIN.top + side + 15,
      "text-anchor": "middle" }, short(value))),
    ...numbers(y).map((value) => svg("text", { x: MARGIN.left - 7, y: MARGIN.top + toY(value) + 4,
      "text-anchor": "end" }, short(value))),
    svg("text", { x: 2, y: 12 }, y.title),
    svg("text", { x: MARGIN.left + side / 2, y: height - 5, "text-anchor": "middle" }, x.title));
  return el("div", { class: "map-figure", style: `width:${width}px` }, axes, map.node);
}

/** A legend entry for a line. */
export const lineKey = (name, text) =>
  el("span", { class: "line-key" }, el("i", { class: name, "aria-hidden": "true" }), text);

/** A map beside its text, or above it where there is little room. */
export const halves = (room, figure, side) =>
  el("div", { class: `halves${room < 760 ? " stacked" : ""}` }, el("div", {}, ...figure), el("div", {}, ...side));
