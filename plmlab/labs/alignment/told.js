// What the Alignment Lab says: the finding, what the pointer is on, and what the hand did.

import { heaviest, holdAt } from "./numbers.js";
import { chance } from "../shared/softmax.js";
import { capital, listed, plural, quoted, share } from "../shared/words.js";

const SEEN = 0.1;
const MOVED = 0.005;

/** A word in quotes; one that stands in several places is told by its place, counted from 1. */
export const called = (words, i) =>
  `${quoted(words[i])}${words.indexOf(words[i]) === words.lastIndexOf(words[i]) ? "" :}` (word ${i + 1})`}`;

const steps = (partners, position) => partners.filter((pair) => pair[1] === position).map((pair) => pair[0]);
const positions = (partners, step) => partners.filter((pair) => pair[0] === step).map((pair) => pair[1]);

/** The title over what is drawn. */
export function finding({ now, gold, held, shut }) {
  const of = now.partners.length;
  const hit = of === 1 ? `; the one word with a known partner ${now.hits ? "looks" : "does not look"} there most`
    : of ? `; of the ${of} words with a known partner, ${now.hits || "none"} ${now.hits < 2 ? "looks" : "look"} there most` : "";
  if (gold) return `${now.exact ? "The translation is right" :}`${now.right} of ${gold.length} words are right`}${hit}`;
  const least = now.p.indexOf(Math.min(...now.p));
  const hand = held.length + shut.length ? ", with your hand on it" : "";
  return `${plural(now.tokens.length, "word")} written${hand}; the least sure is ${called(now.tokens, least)} (p ${chance(now.p[least])})`;
}

/** What a step is, and where it looks. */
function stepSaid({ now }, step) {
  const wrong = now.positions && now.positions[step] === null ? ", wrong" : "";
  return `${called(now.tokens, step)} (p ${chance(now.p[step])}${wrong})`;
}

const handOn = ({ source }, held, step) => {
  const hold = holdAt(held, step);
  if (!hold) return "";
  return ` You put ${hold.share < 1 ?}`${share(hold.share)} of it` : "it"} on ${called(source, hold.position)}; Delete lets it go.`;
};

/** A written word: its whole row in one sentence. */
export function rowSaid(state, looks, held, step) {
  const row = looks.row(step);
  const partners = positions(state.now.partners, step);
  const most = [...row.keys()].filter((position) => row[position] >= SEEN).sort((a, b) => row[b] - row[a] || a - b).slice(0, 3);
  const on = (position, i) => `${share(row[position])}${i ? "" : " of its look"} on ${called(state.source, position)}` +
    `${partners.includes(position) ? ", its partner" : ""}`;
  const looked = most.length ? listed(most.map(on))
    : row.some((weight) => weight > 0) ? "its look is spread thin, nowhere as much as 10 %" : "it looks at nothing";
  const missed = partners.filter((position) => !most.includes(position))
    .map((position) => `; its partner ${called(state.source, position)} has ${share(row[position])}`).join("");
  return `${stepSaid(state, step)}: ${looked}${missed}.${handOn(state, held, step)}`;
}

/** A source word: which written words looked at it. */
export function columnSaid(state, looks, shut, position, { asks = true } = {}) {
  const { now, source } = state;
  const name = called(source, position);
  if (shut.includes(position)) return `${name} is shut off: no step may look at it.${asks ? " Click, or press Enter, to open it." : ""}`;
  const all = Array.from({ length: looks.steps }, (_, step) => looks.at(step, position));
  const most = [...all.keys()].filter((step) => all[step] >= SEEN).sort((a, b) => all[b] - all[a] || a - b).slice(0, 3);
  const gives = most.map((step, i) => `${called(now.tokens, step)} ${i ? "" : "gives it "}${share(all[step])}${i ? "" : " of its look"}`);
  const total = all.reduce((sum, weight) => sum + weight, 0);
  const partners = steps(now.partners, position).map((step) => ` Its partner is ${called(now.tokens, step)}.`).join("");
  return `${name}: ${gives.length ? listed(gives) : "no written word gives it as much as 10 %"}; in all it has ` +
    `${total.toFixed(1)} of ${looks.steps} looks.${partners}${asks ? " Click, or press Enter, to shut it off." : ""}`;
}

/** One cell: how much of a step's look lies on a source word. */
export function cellSaid(state, looks, { held, shut, asks = true }, step, position) {
  const row = looks.row(step);
  const most = heaviest(row);
  const partner = positions(state.now.partners, step).includes(position) ? ", its partner" : "";
  const here = `${stepSaid(state, step)} puts ${share(row[position])} of its look on ${called(state.source, position)}${partner}`;
  const rank = most === position ? ": its heaviest link." : `; its heaviest link is on ${called(state.source, most)} (${share(row[most])}).`;
  const mine = handOn(state, held, step);
  const does = !asks || mine ? "" : shut.includes(position) ? " It is shut off." : " Click, or press Enter, to put all of it there.";
  return `${here}${rank}${mine}${does}`;
}

/** What the hand is on: "you put the look of “钥匙” on “table”". */
function handlesSaid({ before, source }, held, shut) {
  const put = held.slice(0, 2).map((one) => `you put ${one.share < 1 ?}`${share(one.share)} of ` : ""}the look of ` +
    `${before.tokens[one.step] === undefined ?}`step ${one.step + 1}` : called(before.tokens, one.step)} on ${called(source, one.position)}`);
  const more = held.length > 2 ? [`moved ${plural(held.length - 2, "more look")}`] : [];
  const off = shut.length ? [`shut ${listed(shut.slice(0, 3).map((position) => called(source, position)))}` +
    `${shut.length > 3 ?}` and ${shut.length - 3} more` : ""} off`] : [];
  const done = [...put, ...more, ...off];
  return capital(done.length === off.length ? `you ${listed(done)}` : listed(done));
}

/** What became of the translation. */
function effectSaid({ before, now, gold }, { count, first }) {
  if (!count) {
    const moved = now.p.map((p, step) => Math.abs(p - before.p[step]));
    const most = moved.indexOf(Math.max(...moved));
    return moved[most] < MOVED ? "no word changed, nor any probability by as much as 0.005."
      : `no word changed; ${called(now.tokens, most)} had p ${chance(before.p[most])} and has ${chance(now.p[most])}.`;
  }
  const [i, j] = first;
  const what = i === null ? `${called(now.tokens, j)} came in` : j === null ? `${called(before.tokens, i)} went`
    : `${called(before.tokens, i)} became ${called(now.tokens, j)}`;
  const right = gold ? ` Right words: ${before.right} before, ${now.right} now, of ${gold.length}.` : "";
  return `${plural(count, "word")} changed${count > 1 ?}`, the first at step ${(j ?? i) + 1}` : ""}: ${what}.${right}`;
}

/** What the hand did, in a sentence or two; "" where it is on nothing. */
export const handSaid = (state, held, shut, changes) =>
  (held.length + shut.length ? `${handlesSaid(state, held, shut)}: ${effectSaid(state, changes)}` : "");

/** What the rows of the matrix are called, and what that does to the partners that are hit. */
export function labelSaid(labelled, tokens, { written, read, of }) {
  const hit = (count) => `${count} of ${plural(of, "partner")} ${count === 1 ? "is" : "are"} hit`;
  if (labelled === "written") return of ? `A row is the look with which its word was written: ${hit(written)}.` : "A row is the look with which its word was written.";
  const fall = of ? ` ${capital(hit(read))}; with rows named by what was written, ${written}.` : "";
  const row = Math.min(1, tokens.length - 1);
  return `Now a row is named by the word that the decoder had just read: the row ${quoted(row ? tokens[0] : "[START]")} is the look that wrote ` +
    `${quoted(tokens[row])}.${fall} Nothing but the labels changed: so attention is drawn one off by mistake (tensor2tensor#898).`;
}
