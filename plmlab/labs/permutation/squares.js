// Both streams' masks side by side: what a word that was said knows, and what a word that is to be said may see.

import { clamp, el, ruler } from "../shared/dom.js";
import { labelled, layout, tableRow } from "../shared/grid.js";
import { written } from "../shared/lab.js";
import { layersOf, sentence } from "../shared/masks.js";

const BESIDE = 760;
const GAP = 28;
const VERBS = ["may look at", "may not look at"];
const TITLES = [
  ["content stream", "what a word hands on once it is said: it sees z₁ … zₜ, itself too"],
  ["query stream", "how a word is said: it sees z₁ … zₜ₋₁, and not itself"],
];
const OPENED = "how a word is said; with the switch on it sees z₁ … zₜ, itself too: the leak";

/** The positions of a mask's rows and columns, as they stand in the sentence or in the order; only words have a query. */
export function positionsOf(state, stream, byOrder) {
  const count = state.steps.length;
  const special = [count, count + 1];
  const words = byOrder ? state.order : state.order.map((_, position) => position);
  const all = byOrder ? [...special, ...words] : [...words, ...special];
  return { rows: stream ? words : all, columns: all };
}

/** What decides each pair of some rows and columns, row by row. */
export const causesOf = (mask, rows, columns, count) => rows.flatMap((q) => columns.map((k) => mask.rule_ids[q * count + k]));

/** Why a position may look at another, or may not, in one stream, as pieces; null where the position has no query. */
export function reason(state, stream, { q, k }) {
  const count = state.names.length;
  if (stream && q >= state.steps.length) return null;
  const mask = state.masks[stream];
  return sentence(mask, mask.rule_ids[q * count + k], state.names, { q, k }, VERBS);
}

/** Both reasons, each under the name of its stream. */
function reasons(state, stream, pair) {
  return [0, 1].map((one) => {
    const pieces = reason(state, one, pair);
    return el("p", { class: one === stream ? "pointed" : "" }, el("b", {}, TITLES[one][0]), ": ",
      ...(pieces ? written(pieces) : [`nothing is asked of ${state.names[pair.q]}: it has none.`]));
  });
}

/**
 * The squares. `font` is a node whose font they have. `onRow(position)` hears which row was clicked. `point(pair, stream)` moves the crosshairs of both to a pair of
 * positions { q, k }, in a stream's own words first.
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
    grids.forEach(({ rows, columns, grid }, one) => {
      const [q, k] = [rows.indexOf(pair.q), columns.indexOf(pair.k)];
      grid.table.classList.toggle("elsewhere", q < 0);
      if (q >= 0) grid.point({ q, k }, `${TITLES[one][0]}: ${reason(state, one, pair).map(({ text }) => text).join("")}`);
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
      at, head: [tableRow("said as", columns.map(cell)), tableRow("", columns.map(chip), `reads ${tall}`)],
      queries: rows.map((position) => state.tokens[position]), label: `${TITLES[stream][0]}: who may look at whom`,
      onCell: ({ q, k }) => point({ q: rows[q], k: columns[k] }, stream), onAct: ({ q }) => onRow(rows[q]),
    });
    grid.table.querySelector(".cross").dataset.at = `cross-${stream}`;
    grid.paint(layersOf(causesOf(state.masks[stream], rows, columns, count), columns.length));
    const [title, said] = TITLES[stream];
    const figure = el("figure", { class: "square", "aria-label": title },
      el("figcaption", {}, el("b", {}, title), ` ${stream && state.leak ? OPENED : said}`),
      el("div", { class: "scroll" }, grid.table));
    return { rows, columns, grid, figure };
  };
  const grids = [square(0), square(1)];
  const node = el("div", {}, why,
    el("div", { class: `squares${beside ? "" : " stacked"}` }, ...grids.map(({ figure }) => figure)));
  return { node, point, at: () => now };
}
