// What the Vector Lab says of its pictures.

import { decimal, listedInQuotes, number, ordinal, percent, quoted } from "../shared/words.js";

export const MEASURES = { cosine: "cosine", dot: "dot product" };

/** The finding of the picture: how many of the nearest words in the space are also the nearest in the picture. */
export function pictureFinding(word, shared, count) {
  if (shared === count) return `The picture keeps all ${count} nearest words of ${quoted(word)}`;
  const kept = shared ? `only ${shared} of the ${count}` : `none of the ${count}`;
  return `The picture is a shadow: it keeps ${kept} nearest words of ${quoted(word)}`;
}

/** Of the chosen word: its nearest three, and what the picture makes of them. */
export function chosenSaid({ word, near, measure, count, width, size, read }) {
  const of = read === null ? "" : `, read ${number(read)} times`;
  return `${quoted(word)}${of}: of ${number(count - 1)} other words, compared in all ${width} numbers, the nearest by ` +
    `${MEASURES[measure]} are ${near.map((one) =>}`${quoted(one.word)} (${decimal(one.score)})`).join(", ")}. ` +
    `Its vector has length ${decimal(size)}.`;
}

/** Of the word under the pointer: how near it is to the chosen one, and how near it looks. */
export function pointedSaid({ word, chosen, score, rank, seems, measure, group, read }) {
  const facts = [group, read === null ? null : `read ${number(read)} times`].filter(Boolean).join(", ");
  const looks = seems === rank ? "so it is in the picture" : `in the picture it looks like the ${ordinal(seems)}`;
  return `${quoted(word)}${facts ?}` (${facts})` : ""}: its ${MEASURES[measure]} with ${quoted(chosen)} is ` +
    `${decimal(score)}, the ${ordinal(rank)} highest of all words; ${looks}.`;
}

/** What the axes are, and what they hide. `pairs` are words; `shares` those of the principal axes. */
export function axesSaid({ pairs, shares, angle, snapshots, sized = false }) {
  const fixed = snapshots > 1 ? " The axes are those of the last snapshot, and stay; all snapshots are of one training " +
    "run, and so of one space: nothing is aligned or fitted again." : "";
  const size = sized ? " The larger a point, the oftener the word was read." : "";
  if (!pairs.length) {
    const held = shares[0] + shares[1];
    return `The two axes hold ${percent(held)} of the variance of the vectors at length 1; the other ${percent(1 - held)} ` +
      `is not in the picture. A word stands where its vector, at length 1 and less the mean, falls along each.${fixed}${size}`;
  }
  const [x, y] = pairs.map(([from, to]) => `from ${quoted(from)} to ${quoted(to)}`);
  const leaning = Math.abs(angle) < 0.1 ? "the two directions are all but independent" :
    `the two directions are not independent (cosine ${decimal(angle)}), so the cloud leans`;
  return `Across: the cosine of a word's vector with the direction ${x}; upwards: with that ${y}. What is at right angles ` +
    `to both is not in the picture; ${leaning}.${fixed}${size}`;
}

/** What has come and gone among the neighbours since the snapshot before. */
export function changesSaid(gained, lost, before) {
  if (!gained.length && !lost.length) return `The same ten as at update ${number(before)}.`;
  const said = [...(gained.length ? [`new: ${listedInQuotes(gained)}`] : []), ...(lost.length ? [`gone: ${listedInQuotes(lost)}`] : [])];
  return `Since update ${number(before)} ${said.join("; ")}.`;
}

/** The finding of an analogy whose true answer is known, by its ranks. */
export function analogyFinding([, b, c, d], { added, b: nearB, c: nearC }) {
  if (added === null) return `${quoted(d)} is a word of the question, and is left out with it`;
  if (added === 1 && nearB > 1 && nearC > 1) {
    return `b − a + c finds ${quoted(d)}; neither ${quoted(c)} nor ${quoted(b)} alone does`;
  }
  const easier = nearB <= nearC ? [b, nearB] : [c, nearC];
  if (added === 1) return `b − a + c finds ${quoted(d)}, but ${quoted(easier[0])} alone finds it too`;
  if (easier[1] <= added) {
    return `b − a + c has ${quoted(d)} in place ${number(added)}; ${quoted(easier[0])} alone has it in place ` +
      number(easier[1]);
  }
  return `b − a + c has ${quoted(d)} in place ${number(added)}, nearer than either word alone`;
}

/** Which word wins if the question's own may: what is behind the guess. `steps` are the lengths of b − a and c − a, where
    each word has length 1. */
export function winnerSaid(words, answers, left, steps) {
  const [first] = answers;
  const role = words.slice(0, 3).indexOf(first.word);
  const named = ({ word, score }) => `${quoted(word)} (${decimal(score)})`;
  const best = left[0] ? ` Left out, as everyone does, the nearest is ${named(left[0])}.` : "";
  if (role < 0) return `${named(first)}, which is not a word of the question.${best}`;
  const why = ["", `The sum is b and a step c − a, whose length is ${decimal(steps.c)} where each word's is 1.`,
    `The sum is c and a step b − a, whose length is ${decimal(steps.b)} where each word's is 1.`][role];
  return `${quoted(first.word)} itself (${decimal(first.score)}), the question's own word ${"abc"[role]}.` +
    `${why &&}` ${why}`}${best}`;
}

/** Words that have no vector, by name, with some that are spelled like them. */
export function unknownSaid(missing) {
  return missing.slice(0, 4).map(({ text, like }) => `${quoted([...text].slice(0, 40).join(""))} has no vector here` +
    (like.length ? `; near in spelling: ${like.join(", ")}.` : ", and no word is spelled nearly like it."))
    .concat(missing.length > 4 ? [`${missing.length - 4} more have none.`] : []).join(" ");
}
