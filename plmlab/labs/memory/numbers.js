// The attention weights of the query position and the four terms of its scores, decoded from bytes.

import { bytesOf } from "../shared/bytes.js";

export const MEAN = -1;
export const MOST = -1;

/** `weight(way, layer, head, position)`, where head `MEAN` averages all heads, and `terms(way, layer, head, position)`; way 0
    is the unchanged model, 1 the changed one. Positions outside segment and memory have weight 0 and no terms.
    `most(layer, head, position)` is the layer and head with the largest weight on a position, among those selected. */
export function looked(state, layers, heads) {
  const [weights, terms] = [new Float32Array(bytesOf(state.weights)), new Float32Array(bytesOf(state.terms))];
  const keys = state.position + 1 - state.oldest;
  const at = (way, layer, head, position) => ((way * layers + layer) * heads + head) * keys + position - state.oldest;
  const held = (position) => position >= state.oldest && position <= state.position;
  const weight = (way, layer, head, position) => {
    if (!held(position)) return 0;
    if (head !== MEAN) return weights[at(way, layer, head, position)];
    let sum = 0;
    for (let h = 0; h < heads; h++) sum += weights[at(way, layer, h, position)];
    return sum / heads;
  };
  return {
    weight,
    terms: (way, layer, head, position) => {
      if (!held(position) || state.zones[position] === "forgotten") return null;
      const first = 4 * at(way, layer, head, position);
      return [...terms.subarray(first, first + 4)];
    },
    most: (layer, head, position) => {
      let largest = { weight: -1 };
      for (let l = layer === MOST ? 0 : layer; l < (layer === MOST ? layers : layer + 1); l++) {
        for (let h = head === MEAN ? 0 : head; h < (head === MEAN ? heads : head + 1); h++) {
          if (weight(0, l, h, position) > largest.weight) largest = { layer: l, head: h, weight: weight(0, l, h, position) };
        }
      }
      return largest;
    },
  };
}

/** The terms as steps of a waterfall chart, [{ from, to }], and their sum. */
export function waterfall(terms) {
  let sum = 0;
  const steps = terms.map((term) => {
    const from = sum;
    sum += term;
    return { from, to: sum };
  });
  return { steps, sum };
}

/** The upper end of the scale of a layer and head: the maximum over all its keys. A few scores are far lower, where the
    softmax weight is negligible. */
export const scoreScale = (ofKeys) =>
  Math.max(1, Math.ceil(Math.max(...ofKeys.flatMap((terms) => waterfall(terms).steps.map(({ to }) => to)))));

/** Runs of consecutive positions with the same value, [{ from, to, value }]. */
export function runs(values) {
  const stretches = [];
  values.forEach((value, position) => {
    const last = stretches.at(-1);
    if (last?.value === value) last.to = position + 1;
    else stretches.push({ from: position, to: position + 1, value });
  });
  return stretches;
}
