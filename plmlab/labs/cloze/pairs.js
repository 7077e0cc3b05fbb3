// The Cloze Lab: two masks. The product of two predictions, next to the joint probability of both words.

import { nats } from "../shared/beliefs.js";
import { select } from "../shared/controls.js";
import { clamp, el, svg } from "../shared/dom.js";
import { heatMap, pixels, ramp, scaleBar, sequential } from "../shared/heat.js";
import { percent } from "../shared/words.js";

const CELL = { low: 34, high: 72, tall: 26 };
const MAP_GAP = 36;
const HIDDEN_BELOW = 0.005;

/** The highest probability of both tables: the upper end of their one scale. */
export const topOf = ({ product, together }) => Math.max(...product.flat(), ...together.flat(), 1e-9);

/** The text of a cell: whole percent, empty if that would be 0. */
export const cellText = (p) => (p < HIDDEN_BELOW ? "" : `${Math.round(100 * p)}`);

/** A probability on the colour scale, 0 to 1; a square root, so that small ones can be distinguished. */
export const shade = (p, top) => Math.sqrt(Math.min(p / top, 1));

/** One pair in words. */
export function pairText({ rows, columns, product, together, kind }, { row, column }) {
  const [apart, both] = [product[row][column], together[row][column]];
  const words = `“${rows[row]} … ${columns[column]}”`;
  const said = `${words}: p(${rows[row]}) · p(${columns[column]}) = ${percent(apart)}; `;
  if (kind === "chained") return `${said}predicted one after the other, ${percent(both)}.`;
  return said + (both === 0 ? "joint probability 0 %: no sentence has both words." : `joint probability ${percent(both)}.`);
}

/** The finding of the two tables, in sentences. */
export function verdictText({ kind, worst, impossible, unavoidable, information }) {
  if (!worst && kind === "chained") {
    return ["The product and the sequential prediction hardly differ: here the model can fill the two masks independently."];
  }
  if (!worst) {
    return ["The product assigns almost no probability to impossible pairs: here the two masks can be filled independently.",
      `Mutual information of the two words: ${nats(information)}.`];
  }
  const [one, other] = worst.words;
  if (kind === "chained") {
    return [`The product overestimates “${one} … ${other}” most: ${percent(worst.product)}, compared with ` +
      `${percent(worst.together)} if “${one}” is filled in first.`];
  }
  return [
    `Of the pairs that never occur, the product makes “${one} … ${other}” the most likely, ${percent(worst.product)}. ` +
      `All impossible pairs together: ${percent(impossible)}.`,
    `Mutual information of the two words: ${nats(information)}. Even the Bayes-optimal predictor loses this much ` +
      `with independent predictions; its product assigns ${percent(unavoidable)} to impossible pairs.`];
}

/** The layout of two maps in `room` px, side by side or stacked; wide column names are rotated. */
export function mapSize(room, { rows, columns }) {
  const beside = Math.floor((room - MAP_GAP) / 2 - rows);
  const stacked = beside < columns.length * CELL.low;
  const cell = clamp(Math.floor((stacked ? room - rows : beside) / columns.length), CELL.low, CELL.high);
  return { stacked, cell, label: rows, turned: Math.max(...columns) > cell };
}

function overlay(table, { cell, impossible, top }) {
  const [height, width] = [table.length * CELL.tall, table[0].length * cell];
  const marks = table.flatMap((line, row) => line.map((p, column) => {
    const [x, y] = [(column + 0.5) * cell, (row + 0.5) * CELL.tall];
    const ink = shade(p, top) > 0.55 ? "on-light" : "on-dark";
    const text = cellText(p);
    const never = impossible?.(row, column) && text
      ? [svg("path", { class: `never ${ink}`, d: `M${x + 11} ${y - 4}l8 8m0 -8l-8 8` })] : [];
    const at = { x: never.length ? x - 4 : x, y: y + 4.5, "text-anchor": "middle" };
    return [...(text ? [svg("text", { class: ink, ...at }, text)] : []), ...never];
  })).flat();
  return svg("svg", { class: "figures", width, height, "aria-hidden": "true" }, ...marks);
}

function pairMap({ title, pair, table, size, top, impossible, hatched, onCell }) {
  const { rows, columns } = pair;
  const [width, height] = [columns.length * size.cell, rows.length * CELL.tall];
  const map = heatMap({ rows: rows.length, columns: columns.length, width, height, label: title, onCell });
  const bytes = pixels(rows.length * columns.length, (i) => shade(table.flat()[i], top), 0, 1, ramp(sequential()));
  if (hatched) table.flat().forEach((p, i) => { if (p === 0) bytes[4 * i + 3] = 0; });
  map.paint(bytes);
  map.node.classList.toggle("hatched", hatched);
  map.node.append(overlay(table, { cell: size.cell, impossible, top }));
  const head = columns.map((word) => el("span", { class: "column-name", style: `width:${size.cell}px`, title: word },
    el("bdi", {}, word)));
  const side = rows.map((word) => el("span", { class: "row-name", style: `height:${CELL.tall}px`, title: word },
    el("bdi", {}, word)));
  const node = el("figure", { class: "pair-map" }, el("figcaption", {}, title),
    el("div", { class: `framed${size.turned ? " turned" : ""}`, style: `--label:${size.label}px` },
      el("div", { class: "columns-of" }, ...head),
      el("div", { class: "rows-of" }, ...side), map.node));
  const point = (cell, said) => {
    map.point(cell, said);
    head.forEach((name, i) => name.classList.toggle("is-key", i === cell.column));
    side.forEach((name, i) => name.classList.toggle("is-query", i === cell.row));
  };
  return { node, point };
}

function choice(gaps, pair, disabled, choose) {
  if (gaps.length < 3) return [];
  const pick = (place) => select({ label: place ? "second mask" : "first mask", disabled,
    options: gaps.map(({ position, word }, i) => [position, `mask ${i + 1}: ${word ?? "[MASK]"}`,
      { selected: position === pair.positions[place], disabled: position === pair.positions[1 - place] }]) },
  (position) => choose(pair.positions.map((own, i) => (i === place ? position : own)))).node;
  return [el("div", { class: "bar" }, "compare ", pick(0), " with ", pick(1))];
}

/** The initial cell: the worst pair, if it is in the tables. */
export function firstCell({ rows, columns, worst }) {
  const [one, other] = worst?.words ?? [];
  const cell = { row: rows.indexOf(one), column: columns.indexOf(other) };
  return cell.row < 0 || cell.column < 0 ? { row: 0, column: 0 } : cell;
}

/** The two tables of a pair of masks, with a common crosshair. `cell` is its last position, or null; `choose(positions)`
    selects two other masks. */
export function pairView({ gaps, pair, room, widths, cell, disabled, choose, onCell }) {
  const size = mapSize(room, widths);
  const top = topOf(pair);
  const world = pair.kind === "world";
  const said = el("p", { class: "why", role: "status", "aria-live": "polite" });
  const go = (to) => {
    const text = pairText(pair, to);
    said.textContent = text;
    for (const map of maps) map.point(to, text);
    onCell(to);
  };
  const maps = [
    pairMap({ title: "the model: product of two independent predictions, %", pair, table: pair.product, size, top, onCell: go,
      hatched: false, impossible: world ? (row, column) => pair.together[row][column] === 0 : null }),
    pairMap({ title: `${world ? "the world: exact joint probability" : "the same model: one word after the other"}, %`,
      pair, table: pair.together, size, top, onCell: go, hatched: world }),
  ];
  const node = el("section", { class: "pair", "aria-label": "two masks together" },
    el("h4", {}, "Two masks at once",
      el("span", {}, "each is predicted independently of the other: p(a, b) is replaced by p(a) · p(b)")),
    ...choice(gaps, pair, disabled, choose), said,
    el("div", { class: `maps${size.stacked ? " stacked" : ""}` }, ...maps.map((map) => map.node)),
    el("div", { class: "under-maps" },
      scaleBar(sequential(), ["0", percent(top / 4), percent(top)], "probability of the pair"),
      el("p", {}, `${world ? "× and hatching: no sentence of the world has both words. " : ""}Words below 1 % are ` +
        "left out.")),
    ...verdictText(pair).map((text) => el("p", { class: "verdict" }, text)));
  go(cell ?? firstCell(pair));
  return { node };
}
