// Reordering a list by dragging or with the keyboard.

import { clamp } from "./dom.js";

/** px: a shorter movement counts as a click. */
export const DRAGGED = 4;

/** The list with the element at index `from` moved to index `to`. */
export function moved(order, from, to) {
  const others = order.filter((_, place) => place !== from);
  return [...others.slice(0, to), order[from], ...others.slice(to)];
}

/** The index among `count` that a keyboard key moves to from `place`, or null for any other key. */
export function placeAfter(key, place, count) {
  const to = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: count - 1 }[key];
  return to === undefined ? null : clamp(to, 0, count - 1);
}
