// Descriptions of the figures of the Gradient Lab.

import { longestStep } from "./descent.js";
import { plural, powerOfTen, short } from "../shared/words.js";

const FRACTIONS = [[1 / 2, "half"], [1 / 3, "a third"], [1 / 4, "a quarter"], [1 / 5, "a fifth"], [1 / 10, "a tenth"]];

/** A size with two significant digits, in scientific notation if very small or very large. */
export function amount(size) {
  if (size === 0 || (size >= 1e-4 && size < 1e5)) return short(size, 2);
  const [digits, power] = size.toExponential(1).split("e");
  return `${digits} · ${powerOfTen(Number(power))}`;
}

/** A fraction below 1: in words, in per cent, or as 1/n. */
export function share(part) {
  const near = FRACTIONS.find(([fraction]) => Math.abs(part / fraction - 1) < 0.05);
  if (near) return near[1];
  if (part >= 0.995) return "almost all";
  if (part >= 0.095) return `${Math.round(100 * part)} %`;
  return part < 1e-6 ? "less than a millionth" : `1/${short(Number((1 / part).toPrecision(2)))}`;
}

/** What is left of a perturbation of size 1. */
export function left(size) {
  if (size === 0) return "nothing of it is left";
  if (size > 0.95 && size < 1.05) return "it is about its original size";
  if (size < 1) return `${share(size)} of it is left`;
  return size > 1e6 ? "it is more than a million times its original size"
    : `it is ${short(size, 2)} times its original size`;
}

/** The effect at step t of a perturbation at step s; `memory`: whether the cell has a cell state besides h. */
export function pushed(size, s, t, { push, memory }) {
  if (t < s) return `Step ${t} comes before step ${s}: a perturbation has no effect on earlier steps.`;
  const [what, of] = !memory ? ["", ""] : push === "memory" ? [" of the cell state c", " the cell state at"]
    : [" of the hidden state h", " the hidden state at"];
  if (t === s) return `A perturbation${what} at step ${s} has size 1 at step ${s} itself: no step has been taken yet.`;
  return `A perturbation${what} at step ${s} changes${of} step ${t} by ${amount(size)}: after ` +
    `${plural(t - s, "step")}, ${left(size)}.`;
}

/** The step after s, up to t, with the largest relative drop; `sizes[i]` is the size at step i. */
export function largestDrop(sizes, s, t) {
  let largest = { step: null, ratio: 1 };
  for (let i = s + 1; i <= t && sizes[i - 1] > 0; i++) {
    const ratio = sizes[i] / sizes[i - 1];
    if (ratio < largest.ratio) largest = { step: i, ratio };
  }
  return largest;
}

/** A description of the largest drop. */
export function dropped(sizes, s, t) {
  if (t <= s) return "";
  const { step, ratio } = largestDrop(sizes, s, t);
  if (step === null) return "It does not shrink at any step.";
  return `The largest drop is at step ${step}, to ${ratio === 0 ? "zero" : `${share(ratio)} of the previous size`}.`;
}

/** The finding of a map: the effect of the first step on the last. */
export function verdict(size, steps) {
  const what = size < 0.5 ? "It vanishes" : size > 2 ? "It explodes" : "It is preserved";
  const rest = left(size).replace("it is", "a perturbation is").replace("of it", "of a perturbation");
  return `${what}: after ${plural(steps - 1, "step")}, ${rest}`;
}

const place = ({ w, b }) => `w = ${short(w)}, b = ${short(b)}`;
const inside = ({ w, b }, { w: [left, right], b: [low, high] }) => w >= left && w <= right && b >= low && b <= high;

/** Where gradient descent leads without and with clipping; `frame` is the range of w and b in the figure. */
export function descended(plain, clipped, { clip, rate, frame }) {
  const [{ step, length, from, to }, steps] = [longestStep(plain), plain.length - 1];
  const end = (points) => short(points[steps].loss, 2);
  const stays = plain[step].norm < 0.01 && short(to.loss, 2) === end(plain);
  const out = inside(to, frame) ? "" : ", outside the figure";
  const first = length > 0.5
    ? `Without clipping, step ${step} throws the point from ${place(from)} to ${place(to)}${out}: there the loss is ` +
      `${short(to.loss, 2)}, ${stays ? "and the surface is so flat that the point stays there"
        : `after ${steps} steps ${end(plain)}`}.`
    : `Without clipping, no step is longer than ${short(length, 2)}, and after ${steps} steps the loss is ${end(plain)}.`;
  const second = clipped.some(({ norm }) => norm > clip)
    ? `With the gradient norm clipped at ${clip}, no step is longer than ${short(rate * clip, 2)}, and after ${
      steps} steps the loss is ${end(clipped)}.`
    : `The gradient norm never exceeds ${clip}, so clipping changes nothing.`;
  return `${first} ${second}`;
}
