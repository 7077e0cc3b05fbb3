// What the Four-mask Lab says in words: of a pair under four masks, of what the gap sees, and of what the word costs.

import { sentence } from "../shared/masks.js";
import { decimal, listedInQuotes } from "../shared/words.js";

export const VERBS = ["may look at", "may not look at"];

/** The positions { q, k } of a pair of places under one mask; null where one of them does not stand there. */
export function positionsOf({ places }, pair) {
  const [q, k] = [places.indexOf(pair.q), places.indexOf(pair.k)];
  return q < 0 || k < 0 ? null : { q, k };
}

/** What decides a pair of positions. */
export const causeOf = ({ places, mask }, { q, k }) => mask.rule_ids[q * places.length + k];

/** Whether the gap's position may look at each position of a panel. */
export const inSight = (panel) => panel.places.map((_, k) => causeOf(panel, { q: panel.position, k }) > 0);

/** Why a position may look at another, or may not, in pieces; null where the pair does not stand in this panel. */
export function reason(panel, pair) {
  const positions = positionsOf(panel, pair);
  return positions && sentence(panel.mask, causeOf(panel, positions), panel.names, positions, VERBS);
}

/** Under which masks the pair is open, and under which it is closed. */
export function verdicts(panels, pair) {
  const there = panels.map((panel) => [panel, positionsOf(panel, pair)]).filter(([, positions]) => positions);
  const named = (open) => there.filter(([panel, positions]) => (causeOf(panel, positions) > 0) === open).map(([{ name }]) => name);
  const [open, closed] = [named(true), named(false)];
  if (there.length < 2) return `Only ${listedInQuotes(there.map(([{ name }]) => name))} has this pair.`;
  if (!closed.length) return "The same pair is open under every mask that has it.";
  if (!open.length) return "The same pair is closed under every mask that has it.";
  return `The same pair is open under ${listedInQuotes(open)}, and closed under ${listedInQuotes(closed)}.`;
}

/** What the gap's position sees, counted: it is the word `gap` of `count`. */
export function sightOf(panel, gap, count) {
  const sees = inSight(panel);
  const words = panel.places.filter((place, position) => Number.isInteger(place) && sees[position] && place !== gap);
  const before = words.filter((place) => place < gap).length;
  const parts = [[before, gap, "before it"], [words.length - before, count - gap - 1, "behind it"]]
    .filter(([, all]) => all)
    .map(([seen, all, where], i) => `${seen} of ${all}${i ? "" : all === 1 ? " word" : " words"} ${where}, `);
  return `The gap sees ${parts.join("")}${parts.length ? "and " : ""}${sees[panel.places.indexOf("end")] ? "" : "not "}the end.`;
}

const nats = (value) => decimal(Math.max(0, value));

/** What the hidden word costs: the model, and the best possible reader where there is one. */
export function paidText({ own }) {
  if (!own) return "You typed [MASK] here: nobody knows a true word.";
  const best = own.best === null ? "" : own.best === 0 ? ", best possible ∞: for that reader it cannot stand here"
    : `, best possible ${nats(-Math.log(own.best))} nats`;
  return `−log p: model ${nats(own.nats)}${best || " nats"}`;
}
