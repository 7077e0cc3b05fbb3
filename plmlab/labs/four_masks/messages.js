// The sentences of the Four-mask Lab: a pair under four masks, the context of the masked word, and its loss.

import { sentence } from "../shared/masks.js";
import { decimal, listedInQuotes } from "../shared/words.js";

export const VERBS = ["can attend to", "cannot attend to"];

/** The positions { q, k } of a pair of places under one mask; null if one of them does not exist. */
export function positionsOf({ places }, pair) {
  const [q, k] = [places.indexOf(pair.q), places.indexOf(pair.k)];
  return q < 0 || k < 0 ? null : { q, k };
}

/** The cause that decides a pair of positions. */
export const causeOf = ({ places, mask }, { q, k }) => mask.rule_ids[q * places.length + k];

/** Whether the masked position can attend to each position of a panel. */
export const inSight = (panel) => panel.places.map((_, k) => causeOf(panel, { q: panel.position, k }) > 0);

/** Why a position can or cannot attend to another, in pieces; null if the pair does not exist in this panel. */
export function reason(panel, pair) {
  const positions = positionsOf(panel, pair);
  return positions && sentence(panel.mask, causeOf(panel, positions), panel.names, positions, VERBS);
}

/** The masks that allow the pair, and those that block it. */
export function verdicts(panels, pair) {
  const there = panels.map((panel) => [panel, positionsOf(panel, pair)]).filter(([, positions]) => positions);
  const named = (open) => there.filter(([panel, positions]) => (causeOf(panel, positions) > 0) === open).map(([{ name }]) => name);
  const [open, closed] = [named(true), named(false)];
  if (there.length < 2) return `This pair exists only under ${listedInQuotes(there.map(([{ name }]) => name))}.`;
  if (!closed.length) return "The same pair is allowed under every mask in which it exists.";
  if (!open.length) return "The same pair is blocked under every mask in which it exists.";
  return `The same pair is allowed under ${listedInQuotes(open)}, and blocked under ${listedInQuotes(closed)}.`;
}

/** The context of the masked word, counted; it is the word `gap` of `count`. */
export function sightOf(panel, gap, count) {
  const sees = inSight(panel);
  const words = panel.places.filter((place, position) => Number.isInteger(place) && sees[position] && place !== gap);
  const before = words.filter((place) => place < gap).length;
  const parts = [[before, gap, "before it"], [words.length - before, count - gap - 1, "after it"]]
    .filter(([, all]) => all)
    .map(([seen, all, where], i) => `${seen} of ${all}${i ? "" : all === 1 ? " word" : " words"} ${where}, `);
  const end = sees[panel.places.indexOf("end")];
  if (!parts.length) return `The masked word ${end ? "sees" : "does not see"} the end.`;
  return `The masked word sees ${parts.join("")}${end ? "and" : "but not"} the end.`;
}

const nats = (value) => decimal(Math.max(0, value));

/** The loss on the masked word: of the model, and of the Bayes-optimal predictor if there is one. */
export function paidText({ own }) {
  if (!own) return "You typed [MASK] here, so the true word is unknown.";
  const best = own.best === null ? "" : own.best === 0 ? ", Bayes-optimal ∞: the word is impossible here"
    : `, Bayes-optimal ${nats(-Math.log(own.best))} nats`;
  return `−log p: model ${nats(own.nats)}${best || " nats"}`;
}
