// Lines against axes with units.

import { clamp, svg } from "./dom.js";
import { short } from "./words.js";

const MARGIN = { left: 46, right: 12, top: 22, bottom: 34 };

/** Round numbers from `low` to `high`, about as many as asked for: steps of 1, 2 or 5 times a power of ten. */
export function roundNumbers(low, high, about) {
  const rough = (high - low) / Math.max(about, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const size = power * [1, 2, 5, 10].find((m) => m * power >= rough * 0.999);
  const first = Math.ceil(low / size - 1e-9);
  const count = Math.floor(high / size + 1e-9) - first + 1;
  return Array.from({ length: count }, (_, i) => Number(((first + i) * size).toPrecision(12)));
}

/** From a value to a place in px. */
export const linear = (low, high, from, to) => (value) => from + ((value - low) / (high - low || 1)) * (to - from);

/** A number on an axis: from ten thousand on in thousands. */
export const tick = (value) => (Math.abs(value) >= 10_000 ? `${short(value / 1000)}k` : short(value));

/** The path of a line through values that stand at 0, 1, 2, …; it keeps inside `low` and `high`. */
export function lineThrough(values, x, y, low, high) {
  let path = "";
  for (let i = 0; i < values.length; i++) {
    path += `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(clamp(values[i], low, high)).toFixed(1)}`;
  }
  return path;
}

/** The path round what lies between two lines. */
export function between(least, most, x, y, low, high) {
  const back = Array.from(most, (_, i) => most.length - 1 - i)
    .map((i) => `L${x(i).toFixed(1)} ${y(clamp(most[i], low, high)).toFixed(1)}`);
  return `${lineThrough(least, x, y, low, high)}${back.join("")}z`;
}

const yNumbers = ({ low, high }, tall) => roundNumbers(low, high, tall / 26);

/** Where a plot's field lies in px, and its two scales. `x` and `y` are { low, high, title }. Long numbers on the axis
    take more room. */
export function field({ width, height, x, y }) {
  const [right, top, bottom] = [width - MARGIN.right, MARGIN.top, height - MARGIN.bottom];
  const left = Math.max(MARGIN.left, ...yNumbers(y, bottom - top).map((value) => 9 + 7 * tick(value).length));
  return { left, right, top, bottom, x: linear(x.low, x.high, left, right), y: linear(y.low, y.high, bottom, top) };
}

/** A plot: axes with round numbers and titles, and between them what `marks` draws on the field. */
export function plot({ width, height, x, y, label }, marks) {
  const at = field({ width, height, x, y });
  const parts = yNumbers(y, at.bottom - at.top).flatMap((value) => [
    svg("path", { class: value === 0 ? "zero" : "rule", d: `M${at.left} ${at.y(value)}H${at.right}` }),
    svg("text", { x: at.left - 7, y: at.y(value) + 4, "text-anchor": "end" }, tick(value)),
  ]);
  const numbers = roundNumbers(x.low, x.high, (at.right - at.left) / 62).map((value) =>
    svg("text", { x: at.x(value), y: at.bottom + 15, "text-anchor": "middle" }, short(value)));
  return svg("svg", { class: "plot-of", width, height, role: "img", "aria-label": label }, ...parts, ...numbers,
    svg("text", { x: 2, y: 12 }, y.title),
    svg("text", { x: (at.left + at.right) / 2, y: height - 4, "text-anchor": "middle" }, x.title),
    ...marks(at));
}
