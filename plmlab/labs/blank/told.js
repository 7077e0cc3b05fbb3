// What the Blank Lab says in words: of a position, of a step, of what was filled in, of how long a blank may be.

import { decimal, ordinal, percent, plural, quoted } from "../shared/words.js";

export const VERBS = ["may look at", "may not look at"];

/** The turn, from 0, of the blank that a position of Part B belongs to; −1 in Part A. */
export function turnOf({ read, sizes }, position) {
  let end = read;
  return position < read ? -1 : sizes.findIndex((size) => position < (end += size));
}

/** Where Part A and each blank begin and end, [{ name, first, end }]. */
export function partsOf({ read, sizes }) {
  let end = read;
  return [{ name: "Part A", first: 0, end: read },
    ...sizes.map((size, turn) => ({ name: `Part B, ${ordinal(turn + 1)}`, first: end, end: (end += size) }))];
}

/** Why a position has its two positions, and what it must say. */
export function positionSaid(state, position) {
  const [place, inside] = [state.position_ids[0][position], state.position_ids[1][position]];
  const name = state.names[position];
  if (position < state.read) {
    const blank = state.inputs[position] === "[MASK]" ? " One [MASK] stands for the whole span, and does not tell how many words that is." : "";
    return `Position 1 of ${name} is ${place}: its place in Part A, counted from 1. Position 2 is 0: it stands in no ` +
      `blank. It has nothing to say.${blank}`;
  }
  const turn = turnOf(state, position);
  const says = state.targets[position] === "[END]" ? "It must say [END]: the blank is over." :
    `It must say ${quoted(state.targets[position])}, the next word of its blank.`;
  return `Position 1 of ${name} is ${place}: the place of its [MASK], the same in all of the blank that is filled ` +
    `${ordinal(turn + 1)}. Position 2 is ${inside}: its place in the blank, [START] being 1. ${says}`;
}

/** The text at a step: { word, blank, now }, a piece each; a blank that is not begun has the word null. */
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

/** What is asked at a step, and who believes what of the end. */
export function stepSaid(state, step) {
  const { steps, order } = state;
  if (step === steps.length) return "All blanks are filled.";
  const { blank, written, rows, model, exact } = steps[step];
  const turn = order.indexOf(blank);
  const begun = written.length ? `${quoted(written.join(" "))} is written` : "nothing is written yet";
  const end = rows.find(({ word }) => word === "[END]");
  const beliefs = [...(model ? [`the model gives ${percent(end.p)}`] : []), ...(exact ? [`the exact reader ${percent(end.best)}`] : [])];
  return `The blank that is filled ${ordinal(turn + 1)}: ${begun}. That it ends here` +
    `${beliefs.length ?}`: ${beliefs.join(", ")}` : ", nobody can tell"}.`;
}

/** What a step's rows leave out, { p, best }; null for a reader that is missing. */
export function restOf({ rows, model, exact }) {
  const left = (role) => {
    const rest = 1 - rows.reduce((sum, row) => sum + row[role], 0);
    return rest < 1e-9 ? 0 : rest;
  };
  return { p: model ? left("p") : null, best: exact ? left("best") : null };
}

/** What stood in the blanks costs; "" where nobody can tell. */
export function paidSaid({ paid, steps }) {
  const parts = [...(paid.model === null ? [] : [`the model ${decimal(paid.model)} nats`]),
    ...(paid.exact === null ? [] : [`the exact reader ${decimal(Math.max(0, paid.exact))} nats`])];
  return parts.length && steps.length ? `To say what really stood in the blanks, [END]s counted, costs ${parts.join(", ")}.` : "";
}

/** The lengths that either reader thinks possible, [{ words, p, best, own }]; null where a reader is missing. */
export function lengthRows({ model, exact, true: own }) {
  const [p, best] = [new Map(model), new Map(exact)];
  const all = [...new Set([...p.keys(), ...best.keys(), own])].sort((a, b) => a - b);
  return all.map((words) => ({ words, p: p.size ? p.get(words) ?? 0 : null, best: best.size ? best.get(words) ?? 0 : null,
    own: words === own }));
}

/** What those rows say, in a sentence; `world` tells whether there is one, and so an exact reader. */
export function lengthsSaid({ model, exact, true: own }, draws, world) {
  const sources = [...(model.length ? [`The model: shares of ${draws} fillings drawn from it.`] : []),
    ...(exact.length ? ["The exact reader: its posterior, given the words in sight and what was filled before."]
      : [world ? "No exact posterior here: no sentence of the Small World fits."
        : "No world was given, so there is no exact reader."])];
  return `It held ${plural(own, "word")}. ${sources.join(" ")}`;
}
