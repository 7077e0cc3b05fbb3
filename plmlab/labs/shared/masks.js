// A mask computed by Python: the cause of each cell, how the cell is drawn, and the reason in words.

import { fill } from "./lab.js";

/** The cause of a cell that was edited by hand; otherwise the cause is a rule's number, negative if the rule blocks. */
export const EDITED = 1000;
const FILLS = 5;

/** How a cell is drawn: its rule's fill, "by-hand", or "blocked". */
export const fillOf = (cause) =>
  cause < 0 ? "blocked" : cause === EDITED ? "by-hand" : `rule-${(cause - 1) % FILLS}`;

/** The layers to paint: the cells of each fill, and a dot on each cell that was edited by hand. */
export function layersOf(rule_ids, count) {
  const layers = new Map();
  const touched = [];
  rule_ids.forEach((cause, i) => {
    const cell = [Math.floor(i / count), i % count];
    const fill = fillOf(cause);
    if (!layers.has(fill)) layers.set(fill, []);
    layers.get(fill).push(cell);
    if (Math.abs(cause) === EDITED) touched.push(cell);
  });
  const painted = [...layers].map(([fill, cells]) => ({ fill, cells }));
  return touched.length ? [...painted, { fill: "touched", cells: touched, dotted: true }] : painted;
}

/** The sentence about one (query, key) pair, in parts: whether the query can attend to the key, and why. */
export function sentence(mask, cause, names, { q, k }, [open, closed]) {
  const verdict = cause > 0 ? open : closed;
  return fill(`{query} ${verdict} {key}: ${mask.sentences[cause]}`,
    { query: names[q], key: names[k], steps: Math.abs(q - k) });
}
