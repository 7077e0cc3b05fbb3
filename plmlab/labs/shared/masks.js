// A mask as Python counts it: what decides each pair, how its cell is drawn, and why in words.

import { fill } from "./lab.js";

/** What decides a pair that was set by hand; else it is the number of a rule, minus where that forbids. */
export const EDITED = 1000;
const FILLS = 5;

/** How a cell is drawn: its rule's fill, "by-hand", or "blocked". */
export const fillOf = (cause) =>
  cause < 0 ? "blocked" : cause === EDITED ? "by-hand" : `rule-${(cause - 1) % FILLS}`;

/** The layers to paint: the cells of each fill, and a dot on each cell that was set by hand. */
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

/** The sentence on one pair, in pieces: which query, which key, may it look, and why. */
export function sentence(mask, cause, names, { q, k }, [open, closed]) {
  const verdict = cause > 0 ? open : closed;
  return fill(`{query} ${verdict} {key}: ${mask.sentences[cause]}`,
    { query: names[q], key: names[k], steps: Math.abs(q - k) });
}
