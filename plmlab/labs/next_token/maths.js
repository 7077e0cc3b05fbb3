// What the Next-token Lab computes without Python: the distribution that is drawn from, and its measures.

import { bytesOf } from "../shared/bytes.js";
import { chance, choices, entropyOf, softmax, total } from "../shared/softmax.js";
import { number, plural } from "../shared/words.js";

/** Logits as Python sends them, from the highest to the lowest. */
export const logitsOf = (sent) => new Float32Array(bytesOf(sent));

/**
 * The distribution that a token is drawn from, as `plmlab.decode.distribution` has it, of logits from the highest to
 * the lowest: softmax(logits / temperature), cut, and scaled up to 1 again. `topK` null keeps all.
 * `chances` are those, `uncut` the ones before the cuts; `kept` tokens with `mass` of the latter are left.
 */
export function distribution(logits, { temperature = 1, topK = null, topP = 1 } = {}) {
  const uncut = softmax(Float64Array.from(logits, (logit) => (logit - logits[0]) / temperature));
  let kept = uncut.length;
  if (topK !== null && topK < kept) {
    const last = (logits[topK - 1] - logits[0]) / temperature;
    for (kept = topK; kept < uncut.length && (logits[kept] - logits[0]) / temperature >= last;) kept++;
  }
  let mass = total(uncut, kept);
  if (topP < 1) {
    let held = 0;
    let nucleus = 0;
    while (nucleus < kept && held < topP) held += uncut[nucleus++] / mass;
    kept = nucleus;
    mass = total(uncut, kept);
  }
  return { chances: uncut.map((p, i) => (i < kept ? p / mass : 0)), uncut, kept, mass };
}

/** KL(world ‖ model) in nats, where the world's words stand at these places of the model's; infinite where one has
    been cut. */
export const divergence = ({ p, places }, chances) =>
  p.reduce((found, share, i) => found + share * Math.log(share / chances[places[i]]), 0);

/** The end of a bar's scale: the first of 1, ½, ⅕, … that still holds the longest. */
export const scaleEnd = (longest) => [0.01, 0.02, 0.05, 0.1, 0.2, 0.5].find((end) => longest <= end) ?? 1;

/** The question's answer: what other temperatures make of this step. */
export function temperatures(logits) {
  const worth = (temperature) => choices(entropyOf(distribution(logits, { temperature }).chances));
  return `${worth(2)} at temperature 2, and ${worth(0.5)} at ½. The order never changes: to divide all logits by one ` +
    "number moves none past another. So greedy decoding does not notice the temperature, and sampling does.";
}

/** What the cuts and the temperature did to this step, in a sentence. */
export function stepSaid({ kept, mass, chances }, favourite, count) {
  const nats = entropyOf(chances);
  const sure = chances[0] > 0.9 ? "The model is nearly sure: " : chances[0] > 0.5 ? "The model leans to one: "
    : "The model leaves it open: ";
  const told = `${sure}“${favourite}” has ${chance(chances[0])}, and the step is worth ${choices(nats)} equal choices.`;
  if (kept === count) return told;
  return `${told} Kept: ${plural(kept, "token")} of ${number(count)}, with ${chance(mass)} of the mass, ` +
    "scaled up to 1.";
}
