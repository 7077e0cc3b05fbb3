// The attention masks of the content stream and the query stream, side by side.

import { clamp, el, ruler } from "../shared/dom.js";
import { labelled, layout, tableRow } from "../shared/grid.js";
import { written } from "../shared/lab.js";
import { layersOf, sentence } from "../shared/masks.js";

const BESIDE = 760;
const GAP = 28;
const VERBS = ["can attend to", "cannot attend to"];
const TITLES = [
  ["content stream", "represents zₜ for later steps: attends to z₁ … zₜ, itself included"],
  ["query stream", "predicts zₜ: attends to z₁ … zₜ₋₁, not to itself"],
];
const OPENED = "predicts zₜ; with the switch on it attends to z₁ … zₜ, itself included: the leak";

/** The positions of a mask's rows and columns, in the order of the sentence or of the factorization; only words have a
    query. */
export function positionsOf(state, stream, byOrder) {
  const count = state.steps.length;
  const special = [count, count + 1];
  const words = byOrder ? state.order : state.order.map((_, position) => position);
  const all = byOrder ? [...special, ...words] : [...words, ...special];
  return { rows: stream ? words : all, columns: all };
}

/** The causes of the cells of the given rows and columns, row by row. */
export const causesOf = (mask, rows, columns, count) => rows.flatMap((q) => columns.map((k) => mask.rule_ids[q * count + k]));

/** Whether and why a query can attend to a key in one stream, as parts of a sentence; null if there is no query. */
export function reason(state, stream, { q, k }) {
  const count = state.names.length;
  if (stream && q >= state.steps.length) return null;
  const mask = state.masks[stream];
  return sentence(mask, mask.rule_ids[q * count + k], state.names, { q, k }, VERBS);
}

/** Both reasons, each under the name of its stream. */
function reasons(state, stream, pair) {
  return [0, 1].map((each) => {
    const parts = reason(state, each, pair);
    return el("p", { class: each === stream ? "pointed" : "" }, el("b", {}, TITLES[each][0]), ": ",
      ...(parts ? written(parts) : [`${state.names[pair.q]} is not predicted, so it has no query.`]));
  });
}

/**
 * The two masks. `font` is a node whose font they use. `onRow(position)` is called when a row is clicked.
 * `point(pair, stream)` moves both crosshairs to a pair of positions { q, k } and highlights one stream's sentence.
 */
export function squares({ state, byOrder, room, font, onRow }) {
  const count = state.names.length;
  const beside = room >= BESIDE;
  const wide = beside ? (room - GAP) / 2 : room;
  const measure = ruler(font, "600 13px");
  const why = el("div", { class: "why", role: "status", "aria-live": "polite" });
  let now = null;

  const point = (pair, stream = 1) => {
    now = { pair, stream };
    grids.forEach(({ rows, columns, grid }, each) => {
      const [q, k] = [rows.indexOf(pair.q), columns.indexOf(pair.k)];
      grid.table.classList.toggle("elsewhere", q < 0);
      if (q < 0) return;
      grid.point({ q, k }, `${TITLES[each][0]}: ${reason(state, each, pair).map(({ text }) => text).join("")}`);
    });
    why.replaceChildren(...reasons(state, stream, pair));
  };
  const square = (stream) => {
    const { rows, columns } = positionsOf(state, stream, byOrder);
    const label = clamp(Math.ceil(Math.max(...state.tokens.map(measure))) + 14, 62, 120);
    const at = layout(columns.map((position) => measure(state.tokens[position])), label, wide - 10, 0, rows.length);
    const tall = at.turned ? "tall" : "";
    const number = (position) => String(state.order.indexOf(position) + 1 || "–");
    const cell = (position) => el("div", { class: "number" }, number(position));
    const chip = (position) => el("div", { class: `chip${position >= state.steps.length ? " special" : ""}`, title: state.names[position] },
      el("bdi", {}, state.tokens[position]));
    const grid = labelled({
      at, head: [tableRow("step t", columns.map(cell)), tableRow("", columns.map(chip), `reads ${tall}`)],
      queries: rows.map((position) => state.tokens[position]), label: `${TITLES[stream][0]}: attention mask`,
      onCell: ({ q, k }) => point({ q: rows[q], k: columns[k] }, stream), onAct: ({ q }) => onRow(rows[q]),
    });
    grid.table.querySelector(".cross").dataset.at = `cross-${stream}`;
    grid.paint(layersOf(causesOf(state.masks[stream], rows, columns, count), columns.length));
    const [title, explanation] = TITLES[stream];
    const figure = el("figure", { class: "square", "aria-label": title },
      el("figcaption", {}, el("b", {}, title), ` ${stream && state.leak ? OPENED : explanation}`),
      el("div", { class: "scroll" }, grid.table));
    return { rows, columns, grid, figure };
  };
  const grids = [square(0), square(1)];
  const node = el("div", {}, why,
    el("div", { class: `squares${beside ? "" : " stacked"}` }, ...grids.map(({ figure }) => figure)));
  return { node, point, at: () => now };
}
