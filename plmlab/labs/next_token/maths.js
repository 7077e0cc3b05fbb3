// Computations of the Next-token Lab in the browser: the sampling distribution and its measures.

import { bytesOf } from "../shared/bytes.js";
import { chance, choices, entropyOf, softmax, total } from "../shared/softmax.js";
import { number, plural } from "../shared/words.js";

/** Decodes logits, in descending order. */
export const logitsOf = (sent) => new Float32Array(bytesOf(sent));

/**
 * The sampling distribution, as in `plmlab.decode.distribution`, from logits in descending order: softmax(logits /
 * temperature), truncated by top-k and top-p, and renormalized. `topK` null keeps all tokens. `chances` is the result,
 * `uncut` the distribution before truncation, of which `kept` tokens with total probability `mass` remain.
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

/** KL(world ‖ model) in nats, with the world's words given by rank (`places`); infinite if one of them has been cut. */
export const divergence = ({ p, places }, chances) =>
  p.reduce((sum, prob, i) => sum + prob * Math.log(prob / chances[places[i]]), 0);

/** The end of the bars' scale: the smallest of 1, ½, ⅕, … that fits the longest bar. */
export const scaleEnd = (longest) => [0.01, 0.02, 0.05, 0.1, 0.2, 0.5].find((end) => longest <= end) ?? 1;

/** The answer to the question of "Guess first": the perplexity of this step at other temperatures. */
export function temperatures(logits) {
  const perplexity = (temperature) => choices(entropyOf(distribution(logits, { temperature }).chances));
  return `${perplexity(2)} at temperature 2, and ${perplexity(0.5)} at ½. The ranking never changes, because all logits ` +
    "are divided by the same number. So the temperature affects sampling, but not greedy decoding.";
}

/** The distribution at this step, and the effect of truncation, in a sentence or two. */
export function stepSaid({ kept, mass, chances }, favourite, count) {
  const nats = entropyOf(chances);
  const sure = chances[0] > 0.9 ? "The model is nearly certain: " : chances[0] > 0.5 ? "The model favours one token: "
    : "The model is uncertain: ";
  const summary = `${sure}p(“${favourite}”) = ${chance(chances[0])}, perplexity ${choices(nats)}.`;
  if (kept === count) return summary;
  return `${summary} Kept: ${plural(kept, "token")} of ${number(count)}, with ${chance(mass)} of the probability mass, ` +
    "renormalized.";
}
