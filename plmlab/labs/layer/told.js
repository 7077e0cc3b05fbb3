// What the Layer Lab says of its pictures.

import { DIRECTIONS, LAYERS } from "./maths.js";
import { decimal, listed, plural, quoted, share } from "../shared/words.js";

export const SIDES = { left: "from the left", right: "from the right", both: "both together" };
export const WHAT = {
  sense: "The nearest use of the form has the same sense",
  "sense elsewhere": "the nearest in another kind of sentence",
  form: "The nearest of all words has the same form",
  "form elsewhere": "the nearest in another kind of sentence",
};
export const NAMED = {
  ...WHAT,
  "sense elsewhere": "The nearest use of the form in another kind of sentence has the same sense",
  "form elsewhere": "The nearest word in another kind of sentence has the same form",
};
const CHANCE = { sense: "the word's most frequent sense", "sense elsewhere": "the word's most frequent sense",
  form: "a neighbour drawn by lot", "form elsewhere": "a neighbour drawn by lot" };

/** The sense of a word as a person names it: “bank.river” is river. */
export const senseName = (sense) => sense.slice(sense.indexOf(".") + 1);

/** The pair of words that is compared. */
export const pairNamed = (one, other) =>
  (one === other ? `the two ${quoted(one)}` : `${quoted(one)} and ${quoted(other)}`);

const same = (value) => value > 0.9995;

/** The title over the cosines. */
export function contextFinding(one, other, found) {
  const pair = pairNamed(one, other);
  const below = `At layer 0 ${pair} ${one === other ? "are one vector" :}`have the cosine ${decimal(found[0][2])}`}`;
  const [left, right] = [0, 1].map((side) => LAYERS.slice(1).every((layer) => same(found[layer][side])));
  if (one === other && left !== right) {
    const [still, moves] = left ? ["left", 1] : ["right", 0];
    return `${below}, and read from the ${still} they stay one; read from the ${moves ? "right" : "left"} they part, ` +
      `to ${decimal(found[2][moves])} at layer 2`;
  }
  if (one === other && left && right) return `${below}, and they stay one: the sentences are the same`;
  return `${below}; both directions together, ${decimal(found[1][2])} at layer 1 and ` +
    `${decimal(found[2][2])} at layer 2`;
}

/** Of one cosine: what it is, and what it is to be held against. */
export function cosineSaid(one, other, layer, side, value, strangers) {
  const where = layer ? `layer ${layer}, ${SIDES[DIRECTIONS[side]]}` : "layer 0, made of characters alone";
  const far = strangers < 0.999 ? (1 - value) / (1 - strangers) : 0;
  const why = one === other && same(value)
    ? (layer ? "nothing that this direction has read is different" : "the sentence has no part in it")
    : value >= 1 - 0.005 ? "they are all but the same"
      : `the way from the same (1) to strangers is gone by ${share(far)}`;
  return `At ${where}, ${pairNamed(one, other)} have the cosine ${decimal(value)}; two different words have ` +
    `${decimal(strangers)} there in the mean: ${why}.`;
}

/** Of a word of a sentence. */
export function wordSaid(word, { sentence, sense, unknown, asked }) {
  const known = unknown ? ", which is not in the model's vocabulary and is read by its characters all the same" : "";
  const means = sense ? `, in the sense “${senseName(sense)}”` : "";
  return `${quoted(word)}${means} (${sentence ? "second" : "first"} sentence)${known}. ` +
    (asked ? "It is the one that is asked about." : "Click, or press Enter, to ask about it.");
}

/** What stands at rest under the cosines: where the pair is farthest apart, held against strangers. */
export function restSaid(one, other, found, strangers) {
  const all = LAYERS.flatMap((layer) => [0, 1].map((side) => ({ layer, side,
    far: (1 - found[layer][side]) / Math.max(1 - strangers[layer][side], 1e-9) })));
  const most = all.reduce((best, cell) => (cell.far > best.far ? cell : best));
  if (most.far < 0.005) return `Nothing sets ${pairNamed(one, other)} apart.`;
  const side = most.layer ? `, ${SIDES[DIRECTIONS[most.side]]}` : "";
  return `Held against two different words (the hatched part), ${pairNamed(one, other)} are farthest apart at layer ` +
    `${most.layer}${side}: ${share(most.far)} of the way to strangers.`;
}

export const senseQuestion = (word, sense) => "Is it the sense that sets them apart? Take the stored " +
  `${quoted(word)} of the same sense, “${senseName(sense)}”, in other kinds of sentences, and those of another ` +
  "sense: which stand nearer to the one in the first sentence, at layer 2?";

/** What is behind the question. */
export function senseAnswer({ same: alike, another }, strangers) {
  const of = ({ cosines }) => listed(LAYERS.slice(1).map((layer) => `${decimal(cosines[layer])} at layer ${layer}`));
  const nearer = alike.cosines[2] - another.cosines[2];
  const verdict = nearer > 0.02 ? "Those of the same sense stand nearer" : nearer < -0.02
    ? "Those of another sense stand nearer: what a layer tells is the whole sentence, of which the sense is one part"
    : "Neither: what a layer tells is the whole sentence, of which the sense is one part";
  return `${verdict}. The same sense, ${plural(alike.count, "use")} in other kinds of sentences: ${of(alike)} in the ` +
    `mean. Another sense, ${plural(another.count, "use")}: ${of(another)}. Two different words: ` +
    `${listed(LAYERS.slice(1).map((layer) =>}`${decimal(strangers[layer][2])} at layer ${layer}`))}.`;
}

/** A mix in words. */
export function mixSaid(shares) {
  const whole = LAYERS.find((layer) => shares[layer] > 0.9995);
  if (whole !== undefined) return `layer ${whole} alone`;
  return listed(LAYERS.map((layer) => `${share(shares[layer])} layer ${layer}`));
}

/** The title over the triangle; `scores` are null while they are being counted. */
export function mixFinding(shares, scores, chance) {
  const mean = shares.every((share) => Math.abs(share - 1 / 3) < 0.0005);
  const mix = mean ? "the mean of the layers" : mixSaid(shares);
  if (!scores) return `With ${mix}: counting …`;
  const among = (name) => `${share(scores[name])} (chance ${share(chance[name])})`;
  return `With ${mix}, the nearest use has the right sense in ${among("sense")}; in another kind of sentence, in ` +
    among("sense elsewhere");
}

/** What stands at rest under that title: what a mix is, and what it means to be below chance. */
export function mixRest(scores, chance) {
  const below = scores && scores["sense elsewhere"] < chance["sense elsewhere"]
    ? " Below chance is worse than always to say the most frequent sense: what lies near is a sentence that is alike, " +
      "whatever the word means in it." : "";
  return "A mix is s₀ h₀ + s₁ h₁ + s₂ h₂. Before it, each layer is divided by the mean length of its vectors, so that " +
    `none has more to say for being longer.${below}`;
}

export const chanceSaid = (name) => CHANCE[name];

/** Of a dot in the triangle. */
export const pointSaid = (point, score) => `With ${mixSaid(point.shares)}: ${share(point[score])}. ${NAMED[score]}.`;

export const MIX_QUESTION = "Give layer 0 nearly all, 98 %, and layer 1 the rest. Layer 0 alone knows nothing of the " +
  "sense: is it lost?";

/** What two per cent of layer 1 do. */
export const mixAnswer = (alone, little, chance) =>
  `${share(alone.sense)} with layer 0 alone (chance ${share(chance.sense)}), ${share(little.sense)} with 2 % ` +
  "of layer 1. All uses of a form have one vector at layer 0, so that whatever little is added decides among them. That " +
  "a weight is small does not mean that its layer does not count: look at what it decides.";

/** Of one neighbour. */
export function neighbourSaid({ word, sense, score, rank, more, strangers }, asked) {
  const form = word === asked.word ? "the same word form" : `another word, ${quoted(word)}`;
  const meaning = asked.sense === null ? "whether the sense is the same is not known" : sense === asked.sense
    ? `the same sense (${senseName(sense)})` : `another sense (${senseName(sense)})`;
  const others = `${plural(more, "more stored sentence")} of this kind ${more === 1 ? "stands" : "stand"} behind it.`;
  const behind = more ? ` ${others}` : "";
  return `Neighbour ${rank}, cosine ${decimal(score)} under this mix (two different words: ${decimal(strangers)}): ` +
    `${form}, ${meaning}.${behind}`;
}

/** The title over the characters. */
export function spellingFinding({ word, known, near }) {
  const [[first]] = near;
  return known ? `${quoted(word)}, by its characters alone, stands nearest to ${quoted(first)}`
    : `${quoted(word)} is no word of the vocabulary, and has a vector all the same: nearest to ${quoted(first)}`;
}

/** What is to be said of codes: where a character takes several. */
export function codesSaid({ characters }) {
  const several = [...new Map(characters.filter(([, codes]) => codes > 1))];
  if (!several.length) return "Each character is one code.";
  const shown = several.slice(0, 3).map(([sign, codes]) => `${quoted(sign)} is ${codes}`);
  return `The model reads bytes of UTF-8: ${listed(shown)} of them.`;
}

/** Of a filter: what it reads, and how much it finds there. */
export function filterSaid(filter, read, all) {
  return `Filter ${filter.number} (of ${all}) reads ${plural(filter.width, "code")} at a time. Here it finds most at ` +
    `${quoted(read)}: ${filter.found.toFixed(1)}, where a word of the vocabulary has ${filter.mean.toFixed(1)} in ` +
    `the mean. It finds most of all in ${listed(filter.like.slice(0, 2).map(({ word }) => quoted(word)))}.`;
}
