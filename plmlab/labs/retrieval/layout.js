// Layout: the mosaic's rectangles as fractions of its sides, the bands below it, arrows, and points of the map.

import { clamp } from "../shared/dom.js";

/** One column per document, as wide as its p(z|x): [{ x, width }], as fractions of the whole. */
export function columnsOf(documents) {
  let x = 0;
  return documents.map(({ prior }) => {
    const column = { x, width: prior };
    x += prior;
    return column;
  });
}

/** The rectangles of the answers in a column, from the bottom: [{ y, height }], as fractions of its height, `y` from
    the top. */
export function cellsOf({ likelihoods }) {
  let filled = 0;
  return likelihoods.map((height) => {
    filled += height;
    return { y: 1 - filled, height };
  });
}

/** The bands that connect the columns with heads of equal widths, as paths in a field of `width` × `height`. */
export function bandsOf(columns, width, height) {
  const each = width / columns.length;
  const at = (value) => Number(value.toFixed(2));
  return columns.map(({ x, width: wide }, i) => {
    const [left, right, from, to] = [x * width, (x + wide) * width, i * each + 3, (i + 1) * each - 3].map(at);
    return `M${left} 0H${right}C${right} ${height / 2} ${to} ${height / 2} ${to} ${height}H${from}` +
      `C${from} ${height / 2} ${left} ${height / 2} ${left} 0Z`;
  });
}

export const REACH = 36; // px: length of the longest arrow
const SCALES = [0.1, 0.25, 0.5, 1];
const [LEAST, TIP] = [1.2, 7];

/** The value r of an arrow of full length, common to all documents: the smallest round number that none exceeds. */
export const scaleOf = (pulls) => SCALES.find((full) => pulls.every((r) => Math.abs(r) <= full)) ?? 1;

/** The path of an arrow for r from a line at `middle`, of length `REACH` for r = `full`: upwards if the gradient raises
    the score; empty if r is close to 0. */
export function arrowOf(r, full, x, middle) {
  const far = clamp(r / full, -1, 1) * REACH;
  if (Math.abs(far) < LEAST) return "";
  const sign = Math.sign(far);
  const tip = Math.min(TIP, Math.abs(far));
  const [end, neck] = [middle - far, middle - far + sign * tip].map((value) => Number(value.toFixed(2)));
  return `M${x - 3} ${middle}V${neck}H${x - 7}L${x} ${end}L${x + 7} ${neck}H${x + 3}V${middle}Z`;
}

/** The map from the plane to px, with one scale for both directions; points outside the box are put on the border. */
export function lensOf([left, right, low, high], width, height, room = 16) {
  const scale = Math.min((width - 2 * room) / (right - left || 1), (height - 2 * room) / (high - low || 1));
  return ([x, y]) => ({
    x: clamp(width / 2 + (x - (left + right) / 2) * scale, 5, width - 5),
    y: clamp(height / 2 - (y - (low + high) / 2) * scale, 5, height - 5),
  });
}

const BESIDE = [[6, -5], [6, 13], [-14, -5], [-14, 13], [10, 4], [-18, 4]];

/** The positions of the points' letters: the adjacent place that is farthest from other letters and marks. */
export function lettersAt(points, marks) {
  const taken = [...marks, ...points].map(({ x, y }) => [x - 4, y + 4]);
  return points.map(({ x, y }) => {
    const places = BESIDE.map(([right, down]) => [x + right, y + down]);
    const room = ([px, py]) => Math.min(...taken.map(([tx, ty]) => Math.hypot(px - tx, py - ty)));
    const best = places.find((place) => room(place) >= 11) ?? places.sort((a, b) => room(b) - room(a))[0];
    taken.push(best);
    return { x: best[0], y: best[1] };
  });
}

/** The point of [{ number, x, y }] nearest to a place; null if none is within `within` px. */
export function nearest(points, x, y, within = 18) {
  let [best, least] = [null, within ** 2];
  for (const point of points) {
    const far = (point.x - x) ** 2 + (point.y - y) ** 2;
    if (far < least) [best, least] = [point, far];
  }
  return best;
}

/** The index that a keyboard key moves to in a list: next, previous, first, last; null for any other key. */
export function along(key, place, count) {
  const to = { ArrowDown: place + 1, ArrowRight: place + 1, ArrowUp: place - 1, ArrowLeft: place - 1,
    Home: 0, End: count - 1 }[key];
  return to === undefined ? null : clamp(to, 0, count - 1);
}
