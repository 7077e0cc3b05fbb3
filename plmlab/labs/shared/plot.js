// Line plots: axes, ticks and paths.

import { clamp, svg } from "./dom.js";
import { short } from "./words.js";

const MARGIN = { left: 46, right: 12, top: 22, bottom: 34 };

/** About `about` round numbers from `low` to `high`, in steps of 1, 2 or 5 times a power of ten. */
export function roundNumbers(low, high, about) {
  const rough = (high - low) / Math.max(about, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const size = power * [1, 2, 5, 10].find((m) => m * power >= rough * 0.999);
  const first = Math.ceil(low / size - 1e-9);
  const count = Math.floor(high / size + 1e-9) - first + 1;
  return Array.from({ length: count }, (_, i) => Number(((first + i) * size).toPrecision(12)));
}

/** A linear scale: maps a value between `low` and `high` to px between `from` and `to`. */
export const linear = (low, high, from, to) => (value) => from + ((value - low) / (high - low || 1)) * (to - from);

/** A tick label: thousands as "k" from ten thousand on. */
export const tick = (value) => (Math.abs(value) >= 10_000 ? `${short(value / 1000)}k` : short(value));

/** The SVG path of a line through values at x = 0, 1, 2, …, clamped to `low` and `high`. */
export function lineThrough(values, x, y, low, high) {
  let path = "";
  for (let i = 0; i < values.length; i++) {
    path += `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(clamp(values[i], low, high)).toFixed(1)}`;
  }
  return path;
}

/** The SVG path of the area between two lines. */
export function between(least, most, x, y, low, high) {
  const back = Array.from(most, (_, i) => most.length - 1 - i)
    .map((i) => `L${x(i).toFixed(1)} ${y(clamp(most[i], low, high)).toFixed(1)}`);
  return `${lineThrough(least, x, y, low, high)}${back.join("")}z`;
}

const yNumbers = ({ low, high }, tall) => roundNumbers(low, high, tall / 26);

/** The plotting area in px and its two scales. `x` and `y` are { low, high, title }. The left margin fits the longest
    tick label. */
export function field({ width, height, x, y }) {
  const [right, top, bottom] = [width - MARGIN.right, MARGIN.top, height - MARGIN.bottom];
  const left = Math.max(MARGIN.left, ...yNumbers(y, bottom - top).map((value) => 9 + 7 * tick(value).length));
  return { left, right, top, bottom, x: linear(x.low, x.high, left, right), y: linear(y.low, y.high, bottom, top) };
}

/** A plot: axes with ticks and titles, and the elements that `marks` returns for the plotting area. */
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
