// An order that a reader makes: one of it moved to another place, by a hand or by a key.

import { clamp } from "./dom.js";

/** px: what is pulled less far is a click. */
export const DRAGGED = 4;

/** The order with what stands at one place of it moved to another. */
export function moved(order, from, to) {
  const others = order.filter((_, place) => place !== from);
  return [...others.slice(0, to), order[from], ...others.slice(to)];
}

/** Where a key leads from a place among `count`, or moves what stands there; null if nowhere. */
export function placeAfter(key, place, count) {
  const to = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: count - 1 }[key];
  return to === undefined ? null : clamp(to, 0, count - 1);
}
