// The map of the Gradient Lab: the effect of a perturbation at step s (column) on step t (row); one column as a line.

import { framed, halves, lineKey, sideIn } from "./figure.js";
import { CELLS } from "./maths.js";
import { dropped, pushed, verdict } from "./messages.js";
import { el, svg } from "../shared/dom.js";
import { diverging, heatMap, pixels, ramp, rgb } from "../shared/heat.js";
import { guess } from "../shared/lab.js";
import { lineThrough, plot } from "../shared/plot.js";
import { powerOfTen } from "../shared/words.js";

const [LOW, HIGH] = [-6, 2];
const PLOT_HEIGHT = 200;
const OF_RADIUS = ["The spectral radius of U is exactly 1. Does the gradient of the tanh RNN survive?",
  "No. The derivative of tanh is below 1 wherever the state is not 0, so every step shrinks the perturbation. " +
  "Only zero inputs keep the states at 0 and the derivative at 1. The perturbation then first loses its components " +
  "outside the leading eigenvectors, and after that it neither vanishes nor explodes. Try both."];
const OF_GATES = ["The bias is set to 0. Are the gates alone enough to preserve a perturbation?",
  "No. With a bias of 0 each gate is near one half, and a perturbation shrinks at every step, as in an RNN. " +
  "With a bias of 3 the gates are near 0.95: they are open, and far more of a perturbation is preserved."];

const mixed = (one, other, part) =>
  `#${rgb(one).map((from, i) => Math.round(from + part * (rgb(other)[i] - from)).toString(16).padStart(2, "0")).join("")}`;

/** Nine colour stops, one per power of ten from 10⁻⁶ to 10²: minus, its half at 10⁻², zero at 1, plus, its half at 10. */
export function sizeStops([minus, minusSoft, zero, plusSoft, plus]) {
  const quarters = [0, 1 / 4, 1 / 2, 3 / 4].map((part) => mixed(minus, minusSoft, part));
  return [...quarters, minusSoft, mixed(minusSoft, zero, 1 / 2), zero, plusSoft, plus];
}

/** The colours of all cells; those above the diagonal (t < s) stay transparent. */
export function coloured(sizes, steps, colours) {
  const bytes = pixels(steps * steps, (i) => Math.log10(sizes[i]), LOW, HIGH, colours);
  for (let t = 0; t < steps; t++) for (let s = t + 1; s < steps; s++) bytes[4 * (t * steps + s) + 3] = 0;
  return bytes;
}

/** The colour key, on which 1 is marked. */
function sizeKey(stops) {
  const marks = [[-6, `≤ ${powerOfTen(-6)}`], [-4, powerOfTen(-4)], [-2, powerOfTen(-2)], [0, "1: unchanged"],
    [2, "≥ 100"]];
  const at = (power) => `left:${(100 * (power - LOW)) / (HIGH - LOW)}%`;
  return el("div", { class: "scale-bar sizes" }, el("span", {}, "size of the perturbation (fixed scale)"),
    el("i", { style: `background:linear-gradient(90deg, ${stops.join(", ")})`, "aria-hidden": "true" }),
    el("b", { style: at(0), "aria-hidden": "true" }),
    el("span", { class: "marks" }, ...marks.map(([power, text]) => el("span", { style: at(power) }, text))));
}

/** A description of the measure. */
function measured({ cell, push, width, input_size: size }) {
  const directions = width <= 8 ? "all unit directions" : "8 random orthonormal directions";
  const what = !CELLS[cell].memory ? "the hidden state h" : push === "memory"
    ? "the cell state c, with the hidden state h of that step fixed; the map shows the change of later cell states"
    : "the hidden state h, with the cell state c of that step fixed; the map shows the change of later hidden states";
  const edge = cell === "irnn" && size === 0
    ? " With zero inputs every unit is exactly 0, where the derivative of ReLU is taken as 0, as in PyTorch." : "";
  return `The perturbation is applied to ${what}. Each cell of the map is the root mean square over ${directions}.${edge}`;
}

/** One column: the size of a perturbation at step s over the following steps, in bold up to t. */
function columnPlot(sizes, steps, { s, t, width }) {
  const logs = Array.from(sizes, (size) => Math.log10(size));
  return plot({ width, height: PLOT_HEIGHT, x: { low: 0, high: steps - 1, title: "step" },
    y: { low: LOW - 0.4, high: HIGH + 0.4, title: "log₁₀ of its size" },
    label: `the size of a perturbation at step ${s} over the following steps` }, (at) => {
    const upTo = (end) => lineThrough(logs.slice(s, end + 1), (i) => at.x(s + i), at.y, LOW - 0.4, HIGH + 0.4);
    const dot = t < s ? [] : [svg("circle", { class: "here", r: 4.5, cx: at.x(t),
      cy: at.y(Math.max(LOW - 0.4, Math.min(HIGH + 0.4, logs[t]))) })];
    return [svg("path", { class: "line rest", d: upTo(steps - 1) }),
      ...(t > s ? [svg("path", { class: "line", d: upTo(t) })] : []), ...dot];
  });
}

/** The map, its column plot and its text. `show(sizes, settings)` draws new sizes, `point(s, t)` selects a cell;
    `choose` sets the traits `pushed` and `moved`. */
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
    label: "size of a perturbation: one row per affected step, one column per perturbed step",
    onCell: ({ row, column: s }) => choose({ pushed: s, moved: row }) });
  const axis = { first: 0, last: steps - 1, cells: steps };
  const never = el("span", { class: "never", style: `width:${0.42 * side}px` },
    "A later step cannot affect an earlier one.");
  let now;
  const point = (s, t) => {
    const down = Float64Array.from({ length: steps }, (_, row) => now.sizes[row * steps + s]);
    const effect = pushed(down[t], s, t, { push: now.push, memory: CELLS[now.cell].memory });
    why.replaceChildren(el("b", {}, effect), " ", dropped(down, s, t));
    map.point({ row: t, column: s }, why.textContent);
    columnTitle.textContent = `A perturbation at step ${s}, step by step`;
    keys.replaceChildren(...(t > s ? [lineKey("", `up to step ${t}`)] : []),
      ...(t < steps - 1 ? [lineKey("rest", "after that")] : []));
    column.replaceChildren(columnPlot(down, steps, { s, t, width: beside ? room - side - 92 : room }));
  };
  const show = (sizes, settings) => {
    now = { sizes, ...settings };
    map.paint(coloured(sizes, steps, colours));
    title.textContent = verdict(sizes[(steps - 1) * steps], steps);
    note.textContent = measured(settings);
    ask.replaceChildren(guess(view, ...(CELLS[settings.cell].gates > 1 ? OF_GATES : OF_RADIUS)));
  };
  const figure = framed({ map, side, over: [never], x: { ...axis, title: "s: perturbed step" },
    y: { ...axis, title: "t: affected step ↓" } });
  const node = halves(room, [title, figure, sizeKey(stops), note],
    [why, columnTitle, column, keys, ask]);
  return { node, show, point };
}
