// Where things lie: the mosaic's rectangles in shares of its sides, the bands below it, arrows, and points of the map.

import { clamp } from "../shared/dom.js";

/** A column for each document, as wide as its p(z|x): [{ x, width }], in shares of the whole. */
export function columnsOf(documents) {
  let x = 0;
  return documents.map(({ prior }) => {
    const column = { x, width: prior };
    x += prior;
    return column;
  });
}

/** The rectangles of the answers in a column, from below: [{ y, height }], in shares of its height, `y` from above. */
export function cellsOf({ likelihoods }) {
  let told = 0;
  return likelihoods.map((height) => {
    told += height;
    return { y: 1 - told, height };
  });
}

/** The area of each answer in all columns: p(y|x). */
export const areasOf = (documents) => documents[0].likelihoods.map((_, answer) =>
  documents.reduce((sum, one) => sum + one.prior * one.likelihoods[answer], 0));

/** The bands that lead from columns to heads of equal widths, as paths in a field of `width` × `height`. */
export function bandsOf(columns, width, height) {
  const each = width / columns.length;
  const at = (value) => Number(value.toFixed(2));
  return columns.map(({ x, width: wide }, i) => {
    const [left, right, from, to] = [x * width, (x + wide) * width, i * each + 3, (i + 1) * each - 3].map(at);
    return `M${left} 0H${right}C${right} ${height / 2} ${to} ${height / 2} ${to} ${height}H${from}` +
      `C${from} ${height / 2} ${left} ${height / 2} ${left} 0Z`;
  });
}

export const REACH = 36; // px, the longest arrow
const SCALES = [0.1, 0.25, 0.5, 1];
const [LEAST, TIP] = [1.2, 7];

/** The r of an arrow of full length, the same for all documents: the least round number that none exceeds. */
export const scaleOf = (pulls) => SCALES.find((full) => pulls.every((r) => Math.abs(r) <= full)) ?? 1;

/** The path of an arrow r about a line at `middle`, as long as `REACH` where r is `full`: up where the score is raised;
    nothing where r is hardly other than 0. */
export function arrowOf(r, full, x, middle) {
  const far = clamp(r / full, -1, 1) * REACH;
  if (Math.abs(far) < LEAST) return "";
  const sign = Math.sign(far);
  const tip = Math.min(TIP, Math.abs(far));
  const [end, neck] = [middle - far, middle - far + sign * tip].map((value) => Number(value.toFixed(2)));
  return `M${x - 3} ${middle}V${neck}H${x - 7}L${x} ${end}L${x + 7} ${neck}H${x + 3}V${middle}Z`;
}

/** From points of the plane to px, one scale for both directions; what lies outside the box is put on the rim. */
export function lensOf([left, right, low, high], width, height, room = 16) {
  const scale = Math.min((width - 2 * room) / (right - left || 1), (height - 2 * room) / (high - low || 1));
  return ([x, y]) => ({
    x: clamp(width / 2 + (x - (left + right) / 2) * scale, 5, width - 5),
    y: clamp(height / 2 - (y - (low + high) / 2) * scale, 5, height - 5),
  });
}

const BESIDE = [[6, -5], [6, 13], [-14, -5], [-14, 13], [10, 4], [-18, 4]];

/** Where the letters of points stand: for each the place beside it that is freest of other letters and marks. */
export function lettersAt(points, marks) {
  const taken = [...marks, ...points].map(({ x, y }) => [x - 4, y + 4]);
  return points.map(({ x, y }) => {
    const places = BESIDE.map(([right, down]) => [x + right, y + down]);
    const room = ([px, py]) => Math.min(...taken.map(([tx, ty]) => Math.hypot(px - tx, py - ty)));
    const best = places.find((place) => room(place) >= 11) ?? places.sort((one, other) => room(other) - room(one))[0];
    taken.push(best);
    return { x: best[0], y: best[1] };
  });
}

/** The point nearest to a place, of [{ number, x, y }]; null where none is as near as `within` px. */
export function nearest(points, x, y, within = 18) {
  let [found, least] = [null, within ** 2];
  for (const point of points) {
    const far = (point.x - x) ** 2 + (point.y - y) ** 2;
    if (far < least) [found, least] = [point, far];
  }
  return found;
}

/** Where a key leads in a list: one on, one back, the first, the last; null if nowhere. */
export function along(key, place, count) {
  const to = { ArrowDown: place + 1, ArrowRight: place + 1, ArrowUp: place - 1, ArrowLeft: place - 1,
    Home: 0, End: count - 1 }[key];
  return to === undefined ? null : clamp(to, 0, count - 1);
}
