// Descriptions in the Memory Recall Lab: a step, a block, the answer and its cost, and the question to the reader.

import { pieces } from "../shared/probabilities.js";
import { capital, decimal, listed, number, plural, quoted } from "../shared/words.js";

/** Joins tokens to text. */
export const prose = (tokens) => pieces(tokens, []).map(({ text, space }) => (space ? " " : "") + text).join("");

const named = (n) => `block ${number(n + 1)}`;
const score = (value) => decimal(value);
const joint = (parts) => listed(parts.map(String));

/** “block 3” or “blocks 3, 7 and 9”; with scores, “blocks 3 (0.92) and 7 (0.31)”. */
export function blocksSaid(all, scores = null) {
  const names = all.map((n) => number(n + 1) + (scores?.[n] == null ? "" : ` (${score(scores[n])})`));
  return all.length ? `${all.length > 1 ? "blocks" : "block"} ${joint(names)}` : "no block";
}

/** The title of a step. */
export function titleOf({ kind, round }) {
  return { competition: `Round ${round}: retrieval competition`, rehearsal: `Round ${round}: rehearsal and decay`,
    answer: "Answer" }[kind];
}

/** What happened at a step. */
export function stepSaid(state, step) {
  const { kind, windows, scores, memory, size, entered, dropped, ended } = state.steps[step];
  if (kind === "answer") {
    return `The reasoner read the query and ${blocksSaid(memory)} (${size} of at most ${state.capacity} tokens) and ` +
      `predicted ${quoted(state.answer.text)}, in ${named(state.answer.position)}.`;
  }
  if (kind === "rehearsal") {
    const scored = `The judge scored ${plural(memory.length + dropped.length, "block")} of the memory together, in one window.`;
    return dropped.length
      ? `${scored} The memory keeps ${blocksSaid(memory, scores)}; ${blocksSaid(dropped, scores)} decayed.`
      : `${scored} No block decayed, so this is the last round.`;
  }
  const held = memory.filter((n) => !entered.includes(n));
  if (!windows) return `No block competed, because none fits next to ${blocksSaid(held)} in the memory.`;
  const scored = scores.filter((one) => one !== null).length;
  const beside = held.length ? `the query and ${blocksSaid(held)}` : "the query";
  const next = ended === null ? "" : ` The next, ${blocksSaid([ended], scores)}, did not fit.`;
  return `The judge scored ${plural(scored, "block")} in ${plural(windows, "window")}, each with ${beside}. ` +
    `${capital(blocksSaid(entered, scores))} entered the memory.${next}`;
}

/** The marks of a block at a step, as [[sign, meaning]]. */
export function marksOf(state, step, n, needed) {
  const { kind, memory, entered, dropped } = state.steps[step];
  return [
    ...(entered.includes(n) ? [["+", "entered the memory"]] : memory.includes(n) ? [["●", "in the memory"]] : []),
    ...(dropped.includes(n) ? [["−", "decayed"]] : []),
    ...(kind === "answer" && state.answer.position === n ? [["✓", "contains the predicted answer"]] : []),
    ...(state.held.includes(n) ? [["■", "held by you"]] : []),
    ...(state.excluded.includes(n) ? [["×", "excluded by you"]] : []),
    ...(state.edits[n] === undefined ? [] : [["✎", "rewritten by you"]]),
    ...(needed && state.blocks[n].needed ? [["★", "needed for the answer"]] : []),
  ];
}

/** Why a block has no score at a step. */
function unscored(state, { kind, memory }, n) {
  if (state.excluded.includes(n)) return "not scored, because it is excluded";
  if (kind !== "competition") return "not scored, because it is not in the memory";
  return memory.includes(n) ? "not scored, because it was already in the memory"
    : "not scored, because it is longer than the room left in the memory";
}

/** The score of a block, its rank and its marks. */
export function blockSaid(state, step, n, needed) {
  const now = state.steps[step];
  const own = now.scores[n];
  const scored = now.scores.filter((one) => one !== null);
  const where = now.kind === "competition" ? `the retrieval competition of round ${now.round}`
    : `the rehearsal of round ${now.round}`;
  const said = own === null ? unscored(state, now, n)
    : `relevance score ${score(own)} in ${where}, rank ${scored.filter((one) => one > own).length + 1} of ${scored.length}`;
  return [`Block ${number(n + 1)}: ${said}`, ...marksOf(state, step, n, needed).map(([, meaning]) => meaning)].join("; ");
}

const answered = ({ text, position }) => `${quoted(text)} (${named(position)})`;
const letters = (text) => text.replaceAll(/\s/g, "");

/** The answers without and with the reader's changes; "" without changes. */
export const pairSaid = ({ before, answer }) => (before === null ? ""
  : `Without your changes: ${answered(before)}; with your changes: ${answered(answer)}.`);

/** Whether the answer is correct; null if that is unknown. */
export function verdictOf({ correct, answer }) {
  if (!correct) return null;
  const good = letters(correct) === letters(answer.text);
  return { good, text: good ? "✓ correct" : `✗ the correct answer is ${quoted(correct)}` };
}

/** The rows of the cost table: [label, query–key pairs]. */
export const costRows = ({ cost }) => [
  [`full attention on all ${number(cost.tokens)} tokens`, cost.full],
  [`MemRecall: ${plural(cost.windows, "window")} of the judge, one of the reasoner`, cost.judge + cost.reasoner],
];

/** The question to the reader and its answer. */
export function guessOf(state) {
  const { memory } = state.steps.at(-1);
  const needed = state.blocks.flatMap((block, n) => (block.needed ? [n] : []));
  const lost = needed.filter((n) => !memory.includes(n));
  const outcome = lost.length ? `${capital(blocksSaid(lost))} ${lost.length > 1 ? "are" : "is"} missing from the final memory.`
    : `All of them are in the final memory.`;
  return ["Which blocks must be in the memory to answer this question?", needed.length
    ? `${capital(blocksSaid(needed))}. ${needed.map((n) => quoted(prose(state.blocks[n].tokens))).join(" ")} ${outcome}`
    : `This is unknown for this question. The final memory has ${blocksSaid(memory)}.`];
}
