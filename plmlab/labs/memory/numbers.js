// What Python sends of the asked position: where it looked, and the four terms of its scores.

import { bytesOf } from "../shared/bytes.js";

export const MEAN = -1;
export const MOST = -1;

/** `weight(way, layer, head, position)`, with `MEAN` for all heads, and `terms(way, layer, head, position)`; way 0 is as the
    model is, 1 as it is changed. Positions that are neither read nor remembered have weight 0 and no terms.
    `most(layer, head, position)` is the layer and head that look most at a position, among those that are meant. */
export function looked(state, layers, heads) {
  const [weights, terms] = [new Float32Array(bytesOf(state.weights)), new Float32Array(bytesOf(state.terms))];
  const keys = state.position + 1 - state.oldest;
  const at = (way, layer, head, position) => ((way * layers + layer) * heads + head) * keys + position - state.oldest;
  const held = (position) => position >= state.oldest && position <= state.position;
  const weight = (way, layer, head, position) => {
    if (!held(position)) return 0;
    if (head !== MEAN) return weights[at(way, layer, head, position)];
    let sum = 0;
    for (let one = 0; one < heads; one++) sum += weights[at(way, layer, one, position)];
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
      let found = { weight: -1 };
      for (let l = layer === MOST ? 0 : layer; l < (layer === MOST ? layers : layer + 1); l++) {
        for (let h = head === MEAN ? 0 : head; h < (head === MEAN ? heads : head + 1); h++) {
          if (weight(0, l, h, position) > found.weight) found = { layer: l, head: h, weight: weight(0, l, h, position) };
        }
      }
      return found;
    },
  };
}

/** The terms as steps of a waterfall, [{ from, to }], and their sum. */
export function waterfall(terms) {
  let sum = 0;
  const steps = terms.map((term) => {
    const from = sum;
    sum += term;
    return { from, to: sum };
  });
  return { steps, sum };
}

/** The end of the scale of a layer and head, for the terms of all its keys: as far up as any goes. A few go far lower,
    which no softmax sees. */
export const scoreScale = (ofKeys) =>
  Math.max(1, Math.ceil(Math.max(...ofKeys.flatMap((terms) => waterfall(terms).steps.map(({ to }) => to)))));

/** Stretches of positions with the same value, [{ from, to, value }]. */
export function runs(values) {
  const found = [];
  values.forEach((value, position) => {
    const last = found.at(-1);
    if (last?.value === value) last.to = position + 1;
    else found.push({ from: position, to: position + 1, value });
  });
  return found;
}
