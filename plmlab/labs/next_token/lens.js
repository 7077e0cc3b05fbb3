// The logit lens: the prediction of every layer at each position, as if it were the last layer.

import { clamp, el } from "../shared/dom.js";
import { ramp, scaleBar, sequential, shaded, walk } from "../shared/heat.js";
import { written } from "../shared/lab.js";
import { chance } from "../shared/softmax.js";
import { number } from "../shared/words.js";

const LABEL = 84; // px, the width of the layer names
const GUTTER = 2; // px, between columns
const [NARROW, WIDE] = [84, 124]; // px, of a column

/** The layer from which on the final prediction stays the top prediction. */
export function settledAt(column) {
  let at = column.length - 1;
  while (at > 0 && column[at - 1].rank === 1) at--;
  return at;
}

/** The title of the lens: the prediction at one position, and the layer where it settles. */
export function lensFinding({ columns, names, layers }, position) {
  const column = columns[position];
  const [token] = column.at(-1).likeliest[0];
  const at = settledAt(column);
  const from = at === 0 ? "already in the embedding"
    : at === column.length - 1 ? `only in the last layer, ${layers[at]}` : `from ${layers[at]} on`;
  return `After “${names[position]}” the prediction is “${token}”: ${from}`;
}

/** One cell: its prediction, and what its layer has changed, as text pieces [{ text, role }]. */
export function lensSaid({ columns, names, layers, tokens }, { row, column: position }) {
  const column = columns[position];
  const [here, before, last] = [column[row], column[row - 1], column.at(-1)];
  const [token, p] = here.likeliest[0];
  const [final, sure] = last.likeliest[0];
  const plain = (text) => ({ text, role: "" });
  const predicted = (text) => ({ text, role: "said" });
  const pieces = [plain("After "), { text: names[position], role: "query" }, plain(`, ${row ? "" : "the "}${layers[row]} ` +
    `${row === column.length - 1 ? "predicts" : "would predict"} `), predicted(token),
  plain(` with probability ${chance(p)}`)];
  if (before) {
    const [was, share] = before.likeliest[0];
    pieces.push(...(was === token ? [plain(`; so did ${named(layers, row - 1)}, with ${chance(share)}.`)]
      : [plain(`; ${named(layers, row - 1)} still predicted `), predicted(was), plain(` with ${chance(share)}.`)]));
  } else {
    pieces.push(plain(token === tokens[position]
      ? ": input and output embeddings are tied, and a token is most similar to itself."
      : "; it depends only on the token and its position."));
  }
  if (row === column.length - 1) pieces.push(plain(" This is the model's prediction."));
  else if (here.rank === 1) {
    pieces.push(plain(settledAt(column) <= row
      ? ` It stays the top prediction up to the last layer, where it has ${chance(sure)}.`
      : " Later layers move away from it and then return to it."));
  } else {
    pieces.push(plain(" The model's final prediction, "), predicted(final), plain(` with ${chance(sure)}, has rank ` +
      `${number(here.rank)} here${before ? ` (${number(before.rank)} one layer below)` : ""}, ` +
      `with probability ${chance(here.p)}.`));
  }
  return pieces;
}

const named = (layers, row) => (row ? layers[row] : "the embedding");

/** The lens as a grid, one row per layer and one column per position, navigable by mouse and keyboard. */
export function lensOf({ lens, room, start }) {
  const { layers, tokens, columns, next } = lens;
  const colours = ramp(sequential());
  const wide = clamp(Math.floor((room - LABEL - 12) / tokens.length) - GUTTER, NARROW, WIDE);
  const title = el("h4");
  const why = el("p", { class: "why", role: "status", "aria-live": "polite" });
  const cellAt = (row, column) => {
    const { likeliest: [[token, p]], rank } = columns[column][row];
    const { paper, ink } = shaded(p, colours);
    return el("div", { class: rank === 1 ? "cell first" : "cell", role: "gridcell", tabindex: "-1",
      "data-row": row, "data-column": column, "aria-colindex": column + 1, style: `background:${paper};color:${ink}` },
    el("bdi", {}, token), ...(rank === 1 ? [] : [el("small", {}, `#${number(rank)}`)]));
  };
  const heads = tokens.map((token, i) => el("bdi", { class: "chip", "data-column": i }, token));
  const marks = layers.map((name) => el("span", { class: "layer", role: "rowheader" }, name));
  const cells = layers.map((_, row) => tokens.map((_, column) => cellAt(row, column)));
  const answers = next.map((token) => el("bdi", { class: token === null ? "came none" : "came" }, token ?? "?"));
  const grid = el("div", { class: "lens-grid", role: "grid", "aria-label": "prediction of each layer at each position",
    "aria-rowcount": layers.length, "aria-colcount": tokens.length,
    style: `grid-template-columns:${LABEL}px repeat(${tokens.length}, ${wide}px)` },
  el("div", { class: "line", role: "presentation" }, el("span", { class: "layer" }, "after"), ...heads),
  ...cells.map((row, i) => el("div", { class: "line", role: "row", "aria-rowindex": i + 1 }, marks[i], ...row)),
  el("div", { class: "line", role: "presentation" }, el("span", { class: "layer" }, "actual next"), ...answers));
  const scroll = el("div", { class: "scroll" }, grid);

  let now = null;
  const point = (cell) => {
    if (now) {
      cells[now.row][now.column].tabIndex = -1;
      for (const node of [cells[now.row][now.column], heads[now.column], marks[now.row]]) node.classList.remove("now");
    }
    now = cell;
    const at = cells[cell.row][cell.column];
    for (const node of [at, heads[cell.column], marks[cell.row]]) node.classList.add("now");
    at.tabIndex = 0;
    const pieces = lensSaid(lens, cell);
    why.replaceChildren(...written(pieces));
    title.textContent = lensFinding(lens, cell.column);
    at.setAttribute("aria-label", pieces.map(({ text }) => text).join(""));
    return at;
  };
  const under = (event) => {
    const { row, column } = event.target.closest(".cell")?.dataset ?? {};
    return row === undefined ? null : { row: Number(row), column: Number(column) };
  };
  grid.addEventListener("pointermove", (event) => {
    const cell = under(event);
    if (cell && (cell.row !== now.row || cell.column !== now.column)) {
      const hadFocus = grid.contains(document.activeElement);
      const at = point(cell);
      if (hadFocus) at.focus({ preventScroll: true });
    }
  });
  grid.addEventListener("click", (event) => {
    const cell = under(event);
    if (cell) point(cell).focus({ preventScroll: true });
  });
  grid.addEventListener("keydown", (event) => {
    const to = walk(event.key, now, layers.length, tokens.length, event.ctrlKey || event.metaKey);
    if (!to) return;
    const at = point(to);
    at.focus({ preventScroll: true });
    at.scrollIntoView({ block: "nearest", inline: "nearest" });
    event.preventDefault();
    event.stopPropagation();
  });
  point({ row: clamp(start.row, 0, layers.length - 1), column: clamp(start.column, 0, tokens.length - 1) });
  const node = el("div", { class: "lens" }, title,
    el("p", { class: "note" }, "Each cell: the next token that the layer would predict if it were the last; the shade " +
      "is its probability. #4: the model's final prediction has rank 4 here. Use the arrow keys to move."),
    why, scroll, scaleBar(sequential(), ["0", "½", "1"], "probability of the cell's token"));
  return {
    node, at: () => now, toEnd: () => { scroll.scrollLeft = scroll.scrollWidth; },
    held: () => grid.contains(document.activeElement),
    focus: () => cells[now.row][now.column].focus({ preventScroll: true }),
  };
}
