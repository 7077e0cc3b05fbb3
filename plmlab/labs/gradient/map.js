// The map of the Gradient Lab: row t, column s, how far a push at step s moves step t; and one column as a line.

import { framed, halves, lineKey, sideIn } from "./figure.js";
import { CELLS } from "./maths.js";
import { dropped, pushed, verdict } from "./told.js";
import { el, svg } from "../shared/dom.js";
import { diverging, heatMap, pixels, ramp, rgb } from "../shared/heat.js";
import { guess } from "../shared/lab.js";
import { lineThrough, plot } from "../shared/plot.js";
import { powerOfTen } from "../shared/words.js";

const [LOW, HIGH] = [-6, 2];
const PLOT_HEIGHT = 200;
const OF_RADIUS = ["The spectral radius of U is exactly 1. Does the RNN with tanh keep its gradient?",
  "No. The slope of tanh is below 1 wherever a state is not 0, so every step takes something away. Only " +
  "inputs of size 0 keep the states at 0 and the slope at 1. Then a push loses at first what does not lie along the " +
  "largest eigenvalues, and after that it neither vanishes nor explodes. Try both."];
const OF_GATES = ["The bias is set to 0. Do the gates alone make the cell keep a push?",
  "No. With a bias of 0 each gate stands near one half, and what it keeps shrinks from step to step, as in an RNN. With " +
  "a bias of 3 the gates stand near 0.95: they are open, and far more of a push is carried."];

const mixed = (one, other, part) =>
  `#${rgb(one).map((from, i) => Math.round(from + part * (rgb(other)[i] - from)).toString(16).padStart(2, "0")).join("")}`;

/** Nine stops, one a power of ten from 10⁻⁶ to 10²: minus, its half at 10⁻², zero at 1, plus, its half at 10. */
export function sizeStops([minus, minusSoft, zero, plusSoft, plus]) {
  const quarters = [0, 1 / 4, 1 / 2, 3 / 4].map((part) => mixed(minus, minusSoft, part));
  return [...quarters, minusSoft, mixed(minusSoft, zero, 1 / 2), zero, plusSoft, plus];
}

/** The colours of all cells; those above the diagonal, which nothing can reach, stay clear. */
export function coloured(sizes, steps, colours) {
  const bytes = pixels(steps * steps, (i) => Math.log10(sizes[i]), LOW, HIGH, colours);
  for (let t = 0; t < steps; t++) for (let s = t + 1; s < steps; s++) bytes[4 * (t * steps + s) + 3] = 0;
  return bytes;
}

/** The key of the colours, on which 1 is marked. */
function sizeKey(stops) {
  const marks = [[-6, `≤ ${powerOfTen(-6)}`], [-4, powerOfTen(-4)], [-2, powerOfTen(-2)], [0, "1: as it was"],
    [2, "≥ 100"]];
  const at = (power) => `left:${(100 * (power - LOW)) / (HIGH - LOW)}%`;
  return el("div", { class: "scale-bar sizes" }, el("span", {}, "size of the push, on a scale that never changes"),
    el("i", { style: `background:linear-gradient(90deg, ${stops.join(", ")})`, "aria-hidden": "true" }),
    el("b", { style: at(0), "aria-hidden": "true" }),
    el("span", { class: "marks" }, ...marks.map(([power, text]) => el("span", { style: at(power) }, text))));
}

/** What was measured, in words. */
function measured({ cell, push, width, input_size: size }) {
  const pushes = width <= 8 ? "all pushes of length 1" : "8 random pushes of length 1";
  const what = !CELLS[cell].memory ? "the state h" : push === "memory"
    ? "the memory c, while the state h of that step is held; how far the later memory moves"
    : "the state h, while the memory c of that step is held; how far the later state moves";
  const edge = cell === "irnn" && size === 0
    ? " With inputs of size 0 every unit stands at exactly 0, where the slope of ReLU is taken as 0, as in PyTorch." : "";
  return `Pushed is ${what}. A cell is the root mean square over ${pushes}.${edge}`;
}

/** One column: the size of a push at step s from s on, up to t in bold. */
function columnPlot(sizes, steps, { s, t, width }) {
  const logs = Array.from(sizes, (size) => Math.log10(size));
  return plot({ width, height: PLOT_HEIGHT, x: { low: 0, high: steps - 1, title: "step" },
    y: { low: LOW - 0.4, high: HIGH + 0.4, title: "size of the push, as a power of ten" },
    label: `the size of a push at step ${s}, from there on` }, (at) => {
    const upTo = (end) => lineThrough(logs.slice(s, end + 1), (i) => at.x(s + i), at.y, LOW - 0.4, HIGH + 0.4);
    const dot = t < s ? [] : [svg("circle", { class: "here", r: 4.5, cx: at.x(t),
      cy: at.y(Math.max(LOW - 0.4, Math.min(HIGH + 0.4, logs[t]))) })];
    return [svg("path", { class: "line rest", d: upTo(steps - 1) }),
      ...(t > s ? [svg("path", { class: "line", d: upTo(t) })] : []), ...dot];
  });
}

/** The map, its column and its words. `show(sizes, settings)` draws anew what was computed anew, `point(s, t)` what the
    pointer is on; `choose` sets the traits `pushed` and `moved`. */
export function mapView({ steps, room, node: page, choose, view }) {
  const stops = sizeStops(diverging(page));
  const colours = ramp(stops);
  const beside = room >= 760;
  const side = sideIn(beside ? room / 2 : room);
  const [title, columnTitle] = [el("h4", { class: "finding" }), el("h4", { class: "finding" })];
  const why = el("p", { class: "why", role: "status", "aria-live": "polite" });
  const [column, ask, note] = [el("div"), el("div"), el("p", { class: "note" })];
  const keys = el("p", { class: "keys" });
  const map = heatMap({ rows: steps, columns: steps, width: side, height: side,
    label: "how far a push moves: a row a step that is moved, a column a step that is pushed",
    onCell: ({ row, column: s }) => choose({ pushed: s, moved: row }) });
  const axis = { first: 0, last: steps - 1, cells: steps };
  const never = el("span", { class: "never", style: `width:${0.42 * side}px` },
    "A later step cannot move an earlier one.");
  let now;
  const point = (s, t) => {
    const down = Float64Array.from({ length: steps }, (_, row) => now.sizes[row * steps + s]);
    const said = pushed(down[t], s, t, { push: now.push, memory: CELLS[now.cell].memory });
    why.replaceChildren(el("b", {}, said), " ", dropped(down, s, t));
    map.point({ row: t, column: s }, why.textContent);
    columnTitle.textContent = `The column of step ${s}: its push on the way`;
    keys.replaceChildren(...(t > s ? [lineKey("", `up to step ${t}`)] : []), ...(t < steps - 1 ? [lineKey("rest", "after that")] : []));
    column.replaceChildren(columnPlot(down, steps, { s, t, width: beside ? room - side - 92 : room }));
  };
  const show = (sizes, settings) => {
    now = { sizes, ...settings };
    map.paint(coloured(sizes, steps, colours));
    title.textContent = verdict(sizes[(steps - 1) * steps], steps);
    note.textContent = measured(settings);
    ask.replaceChildren(guess(view, ...(CELLS[settings.cell].gates > 1 ? OF_GATES : OF_RADIUS)));
  };
  const figure = framed({ map, side, over: [never], x: { ...axis, title: "s: the step that is pushed" },
    y: { ...axis, title: "t: the step that is moved ↓" } });
  const node = halves(room, [title, figure, sizeKey(stops), note],
    [why, columnTitle, column, keys, ask]);
  return { node, show, point };
}
