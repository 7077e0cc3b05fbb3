// Softmax, entropy and perplexity, and formatted probabilities.

import { number } from "./words.js";

/** The sum of the first `count` values. */
export function total(values, count = values.length) {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += values[i];
  return sum;
}

/** The softmax of scores. The maximum is subtracted first, which changes no probability and keeps e^s finite. */
export function softmax(scores) {
  const highest = scores.reduce((most, score) => Math.max(most, score), -Infinity);
  const parts = scores.map((score) => Math.exp(score - highest));
  const whole = total(parts);
  return parts.map((part) => part / whole);
}

/** −Σ p log p, in nats. */
export function entropyOf(chances) {
  let entropy = 0;
  for (const p of chances) if (p > 0) entropy -= p * Math.log(p);
  return entropy;
}

/** A probability with two significant digits; 0 and 1 only if exact. */
export function chance(p) {
  if (p === 0 || p === 1) return String(p);
  if (p > 0.9995) return "> 0.999";
  if (p < 0.0001) return "< 0.0001";
  return p >= 0.9945 ? p.toFixed(3) : p >= 0.0995 ? p.toFixed(2) : p.toPrecision(2);
}

/** The perplexity of an entropy in nats: the equivalent number of equally likely tokens. */
export function choices(nats) {
  const count = Math.exp(nats);
  return count < 9.95 ? count.toFixed(2) : count < 99.5 ? count.toFixed(1) : number(Math.round(count));
}
