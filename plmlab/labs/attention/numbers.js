// The tensors of the Attention Lab as sent by Python, and the arithmetic of one cell.

import { bytesOf } from "../shared/bytes.js";
import { fill } from "../shared/lab.js";
import { decimal } from "../shared/words.js";

/** All weights of a map, where 65,535 is 1; each head row by row. */
export function weightsOf(state) {
  const [layers, heads] = state.size;
  const [rows, columns] = [state.queries.length, state.keys.length];
  const all = new Uint16Array(bytesOf(state.weights));
  const size = rows * columns;
  const head = (layer, h) => all.subarray((layer * heads + h) * size, (layer * heads + h + 1) * size);
  return { layers, heads, rows, columns, all, head };
}

/** The six tables of one head: q, k, v, scores, weights, mixed; each with its rows. */
export function detailOf(sent) {
  const numbers = new Float32Array(bytesOf(sent.numbers));
  const [rows, columns] = sent.count;
  const shapes = {
    q: [rows, sent.width], k: [columns, sent.width], v: [columns, sent.width],
    scores: [rows, columns], weights: [rows, columns], mixed: [rows, sent.width],
  };
  let from = 0;
  const table = ([count, width]) => {
    const start = from;
    from += count * width;
    return (row) => numbers.subarray(start + row * width, start + (row + 1) * width);
  };
  const tables = Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, table(shape)]));
  return { ...tables, rows, columns, width: sent.width, scale: sent.scale, formula: sent.formula };
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

/**
 * How one weight is computed: the products of q and k and their sum, times the scale, plus the model's bias; then the
 * softmax of the row over the keys allowed by `may` (each e^(score − most) over their sum). If the score is not an
 * inner product, the scale is null, and there are no products.
 */
export function cellOf(detail, q, k, may) {
  const [query, key, scores] = [detail.q(q), detail.k(k), detail.scores(q)];
  const inner = detail.scale !== null;
  const products = inner ? Array.from(query, (value, i) => value * key[i]) : [];
  const dot = sum(products);
  const scaled = inner ? dot * detail.scale : scores[k];
  const most = Math.max(...Array.from(scores).filter((_, j) => may(j)));
  const parts = Array.from(scores, (score, j) => (may(j) ? Math.exp(score - most) : 0));
  const total = sum(parts);
  const row = parts.map((part, j) => ({ k: j, score: scores[j], part, weight: total ? part / total : 0, may: may(j) }));
  const added = inner && may(k) ? scores[k] - scaled : 0;
  return { products, dot, scaled, added: Math.abs(added) > 1e-4 ? added : 0, score: scaled + added, most, total, row };
}

/** The weighted value of one key, α v, and the head's output Σ α v over all keys. */
export function takenAlong(detail, row, k) {
  const share = Array.from(detail.v(k), (value) => row[k].weight * value);
  const all = share.map((_, i) => sum(row.map(({ weight }, j) => weight * detail.v(j)[i])));
  return { share, all };
}

/** A row's keys by decreasing weight; ties by position. */
export const ordered = (row) => [...row].sort((a, b) => b.weight - a.weight || a.k - b.k);

/** The initial cell of a head: the largest weight, ignoring the diagonal and the first and last key. */
export function firstCell(weights, rows, columns) {
  let best = { q: Math.min(1, rows - 1), k: 0, weight: -1 };
  for (let q = 0; q < rows; q++) {
    for (let k = 1; k < columns - 1; k++) {
      const weight = weights[q * columns + k];
      if (q !== k && weight > best.weight) best = { q, k, weight };
    }
  }
  return { q: best.q, k: best.k };
}

/** A score or a weight, as this lab formats them. */
export const fixed = (value, digits = 3) => decimal(value, digits);

const PLACES = ["the largest", "the second largest", "the third largest"];

/** The sentence on one cell, in pieces: the weight that the query gives to the key, or why it is blocked. */
export function spoken(mask, weights, names, { q, k }, off) {
  const columns = names.keys.length;
  const cause = mask.rule_ids[q * columns + k];
  const words = { query: names.queries[q], key: names.keys[k] };
  if (cause < 0) return fill(`{query} cannot attend to {key}: ${mask.sentences[cause]}`, words);
  const row = weights.subarray(q * columns, (q + 1) * columns);
  const place = row.filter((weight) => weight > row[k]).length;
  const rank = PLACES[place] ? `, ${PLACES[place]} in its row` : "";
  const silent = off ? " The head is switched off: its output is zero." : "";
  return fill(`{query} attends to {key} with weight ${fixed(row[k] / 65535)}${rank}.${silent}`, words);
}

/** The same cell in another token sequence, which may have one more token; null if a token is missing. */
export function carried({ q, k }, before, after) {
  const again = (position) => {
    const nth = before.slice(0, position).filter((token) => token === before[position]).length;
    return after.map((token, i) => (token === before[position] ? i : -1)).filter((i) => i >= 0)[nth] ?? -1;
  };
  const cell = { q: again(q), k: again(k) };
  return cell.q < 0 || cell.k < 0 ? null : cell;
}
