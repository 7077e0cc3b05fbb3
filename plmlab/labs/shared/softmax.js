// Scores become shares; what a distribution is worth; and how a share is written.

import { number } from "./words.js";

/** The sum of the first `count` values. */
export function total(values, count = values.length) {
  let found = 0;
  for (let i = 0; i < count; i++) found += values[i];
  return found;
}

/** e to each score, as its share of the sum; the highest is taken off first, which changes no share and keeps e^s
    finite. */
export function softmax(scores) {
  const highest = scores.reduce((most, score) => Math.max(most, score), -Infinity);
  const parts = scores.map((score) => Math.exp(score - highest));
  const whole = total(parts);
  return parts.map((part) => part / whole);
}

/** −Σ p log p, in nats. */
export function entropyOf(chances) {
  let found = 0;
  for (const p of chances) if (p > 0) found -= p * Math.log(p);
  return found;
}

/** A probability in two digits; never 0 or 1 for what is not quite. */
export function chance(p) {
  if (p === 0 || p === 1) return String(p);
  if (p > 0.9995) return "> 0.999";
  if (p < 0.0001) return "< 0.0001";
  return p >= 0.9945 ? p.toFixed(3) : p >= 0.0995 ? p.toFixed(2) : p.toPrecision(2);
}

/** How many equally likely tokens an entropy is worth: its perplexity. */
export function choices(nats) {
  const count = Math.exp(nats);
  return count < 9.95 ? count.toFixed(2) : count < 99.5 ? count.toFixed(1) : number(Math.round(count));
}
