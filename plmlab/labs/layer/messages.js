// Descriptions of the figures of the Layer Lab.

import { DIRECTIONS, LAYERS } from "./maths.js";
import { capital, decimal, listed, plural, quoted, share } from "../shared/words.js";

export const SIDES = { left: "forward LSTM", right: "backward LSTM", both: "both directions" };
export const WHAT = {
  sense: "The nearest occurrence of the word form has the same sense",
  "sense elsewhere": "the same, counting only other sentence patterns",
  form: "The nearest occurrence of any word has the same word form",
  "form elsewhere": "the same, counting only other sentence patterns",
};
export const NAMED = {
  ...WHAT,
  "sense elsewhere": "The nearest occurrence of the word form in another sentence pattern has the same sense",
  "form elsewhere": "The nearest occurrence in another sentence pattern has the same word form",
};
const CHANCE = { sense: "the word's most frequent sense", "sense elsewhere": "the word's most frequent sense",
  form: "a random neighbour", "form elsewhere": "a random neighbour" };

/** The short name of a sense: river for “bank.river”. */
export const senseName = (sense) => sense.slice(sense.indexOf(".") + 1);

/** The pair of compared words. */
export const pairNamed = (one, other) =>
  (one === other ? `the two occurrences of ${quoted(one)}` : `${quoted(one)} and ${quoted(other)}`);

const same = (value) => value > 0.9995;

/** The title over the cosines. */
export function contextFinding(one, other, found) {
  const pair = pairNamed(one, other);
  const below = `At layer 0 ${pair} ${one === other ? "have the same vector" : `have cosine ${decimal(found[0][2])}`}`;
  const [left, right] = [0, 1].map((side) => LAYERS.slice(1).every((layer) => same(found[layer][side])));
  if (one === other && left !== right) {
    const [still, moves] = left ? ["left", 1] : ["right", 0];
    return `${below}, and in the ${SIDES[still]} they stay identical; in the ${SIDES[DIRECTIONS[moves]]} they diverge, ` +
      `to cosine ${decimal(found[2][moves])} at layer 2`;
  }
  if (one === other && left && right) return `${below}, and they stay identical: the sentences are the same`;
  return `${below}; with both directions, the cosine is ${decimal(found[1][2])} at layer 1 and ` +
    `${decimal(found[2][2])} at layer 2`;
}

/** One cosine, compared with that of different words. */
export function cosineSaid(one, other, layer, side, value, strangers) {
  const where = layer ? `layer ${layer}, ${SIDES[DIRECTIONS[side]]}` : "layer 0, computed from characters alone";
  const far = strangers < 0.999 ? (1 - value) / (1 - strangers) : 0;
  const why = one === other && same(value)
    ? (layer ? "this direction has seen the same words in both sentences" : "the context plays no part")
    : value >= 1 - 0.005 ? "they are nearly identical"
      : `their cosine distance is ${share(far)} of the average for two different words`;
  return `At ${where}, ${pairNamed(one, other)} have cosine ${decimal(value)}; two different words have ` +
    `${decimal(strangers)} there on average. ${capital(why)}.`;
}

/** A word of a sentence. */
export function wordSaid(word, { sentence, sense, unknown, asked }) {
  const known = unknown ? ", which is not in the vocabulary but still has a vector from its characters" : "";
  const means = sense ? `, in the sense “${senseName(sense)}”` : "";
  return `${quoted(word)}${means} (${sentence ? "second" : "first"} sentence)${known}. ` +
    (asked ? "It is the selected word." : "Click, or press Enter, to select it.");
}

/** The default text below the cosines: where the pair is farthest apart, relative to different words. */
export function restSaid(one, other, found, strangers) {
  const all = LAYERS.flatMap((layer) => [0, 1].map((side) => ({ layer, side,
    far: (1 - found[layer][side]) / Math.max(1 - strangers[layer][side], 1e-9) })));
  const most = all.reduce((best, cell) => (cell.far > best.far ? cell : best));
  if (most.far < 0.005) return `${capital(pairNamed(one, other))} do not differ.`;
  const side = most.layer ? `, ${SIDES[DIRECTIONS[most.side]]}` : "";
  return `${capital(pairNamed(one, other))} differ most at layer ${most.layer}${side}, where their ` +
    `cosine distance is ${share(most.far)} of the average for two different words (hatched).`;
}

export const senseQuestion = (word, sense) => "Does the sense make the difference? Compare the stored " +
  `occurrences of ${quoted(word)} with the same sense, “${senseName(sense)}”, in other sentence patterns, with those of ` +
  "another sense. Which are nearer to the one in the first sentence at layer 2?";

/** The answer to `senseQuestion`. */
export function senseAnswer({ same: alike, another }, strangers) {
  const of = ({ cosines }) => listed(LAYERS.slice(1).map((layer) => `${decimal(cosines[layer])} at layer ${layer}`));
  const nearer = alike.cosines[2] - another.cosines[2];
  const verdict = nearer > 0.02 ? "Those of the same sense are nearer" : nearer < -0.02
    ? "Those of another sense are nearer: a layer encodes the whole sentence, and the sense is one part of it"
    : "Neither: a layer encodes the whole sentence, and the sense is one part of it";
  return `${verdict}. Mean cosines. Same sense, ${plural(alike.count, "occurrence")} in other sentence patterns: ` +
    `${of(alike)}. Another sense, ${plural(another.count, "occurrence")}: ${of(another)}. Two different words: ` +
    `${listed(LAYERS.slice(1).map((layer) => `${decimal(strangers[layer][2])} at layer ${layer}`))}.`;
}

/** Description of a mix. */
export function mixSaid(shares) {
  const whole = LAYERS.find((layer) => shares[layer] > 0.9995);
  if (whole !== undefined) return `layer ${whole} alone`;
  return listed(LAYERS.map((layer) => `${share(shares[layer])} layer ${layer}`));
}

/** The title of the triangle; `scores` are null while they are being computed. */
export function mixFinding(shares, scores, chance) {
  const mean = shares.every((share) => Math.abs(share - 1 / 3) < 0.0005);
  const mix = mean ? "the mean of the layers" : mixSaid(shares);
  if (!scores) return `With ${mix}: computing …`;
  const among = (name) => `${share(scores[name])} of cases (chance ${share(chance[name])})`;
  return `With ${mix}, the nearest occurrence has the correct sense in ${among("sense")}; among other sentence ` +
    `patterns, in ${among("sense elsewhere")}`;
}

/** The default text below that title: the definition of a mix, and what an accuracy below chance means. */
export function mixRest(scores, chance) {
  const below = scores && scores["sense elsewhere"] < chance["sense elsewhere"]
    ? " An accuracy below chance is worse than always predicting the most frequent sense: the nearest occurrences are " +
      "in similar sentences, whatever the word means in them." : "";
  return "The scalar mix is s₀ h₀ + s₁ h₁ + s₂ h₂. First, each layer is divided by the mean norm of its vectors, so that " +
    `no layer dominates through larger norms.${below}`;
}

export const chanceSaid = (name) => CHANCE[name];

/** A dot in the triangle. */
export const pointSaid = (point, score) => `With ${mixSaid(point.shares)}: ${share(point[score])}. ${NAMED[score]}.`;

export const MIX_QUESTION = "Give layer 0 a weight of 98 %, and layer 1 the rest. Layer 0 alone does not encode the " +
  "sense. Does this scalar mix lose the sense?";

/** The answer to `MIX_QUESTION`. */
export const mixAnswer = (alone, little, chance) =>
  `The accuracy is ${share(alone.sense)} with layer 0 alone (chance ${share(chance.sense)}), ${share(little.sense)} ` +
  "with 2 % of layer 1. All occurrences of a word form have the same vector at layer 0, so any small addition decides among " +
  "them. A small weight does not mean that the layer is unimportant.";

/** One neighbour. */
export function neighbourSaid({ word, sense, score, rank, more, strangers }, asked) {
  const form = word === asked.word ? "the same word form" : `another word, ${quoted(word)}`;
  const meaning = asked.sense === null ? "sense unknown" : sense === asked.sense
    ? `the same sense (${senseName(sense)})` : `another sense (${senseName(sense)})`;
  const others = more
    ? ` ${plural(more, "more stored sentence")} of this pattern ${more === 1 ? "is" : "are"} farther away.` : "";
  return `Neighbour ${rank}, cosine ${decimal(score)} in this scalar mix (two different words: ${decimal(strangers)}): ` +
    `${form}, ${meaning}.${others}`;
}

/** The title of the characters. */
export function spellingFinding({ word, known, near }) {
  const [[first]] = near;
  return known ? `Judged by characters alone, ${quoted(word)} is nearest to ${quoted(first)}`
    : `${quoted(word)} is not in the vocabulary, yet it has a vector: the nearest word is ${quoted(first)}`;
}

/** A note on characters that take several bytes. */
export function codesSaid({ characters }) {
  const several = [...new Map(characters.filter(([, codes]) => codes > 1))];
  if (!several.length) return "Each character is one byte.";
  const examples = several.slice(0, 3).map(([sign, codes]) => `${quoted(sign)} takes ${codes}`);
  return `The model's input is UTF-8 bytes: ${listed(examples)}.`;
}

/** A filter: its width, its maximum, and what it responds to most. */
export function filterSaid(filter, read, all) {
  return `Filter ${filter.number} (of ${all}) has width ${filter.width}. Its maximum here is at ` +
    `${quoted(read)}: ${filter.found.toFixed(1)}, compared with a mean of ${filter.mean.toFixed(1)} over the ` +
    `vocabulary. It responds most to ${listed(filter.like.slice(0, 2).map(({ word }) => quoted(word)))}.`;
}
