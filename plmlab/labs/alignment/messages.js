// The sentences of the Alignment Lab: the finding, the word or cell under the pointer, the effect of interventions.

import { heaviest, holdAt } from "./numbers.js";
import { chance } from "../shared/softmax.js";
import { capital, listed, plural, quoted, share } from "../shared/words.js";

const SEEN = 0.1;
const MOVED = 0.005;

/** A word in quotes; a word that occurs more than once gets its number, counted from 1. */
export const called = (words, i) =>
  `${quoted(words[i])}${words.indexOf(words[i]) === words.lastIndexOf(words[i]) ? "" : ` (word ${i + 1})`}`;

const steps = (partners, position) => partners.filter((pair) => pair[1] === position).map((pair) => pair[0]);
const positions = (partners, step) => partners.filter((pair) => pair[0] === step).map((pair) => pair[1]);

/** The title of the drawing. */
export function finding({ now, gold, moved, masked }) {
  const of = now.partners.length;
  const hit = of ? `; the largest weights recover ${now.hits} of ${plural(of, "gold link")}` : "";
  if (gold) return `${now.exact ? "The translation is correct" : `${now.right} of ${gold.length} words are correct`}${hit}`;
  const least = now.p.indexOf(Math.min(...now.p));
  const hand = moved.length + masked.length ? ", with your interventions" : "";
  return `${plural(now.tokens.length, "word")} generated${hand}; the least certain is ${called(now.tokens, least)} (p ${chance(now.p[least])})`;
}

/** A step: its word and probability. */
function stepSaid({ now }, step) {
  const wrong = now.positions && now.positions[step] === null ? ", wrong" : "";
  return `${called(now.tokens, step)} (p ${chance(now.p[step])}${wrong})`;
}

const handOn = ({ source }, moved, step) => {
  const hold = holdAt(moved, step);
  if (!hold) return "";
  return ` You moved ${hold.share < 1 ? `${share(hold.share)} of ` : ""}its attention to ${called(source, hold.position)}; press Delete to release it.`;
};

/** A target word: its row of attention weights in one sentence. */
export function rowSaid(state, looks, moved, step) {
  const row = looks.row(step);
  const partners = positions(state.now.partners, step);
  const most = [...row.keys()].filter((position) => row[position] >= SEEN).sort((a, b) => row[b] - row[a] || a - b).slice(0, 3);
  const on = (position, i) => `${share(row[position])}${i ? "" : " of its attention"} on ${called(state.source, position)}` +
    `${partners.includes(position) ? ", the aligned word" : ""}`;
  const attended = most.length ? listed(most.map(on))
    : row.some((weight) => weight > 0) ? "its attention is spread out, with less than 10 % on every word" : "it attends to nothing";
  const missed = partners.filter((position) => !most.includes(position))
    .map((position) => `; the aligned word ${called(state.source, position)} gets ${share(row[position])}`).join("");
  return `${stepSaid(state, step)}: ${attended}${missed}.${handOn(state, moved, step)}`;
}

/** A source word: which target words attended to it. */
export function columnSaid(state, looks, masked, position, { asks = true } = {}) {
  const { now, source } = state;
  const name = called(source, position);
  if (masked.includes(position)) return `${name} is masked: no step can attend to it.${asks ? " Click, or press Enter, to unmask it." : ""}`;
  const all = Array.from({ length: looks.steps }, (_, step) => looks.at(step, position));
  const most = [...all.keys()].filter((step) => all[step] >= SEEN).sort((a, b) => all[b] - all[a] || a - b).slice(0, 3);
  const gives = most.map((step, i) => `${called(now.tokens, step)} ${i ? "" : "gives it "}${share(all[step])}${i ? "" : " of its attention"}`);
  const total = all.reduce((sum, weight) => sum + weight, 0);
  const partners = steps(now.partners, position).map((step) => ` The aligned word is ${called(now.tokens, step)}.`).join("");
  return `${name}: ${gives.length ? listed(gives) : "no target word gives it 10 % or more"}; its weights over ` +
    `${looks.steps} steps add up to ${total.toFixed(1)}.${partners}${asks ? " Click, or press Enter, to mask it." : ""}`;
}

/** One cell: the attention weight of a step on a source word. */
export function cellSaid(state, looks, { moved, masked, asks = true }, step, position) {
  const row = looks.row(step);
  const most = heaviest(row);
  const partner = positions(state.now.partners, step).includes(position) ? ", the aligned word" : "";
  const here = `${stepSaid(state, step)} puts ${share(row[position])} of its attention on ${called(state.source, position)}${partner}`;
  const rank = most === position ? ": its largest weight." : `; its largest weight is on ${called(state.source, most)} (${share(row[most])}).`;
  const mine = handOn(state, moved, step);
  const does = !asks || mine ? "" : masked.includes(position) ? " It is masked." : " Click, or press Enter, to move all of it there.";
  return `${here}${rank}${mine}${does}`;
}

/** The interventions: "you moved the attention of “钥匙” to “table”". */
function handlesSaid({ before, source }, moved, masked) {
  const put = moved.slice(0, 2).map((one) => `you moved ${one.share < 1 ? `${share(one.share)} of ` : ""}the attention of ` +
    `${before.tokens[one.step] === undefined ? `step ${one.step + 1}` : called(before.tokens, one.step)} to ${called(source, one.position)}`);
  const more = moved.length > 2 ? [`changed ${plural(moved.length - 2, "more step")}`] : [];
  const off = masked.length ? [`masked ${listed(masked.slice(0, 3).map((position) => called(source, position)))}` +
    `${masked.length > 3 ? ` and ${masked.length - 3} more` : ""}`] : [];
  const done = [...put, ...more, ...off];
  return capital(done.length === off.length ? `you ${listed(done)}` : listed(done));
}

/** The effect on the translation. */
function effectSaid({ before, now, gold }, { count, first }) {
  if (!count) {
    const moved = now.p.map((p, step) => Math.abs(p - before.p[step]));
    const most = moved.indexOf(Math.max(...moved));
    return moved[most] < MOVED ? "no word changed, and no probability changed by 0.005 or more."
      : `no word changed; the probability of ${called(now.tokens, most)} went from ${chance(before.p[most])} to ${chance(now.p[most])}.`;
  }
  const [i, j] = first;
  const what = i === null ? `${called(now.tokens, j)} was added` : j === null ? `${called(before.tokens, i)} was removed`
    : `${called(before.tokens, i)} became ${called(now.tokens, j)}`;
  const right = gold ? ` Correct words: ${before.right} before, ${now.right} now, of ${gold.length}.` : "";
  return `${plural(count, "word")} changed${count > 1 ? `, the first at step ${(j ?? i) + 1}` : ""}: ${what}.${right}`;
}

/** The interventions and their effect in a sentence or two; "" if there are none. */
export const handSaid = (state, moved, masked, changes) =>
  (moved.length + masked.length ? `${handlesSaid(state, moved, masked)}: ${effectSaid(state, changes)}` : "");

/** The row labels of the matrix, and how they change the number of gold links recovered. */
export function labelSaid(labelled, tokens, { written, read, of }) {
  const hit = (count) => `the largest weights recover ${count} of ${plural(of, "gold link")}`;
  const correct = "A row is the attention at the step that generated its word";
  if (labelled === "written") return of ? `${correct}: ${hit(written)}.` : `${correct}.`;
  const fall = of ? ` ${capital(hit(read))}, compared with ${written} under the correct labels.` : "";
  const row = Math.min(1, tokens.length - 1);
  return `Now a row is labelled by the decoder's last input word: the row ${quoted(row ? tokens[0] : "[START]")} is the attention ` +
    `that generated ${quoted(tokens[row])}.${fall} Only the labels changed: this is how attention plots come to be off by one (tensor2tensor#898).`;
}
