// Texts of the Gate Lab: a cell of the map, the scores of a label, the holds, the next word.

import { chance } from "../shared/softmax.js";
import { capital, decimal, share } from "../shared/words.js";

export const SORTS = { number: "the number of the subject", inside: "being inside a name",
  left: "the distance to the end", moving: "the range of the cell state" };
export const DRAWN = { memory: "cell state c", input: "input gate i", forget: "forget gate f", output: "output gate o",
  candidate: "candidate g" };
export const HIGHER = { number: ["plural", "singular"], inside: ["inside a name", "outside"],
  left: ["far from the end", "near the end"] };
const GROUPS = { singular: "singular verbs", plural: "plural verbs", control: "control words" };
export const groupTitle = (name) => GROUPS[name];
const MOVED = 0.01;
const MARGIN = 0.05;

/** A score with two decimals, or three where two would round it up to 1. */
export const scored = (score) =>
  (score >= 0.995 && score < 1 ? decimal(Math.floor(1000 * score) / 1000, 3) : decimal(score));

const plain = (text) => ({ text, role: "" });
const word = (text) => ({ text, role: "word" });
const unitName = ({ layer, unit }) => `layer ${layer}, unit ${unit}`;

/** Whether a hold acts at a position. */
export const covers = ({ point, start }, step) => (point === "memory" ? step === start : step >= start);

/**
 * One cell of the map as text pieces [{ text, role }]: the value drawn, and the update c = f c + i g of the cell state.
 * `at` has the unit's `memory`, `input`, `forget`, `output`, `candidate` at this position, its previous cell state
 * `before`, and `was`, the cell state without holds; `holds` are those of this unit.
 */
export function cellSaid({ unit, step, name, drawn, at, holds }) {
  const here = holds.filter((hold) => covers(hold, step));
  const isHeld = (point) => here.some((hold) => hold.point === point);
  const gate = (point) => `${point} gate ${decimal(at[point])}${isHeld(point) ? ", clamped" : ""}`;
  const what = drawn === "memory" ? "cell state" : drawn === "candidate" ? "candidate" : `${drawn} gate`;
  const pieces = [plain(`${capital(unitName(unit))}: its ${what} is ${decimal(at[drawn])}${
    isHeld(drawn) ? " (clamped)" : ""} after “`), word(name), plain("”. ")];
  if (isHeld("memory")) pieces.push(plain("This cell state was set by hand, not computed by the gates. "));
  else {
    const kept = step ? `It keeps ${share(at.forget)} of its previous state ${decimal(at.before)} (${gate("forget")})`
      : "It starts from 0";
    const sum = drawn === "memory" ? "" : `, which gives a cell state of ${decimal(at.memory)}`;
    pieces.push(plain(`${kept} and adds ${share(at.input)} of the candidate ${decimal(at.candidate)} ` +
      `(${gate("input")}), i.e. ${decimal(at.input * at.candidate)}${sum}. `));
  }
  pieces.push(plain(`It outputs ${share(at.output)} of tanh c (${gate("output")}).`));
  if (at.was !== undefined && Math.abs(at.was - at.memory) >= 0.005) {
    pieces.push(plain(` Without clamping, its cell state would be ${decimal(at.was)}.`));
  }
  return pieces;
}

/** The finding above the map. */
export function finding(sort, figures) {
  if (sort === "moving") return "The units whose cell state varies most in this text";
  const { best, baseline, untrained, shuffled, by, measure } = figures[sort];
  const against = `${measure} ${scored(best)} against ${scored(baseline)}`;
  const without = Math.max(untrained, shuffled);
  if (best < without + MARGIN) {
    return `No unit encodes ${SORTS[sort]} much better than the controls (untrained LSTM, shuffled labels): ` +
      `${measure} ${scored(best)} against ${scored(without)}`;
  }
  return best > baseline ? `One unit encodes ${SORTS[sort]} better than ${by} does: ${against}`
    : `Some units encode ${SORTS[sort]}, but none as well as ${by}: ${against}`;
}

/** The figures that a label's scores are compared with, [[what, figure]], and a note about them. */
export function yardsticks(sort, figures) {
  const { best, baseline, untrained, shuffled, by, measure } = figures[sort];
  const [nothing, means] = measure === "AUC" ? ["0.5", "the fraction of pairs that the unit ranks correctly"]
    : ["0", "Spearman’s ρ"];
  const [up, down] = HIGHER[sort];
  return {
    rows: [["best unit of this LSTM", best], ["best unit of an untrained LSTM", untrained],
      ["best unit with shuffled labels", shuffled], [`no network: ${by}`, baseline]],
    note: `${measure}: ${means}; ${nothing} is chance level, 1 is perfect. Units were selected on one half of the ` +
      `sentences; all figures are for the other half. ↑ higher means ${up}, ↓ higher means ${down}.`,
  };
}

/** Description of a hold. */
export function holdText({ point, layer, unit, value, start }, names) {
  const whose = unitName({ layer, unit });
  const at = names[start] === undefined ? `step ${start}` : `“${names[start]}”`;
  if (point === "memory") return `${whose}: cell state set to ${decimal(value)} after ${at}`;
  const how = value === 0 ? "closed" : value === 1 ? "open" : `at ${decimal(value)}`;
  return `${whose}: ${point} gate ${how} ${start === 0 ? "throughout" : `from ${at} on`}`;
}

/** The holds with one added. It replaces a hold of the same gate, or of the same cell state at that position. */
export function holdsWith(holds, { point, layer, unit, value, start }) {
  const same = (hold) => hold.point === point && hold.layer === layer && hold.unit === unit &&
    (point !== "memory" || hold.start === start);
  return [...holds.filter((hold) => !same(hold)), { point, layer, unit, value, start }];
}

/** The next-word prediction, in a sentence or two. */
export function nextSaid({ rows, groups, moved }, name, held) {
  const top = (i) => rows.reduce((best, row) => (row[i] > best[i] ? row : best));
  const [first, now] = [top(1), top(2)];
  if (!held) return `After “${name}” the top prediction is “${first[0]}”, with probability ${chance(first[1])}.`;
  const changed = rows.reduce((best, row) => (Math.abs(row[2] - row[1]) > Math.abs(best[2] - best[1]) ? row : best));
  const direction = changed[2] > changed[1] ? "rises" : "falls";
  const change = `p(“${changed[0]}”) ${direction} from ${chance(changed[1])} to ${chance(changed[2])}` +
    `${now[0] === first[0] ? "" : `, and “${now[0]}” is now the top prediction`}. `;
  const sums = `Total variation distance: ${moved.verbs.toFixed(2)} among the verbs, ${moved.control.toFixed(2)} ` +
    `among the control words, which have no grammatical number (their mass was ${groups.control[0].toFixed(2)}). `;
  if (moved.verbs < MOVED && moved.control < MOVED) {
    return "No group changes by 0.01 or more: the model does not use the clamped values here.";
  }
  return change + sums + (moved.verbs > 3 * moved.control ? "Clamping affects the verb and little else."
    : moved.verbs >= moved.control ? "Clamping affects the verb, and other words too."
      : "Clamping affects other words more than the verb.");
}
