// The sentences of the Blank Lab: a token, a step, the filled text, the length of a blank.

import { decimal, ordinal, percent, plural, quoted } from "../shared/words.js";

export const VERBS = ["can attend to", "cannot attend to"];

/** The turn, from 0, of the blank that a token of Part B belongs to; −1 in Part A. */
export function turnOf({ read, sizes }, position) {
  let end = read;
  return position < read ? -1 : sizes.findIndex((size) => position < (end += size));
}

/** The extents of Part A and of each blank, [{ name, first, end }]. */
export function partsOf({ read, sizes }) {
  let end = read;
  return [{ name: "Part A", first: 0, end: read },
    ...sizes.map((size, turn) => ({ name: `Part B, ${ordinal(turn + 1)}`, first: end, end: (end += size) }))];
}

/** The two positions of a token, and its target. */
export function positionSaid(state, position) {
  const [place, inside] = [state.position_ids[0][position], state.position_ids[1][position]];
  const name = state.names[position];
  if (position < state.read) {
    const blank = state.inputs[position] === "[MASK]" ? " One [MASK] stands for the whole span, whatever its length." : "";
    return `Position 1 of ${name} is ${place}: its position in Part A, counted from 1. Position 2 is 0, because it is ` +
      `not in a blank. It has no target.${blank}`;
  }
  const turn = turnOf(state, position);
  const says = state.targets[position] === "[END]" ? "Its target is [END], the end of the blank." :
    `Its target is ${quoted(state.targets[position])}, the next word of its blank.`;
  return `Position 1 of ${name} is ${place}: the position of its [MASK], the same for the whole blank that is filled ` +
    `${ordinal(turn + 1)}. Position 2 is ${inside}: its position within the blank, where [START] is 1. ${says}`;
}

/** The text at a step: [{ word, blank, now }, …]; the word of a blank that has not been started is null. */
export function textAt(state, step) {
  const written = new Map(state.order.map((blank) => [blank, null]));
  for (const { blank, said } of state.steps.slice(0, step)) {
    if (said !== "[END]") written.set(blank, [...(written.get(blank) ?? []), said]);
    else written.set(blank, written.get(blank) ?? []);
  }
  const now = state.steps[step]?.blank;
  const pieces = [];
  for (let place = 0; place < state.tokens.length;) {
    const blank = state.spans.findIndex(([begin]) => begin === place);
    if (blank < 0) pieces.push({ word: state.tokens[place], blank: -1, now: false });
    else pieces.push({ word: written.get(blank)?.join(" ") ?? null, blank, now: blank === now });
    place = blank < 0 ? place + 1 : state.spans[blank][1];
  }
  return pieces;
}

/** A step, and the probabilities that the blank ends there. */
export function stepSaid(state, step) {
  const { steps, order } = state;
  if (step === steps.length) return "All blanks are filled.";
  const { blank, written, rows, model, exact } = steps[step];
  const turn = order.indexOf(blank);
  const begun = written.length ? `${quoted(written.join(" "))} so far` : "empty so far";
  const end = rows.find(({ word }) => word === "[END]");
  const beliefs = [...(model ? [`${percent(end.p)} (model)`] : []), ...(exact ? [`${percent(end.best)} (exact)`] : [])];
  return `The blank that is filled ${ordinal(turn + 1)}: ${begun}. Probability of [END]: ` +
    `${beliefs.length ? beliefs.join(", ") : "unknown"}.`;
}

/** The probability not covered by a step's rows, { p, best }; null for a missing distribution. */
export function restOf({ rows, model, exact }) {
  const left = (role) => {
    const rest = 1 - rows.reduce((sum, row) => sum + row[role], 0);
    return rest < 1e-9 ? 0 : rest;
  };
  return { p: model ? left("p") : null, best: exact ? left("best") : null };
}

/** The loss on the original words of the blanks; "" if unknown. */
export function nllSaid({ nll, steps }) {
  const parts = [...(nll.model === null ? [] : [`${decimal(nll.model)} nats (model)`]),
    ...(nll.exact === null ? [] : [`${decimal(Math.max(0, nll.exact))} nats (exact)`])];
  return parts.length && steps.length ? `Loss on the original words of the blanks, [END]s included: ${parts.join(", ")}.` : "";
}

/** The possible lengths, [{ words, p, best, own }]; null for a missing distribution. */
export function lengthRows({ model, exact, true: own }) {
  const [p, best] = [new Map(model), new Map(exact)];
  const all = [...new Set([...p.keys(), ...best.keys(), own])].sort((a, b) => a - b);
  return all.map((words) => ({ words, p: p.size ? p.get(words) ?? 0 : null, best: best.size ? best.get(words) ?? 0 : null,
    own: words === own }));
}

/** The same in a sentence; `world`: whether there is a world, and so an exact posterior. */
export function lengthsSaid({ model, exact, true: own }, draws, world) {
  const sources = [...(model.length ? [`Model: proportions among ${draws} sampled fillings.`] : []),
    ...(exact.length ? ["Exact: the posterior given the visible words and the blanks filled earlier."]
      : [world ? "No exact posterior here: no sentence of the Small World fits."
        : "No world was given, so there is no exact posterior."])];
  return `It held ${plural(own, "word")}. ${sources.join(" ")}`;
}
