// The cliff of the Gradient Lab: the loss of one unit over w and b, with two gradient-descent paths from one start.

import { descend, errorAt } from "./descent.js";
import { framed, halves, lineKey, scale, sideIn } from "./figure.js";
import { descended } from "./messages.js";
import { el, svg } from "../shared/dom.js";
import { heatMap, pixels, ramp, scaleBar, sequential } from "../shared/heat.js";
import { guess } from "../shared/lab.js";
import { short } from "../shared/words.js";

const DESCENT = 60;
const HIGHEST = 0.49;
const DRAWN = "One unit without input: x_t = w · σ(x_{t−1}) + b, 50 steps from x_0 = 0.5. Its loss is " +
  "(σ(x_50) − 0.7)² (Pascanu et al. 2013, eq. 8 and fig. 6). Click, or use the arrow keys, to move the start.";
const QUESTION = "Does gradient clipping change the direction of a step?";
const ANSWER = "No. It only rescales a gradient whose norm exceeds τ to norm τ, so the step stays near the point " +
  "where the gradient was computed. On the cliff, the gradient is not informative about the loss far away.";

/** Converts between a cell of the map and a starting point; the sliders' limits are [low, high, step]. */
export function grid({ w: [left, right, step], b: [low, high] }) {
  const columns = Math.round((right - left) / step) + 1;
  const rows = Math.round((high - low) / step) + 1;
  const rounded = (value) => Number(value.toFixed(2));
  return { rows, columns,
    start: ({ row, column }) => ({ w: rounded(left + column * step), b: rounded(high - row * step) }),
    cell: ({ w, b }) => ({ row: Math.round((high - b) / step), column: Math.round((w - left) / step) }) };
}

/** The fraction of the line between two points at which it leaves a square of this side; null if it stays inside. */
export function exit([x, y], [toX, toY], side) {
  const fractions = [[x, toX], [y, toY]].flatMap(([from, to]) =>
    [to < 0 ? from / (from - to) : 1, to > side ? (side - from) / (to - from) : 1]);
  const least = Math.min(...fractions);
  return least < 1 ? least : null;
}

/** A path as SVG: a line on a light rim, one mark per step, and a note where it leaves the figure. */
function drawn(points, name, side, at) {
  const places = points.map(({ w, b }) => [at.x(w), at.y(b)]);
  const d = `M${places.map((place) => place.map((px) => px.toFixed(1)).join(" ")).join("L")}`;
  const mark = ([x, y]) => (name === "plain" ? svg("circle", { class: name, cx: x, cy: y, r: 2.6 })
    : svg("rect", { class: name, x: x - 2, y: y - 2, width: 4, height: 4 }));
  const leaving = places.findIndex((place, i) => i && exit(places[i - 1], place, side) !== null);
  return [svg("path", { class: "rim", d }), svg("path", { class: name, d }), ...places.map(mark),
    ...(leaving > 0 ? [departure(places[leaving - 1], places[leaving], points[leaving], side)] : [])];
}

/** A note at the edge of the figure with the coordinates of a point outside it. */
function departure(from, to, { w, b }, side) {
  const part = exit(from, to, side);
  const [x, y] = [0, 1].map((i) => from[i] + part * (to[i] - from[i]));
  const right = x > side / 2;
  return svg("text", { x: right ? Math.min(x, side) - 18 : Math.max(x, 0) + 18, y: Math.min(Math.max(y + 16, 18), side - 8),
    "text-anchor": right ? "end" : "start" }, `→ w = ${short(w)}, b = ${short(b)}`);
}

/** The surface, both paths and their description. `point(traits)` draws the paths; `choose` sets the start. */
export function cliffView({ limits, room, choose, view }) {
  const { rows, columns, start, cell } = grid(limits);
  const side = sideIn(room >= 760 ? room / 2 : room);
  const why = el("p", { class: "why", role: "status", "aria-live": "polite" });
  const map = heatMap({ rows, columns, width: side, height: side,
    label: "the loss: one row per bias b, one column per weight w; the marked cell is the start",
    onCell: (to) => choose(start(to)) });
  const x = { first: limits.w[0], last: limits.w[1], cells: columns, title: "w: recurrent weight" };
  const y = { first: limits.b[1], last: limits.b[0], cells: rows, title: "b: bias" };
  const at = { x: scale(x, side), y: scale(y, side) };
  const loss = (i) => {
    const { w, b } = start({ row: Math.floor(i / columns), column: i % columns });
    return errorAt(w, b).loss;
  };
  map.paint(pixels(rows * columns, loss, 0, HIGHEST, ramp(sequential())));
  const paths = svg("svg", { class: "paths", width: side, height: side, "aria-hidden": "true" });
  const figure = framed({ map, side, x, y, over: [paths] });
  figure.addEventListener("pointermove", (event) => event.stopPropagation(), { capture: true });
  const point = ({ w, b, rate, clip }) => {
    const [plain, clipped] = [Infinity, clip].map((limit) => descend({ w, b, rate, clip: limit, steps: DESCENT }));
    paths.replaceChildren(...drawn(plain, "plain", side, at), ...drawn(clipped, "clipped", side, at));
    why.textContent = descended(plain, clipped, { clip, rate, frame: limits });
    map.point(cell({ w, b }), `start at w = ${short(w)}, b = ${short(b)}. ${why.textContent}`);
  };
  const keys = el("p", { class: "keys" }, lineKey("plain", "without clipping"), lineKey("clipped", "clipped"));
  const node = halves(room, [el("h4", { class: "finding" }, "On the cliff, the step length grows with the slope"),
    figure, scaleBar(sequential(), ["0", short(HIGHEST / 2, 2), short(HIGHEST, 2)], "loss")],
  [why, keys, el("p", { class: "note" }, DRAWN), guess(view, QUESTION, ANSWER)]);
  return { node, point };
}
