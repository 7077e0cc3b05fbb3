// What the Gate Lab says in words: of a cell of the map, of a label's scores, of what is held, of the next word.

import { chance } from "../shared/softmax.js";
import { capital, decimal, share } from "../shared/words.js";

export const SORTS = { number: "the number of the subject", inside: "being inside a name",
  left: "the distance to the end", moving: "how far the memory moves" };
export const DRAWN = { memory: "memory c", input: "input gate i", forget: "forget gate f", output: "output gate o",
  candidate: "candidate g" };
export const HIGHER = { number: ["plural", "singular"], inside: ["inside a name", "outside"],
  left: ["far from the end", "near it"] };
const GROUPS = { singular: "singular verbs", plural: "plural verbs", control: "control words" };
export const groupTitle = (name) => GROUPS[name];
const MOVED = 0.01;
const MARGIN = 0.05;

/** A score with two decimals, or as many as keep it from looking perfect. */
export const scored = (score) =>
  (score >= 0.995 && score < 1 ? decimal(Math.floor(1000 * score) / 1000, 3) : decimal(score));

const plain = (text) => ({ text, role: "" });
const word = (text) => ({ text, role: "word" });
const unitName = ({ layer, unit }) => `layer ${layer}, unit ${unit}`;

/** Whether a hold acts at a step. */
export const covers = ({ point, start }, step) => (point === "memory" ? step === start : step >= start);

/**
 * One cell of the map as pieces [{ text, role }]: what is drawn, and the sum c = f c + i g that made the memory.
 * `at` has the unit's `memory`, `input`, `forget`, `output`, `candidate` at this step, its memory `before` it, and
 * `was`, the memory if nothing were held; `holds` are those of this unit.
 */
export function cellSaid({ unit, step, name, drawn, at, holds }) {
  const here = holds.filter((hold) => covers(hold, step));
  const isHeld = (point) => here.some((hold) => hold.point === point);
  const gate = (point) => `${point} gate ${decimal(at[point])}${isHeld(point) ? ", held" : ""}`;
  const what = drawn === "memory" ? "memory" : drawn === "candidate" ? "candidate" : `${drawn} gate`;
  const pieces = [plain(`${capital(unitName(unit))}: its ${what} is ${decimal(at[drawn])}${
    isHeld(drawn) ? " (held)" : ""} after “`), word(name), plain("”. ")];
  if (isHeld("memory")) pieces.push(plain("This memory was written; the gates did not make it. "));
  else {
    const kept = step ? `It keeps ${share(at.forget)} of the ${decimal(at.before)} that it held (${gate("forget")})`
      : "It held nothing yet";
    const made = drawn === "memory" ? "" : `, which makes a memory of ${decimal(at.memory)}`;
    pieces.push(plain(`${kept} and takes in ${share(at.input)} of ${decimal(at.candidate)} (${gate("input")}), that ` +
      `is ${decimal(at.input * at.candidate)}${made}. `));
  }
  pieces.push(plain(`It shows ${share(at.output)} of tanh c (${gate("output")}).`));
  if (at.was !== undefined && Math.abs(at.was - at.memory) >= 0.005) {
    pieces.push(plain(` With nothing held, its memory would be ${decimal(at.was)}.`));
  }
  return pieces;
}

/** The finding above the map. */
export function finding(sort, figures) {
  if (sort === "moving") return "The units whose memory moves farthest in this text";
  const { best, baseline, untrained, shuffled, by, measure } = figures[sort];
  const against = `${measure} ${scored(best)} against ${scored(baseline)}`;
  const without = Math.max(untrained, shuffled);
  if (best < without + MARGIN) {
    return `No unit tells ${SORTS[sort]} much better than one that learned nothing, or luck: ${measure} ` +
      `${scored(best)} against ${scored(without)}`;
  }
  return best > baseline ? `One unit tells ${SORTS[sort]} better than ${by} does: ${against}`
    : `Units tell ${SORTS[sort]}, but none as well as ${by} does: ${against}`;
}

/** What stands beside a label's scores, [[what, figure]], and what the figures mean. */
export function yardsticks(sort, figures) {
  const { best, baseline, untrained, shuffled, by, measure } = figures[sort];
  const [nothing, means] = measure === "AUC" ? ["0.5", "the share of pairs that the unit puts in the right order"]
    : ["0", "Spearman’s"];
  const [up, down] = HIGHER[sort];
  return {
    rows: [["the best unit here", best], ["the best of an untrained LSTM", untrained],
      ["the best here, for other sentences’ labels", shuffled], [`no network: ${by}`, baseline]],
    note: `${measure}: ${means}; ${nothing} tells nothing, 1 tells all. Units were chosen on half of the sentences; ` +
      `all figures are of the other half. ↑ higher means ${up}, ↓ higher means ${down}.`,
  };
}

/** A hold in words. */
export function holdText({ point, layer, unit, value, start }, names) {
  const whose = unitName({ layer, unit });
  const at = names[start] === undefined ? `step ${start}` : `“${names[start]}”`;
  if (point === "memory") return `${whose}: memory set to ${decimal(value)} after ${at}`;
  const how = value === 0 ? "shut" : value === 1 ? "open" : `at ${decimal(value)}`;
  return `${whose}: ${point} gate ${how} ${start === 0 ? "throughout" :}`from ${at} on`}`;
}

/** What is held with one hold more, in the place of one of the same gate, or of the same memory at the same step. */
export function holdsWith(holds, { point, layer, unit, value, start }) {
  const same = (one) => one.point === point && one.layer === layer && one.unit === unit &&
    (point !== "memory" || one.start === start);
  return [...holds.filter((one) => !same(one)), { point, layer, unit, value, start }];
}

/** What the model says next, in a sentence or two. */
export function nextSaid({ rows, groups, moved }, name, held) {
  const top = (i) => rows.reduce((best, row) => (row[i] > best[i] ? row : best));
  const [first, now] = [top(1), top(2)];
  if (!held) return `After “${name}” the model says “${first[0]}” first, with ${chance(first[1])}.`;
  const apart = rows.reduce((best, row) => (Math.abs(row[2] - row[1]) > Math.abs(best[2] - best[1]) ? row : best));
  const way = apart[2] > apart[1] ? "rises" : "falls";
  const told = `“${apart[0]}” ${way} from ${chance(apart[1])} to ${chance(apart[2])}` +
    `${now[0] === first[0] ? "" :}`, and “${now[0]}” is first now`}. `;
  const sums = `Moved: ${moved.verbs.toFixed(2)} of the mass among the verbs, ${moved.control.toFixed(2)} among the ` +
    `control words, which show no number (they had ${groups.control[0].toFixed(2)}). `;
  if (moved.verbs < MOVED && moved.control < MOVED) {
    return "Nothing moves by as much as 0.01: what is held is not needed here.";
  }
  return told + sums + (moved.verbs > 3 * moved.control ? "What was held bears on the verb, and on little else."
    : moved.verbs >= moved.control ? "It bears on the verb, and on other words too."
      : "It bears on other words more than on the verb.");
}
