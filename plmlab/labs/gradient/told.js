// What the Gradient Lab says of its pictures.

import { longestStep } from "./descent.js";
import { plural, powerOfTen, short } from "../shared/words.js";

const FRACTIONS = [[1 / 2, "half"], [1 / 3, "a third"], [1 / 4, "a quarter"], [1 / 5, "a fifth"], [1 / 10, "a tenth"]];

/** A size in two digits; what is very small or very large as a multiple of a power of ten. */
export function amount(size) {
  if (size === 0 || (size >= 1e-4 && size < 1e5)) return short(size, 2);
  const [digits, power] = size.toExponential(1).split("e");
  return `${digits} · ${powerOfTen(Number(power))}`;
}

/** A share below 1: in a word, in per cent, or as one part of so many. */
export function share(part) {
  const near = FRACTIONS.find(([fraction]) => Math.abs(part / fraction - 1) < 0.05);
  if (near) return near[1];
  if (part >= 0.995) return "almost all";
  if (part >= 0.095) return `${Math.round(100 * part)} %`;
  return part < 1e-6 ? "less than a millionth" : `1/${short(Number((1 / part).toPrecision(2)))}`;
}

/** What a push of size 1 has become. */
export function left(size) {
  if (size === 0) return "nothing of it is left";
  if (size > 0.95 && size < 1.05) return "it is about as large as it was";
  if (size < 1) return `${share(size)} of it is left`;
  return size > 1e6 ? "it is more than a million times as large" : `it is ${short(size, 2)} times as large`;
}

/** What a push at step s does at step t; `memory`: it is the memory that is pushed, and that is moved. */
export function pushed(size, s, t, { push, memory }) {
  if (t < s) return `Step ${t} comes before step ${s}: a push cannot move what came earlier.`;
  const [what, of] = !memory ? ["", ""] : push === "memory" ? [" of the memory c", " the memory at"]
    : [" of the state h", " the state at"];
  if (t === s) return `A push${what} at step ${s} has size 1 at step ${s} itself: it has not travelled yet.`;
  return `A push${what} at step ${s} moves${of} step ${t} by ${amount(size)}: after ` +
    `${plural(t - s, "step")}, ${left(size)}.`;
}

/** The step after s, up to t, at which most is lost; `sizes[i]` is the size at step i. */
export function largestDrop(sizes, s, t) {
  let found = { step: null, ratio: 1 };
  for (let i = s + 1; i <= t && sizes[i - 1] > 0; i++) {
    const ratio = sizes[i] / sizes[i - 1];
    if (ratio < found.ratio) found = { step: i, ratio };
  }
  return found;
}

/** The same in words. */
export function dropped(sizes, s, t) {
  if (t <= s) return "";
  const { step, ratio } = largestDrop(sizes, s, t);
  if (step === null) return "It drops at no step on the way.";
  return `The largest drop is at step ${step}, to ${ratio === 0 ? "nothing" : share(ratio)} of what it was before.`;
}

/** The finding of a map: what the first step still moves at the last. */
export function verdict(size, steps) {
  const what = size < 0.5 ? "It vanishes" : size > 2 ? "It explodes" : "It is carried";
  return `${what}: after ${plural(steps - 1, "step")}, ${left(size).replace("it is", "a push is").replace("of it", "of a push")}`;
}

const place = ({ w, b }) => `w = ${short(w)}, b = ${short(b)}`;
const inside = ({ w, b }, { w: [left, right], b: [low, high] }) => w >= left && w <= right && b >= low && b <= high;

/** Where two paths of descent lead, without and with clipping; `frame` is what the picture shows of w and b. */
export function descended(plain, clipped, { clip, rate, frame }) {
  const [{ step, length, from, to }, steps] = [longestStep(plain), plain.length - 1];
  const end = (points) => short(points[steps].loss, 2);
  const stays = plain[step].norm < 0.01 && short(to.loss, 2) === end(plain);
  const out = inside(to, frame) ? "" : ", out of the picture";
  const first = length > 0.5
    ? `Without clipping, step ${step} throws the point from ${place(from)} to ${place(to)}${out}: there the loss is ` +
      `${short(to.loss, 2)}, ${stays ? "and the ground so flat that it stays" :}`after ${steps} steps ${end(plain)}`}.`
    : `Without clipping, no step is longer than ${short(length, 2)}, and after ${steps} steps the loss is ${end(plain)}.`;
  const second = clipped.some(({ norm }) => norm > clip)
    ? `With the norm clipped at ${clip}, no step is longer than ${short(rate * clip, 2)}, and after ${steps} steps ` +
      `the loss is ${end(clipped)}.`
    : `The gradient's norm never passes ${clip}, so clipping changes nothing.`;
  return `${first} ${second}`;
}
