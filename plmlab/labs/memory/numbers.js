// What Python sends of the asked slot: where it looked, and the four terms of its scores.

import { bytesOf } from "../shared/bytes.js";

export const MEAN = -1;
export const MOST = -1;

/** `weight(way, layer, head, slot)`, with `MEAN` for all heads, and `terms(way, layer, head, slot)`; way 0 is as the
    model is, 1 as it is changed. Slots that are neither read nor remembered have weight 0 and no terms.
    `most(layer, head, slot)` is the layer and head that look most at a slot, among those that are meant. */
export function looked(state, layers, heads) {
  const [weights, terms] = [new Float32Array(bytesOf(state.weights)), new Float32Array(bytesOf(state.terms))];
  const keys = state.slot + 1 - state.oldest;
  const at = (way, layer, head, slot) => ((way * layers + layer) * heads + head) * keys + slot - state.oldest;
  const held = (slot) => slot >= state.oldest && slot <= state.slot;
  const weight = (way, layer, head, slot) => {
    if (!held(slot)) return 0;
    if (head !== MEAN) return weights[at(way, layer, head, slot)];
    let sum = 0;
    for (let one = 0; one < heads; one++) sum += weights[at(way, layer, one, slot)];
    return sum / heads;
  };
  return {
    weight,
    terms: (way, layer, head, slot) => {
      if (!held(slot) || state.zones[slot] === "forgotten") return null;
      const first = 4 * at(way, layer, head, slot);
      return [...terms.subarray(first, first + 4)];
    },
    most: (layer, head, slot) => {
      let found = { weight: -1 };
      for (let l = layer === MOST ? 0 : layer; l < (layer === MOST ? layers : layer + 1); l++) {
        for (let h = head === MEAN ? 0 : head; h < (head === MEAN ? heads : head + 1); h++) {
          if (weight(0, l, h, slot) > found.weight) found = { layer: l, head: h, weight: weight(0, l, h, slot) };
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

/** Stretches of slots with the same value, [{ from, to, value }]. */
export function runs(values) {
  const found = [];
  values.forEach((value, slot) => {
    const last = found.at(-1);
    if (last?.value === value) last.to = slot + 1;
    else found.push({ from: slot, to: slot + 1, value });
  });
  return found;
}
