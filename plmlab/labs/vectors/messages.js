// Sentences of the Vector Lab about its pictures.

import { decimal, listedInQuotes, number, ordinal, percent, plural, quoted } from "../shared/words.js";

export const MEASURES = { cosine: "cosine", dot: "dot product" };

/** The finding about the picture: how many nearest neighbours in the full space are also nearest in the picture. */
export function pictureFinding(word, shared, count) {
  if (shared === count) return `The projection preserves all ${count} nearest neighbours of ${quoted(word)}`;
  const preserved = shared ? `only ${shared} of the ${count}` : `none of the ${count}`;
  return `The projection loses information: it preserves ${preserved} nearest neighbours of ${quoted(word)}`;
}

/** The sentence about the selected word, with its three nearest neighbours. */
export function chosenSaid({ word, near, measure, count, width, size, read }) {
  const of = read === null ? "" : ` (${plural(read, "occurrence")})`;
  return `${quoted(word)}${of}: among ${number(count - 1)} other words, in all ${width} dimensions, the nearest by ` +
    `${MEASURES[measure]} are ${near.map((other) => `${quoted(other.word)} (${decimal(other.score)})`).join(", ")}. ` +
    `Its vector has length ${decimal(size)}.`;
}

/** The sentence about the word under the pointer: its similarity to the selected one, and its rank in the picture. */
export function pointedSaid({ word, chosen, score, rank, seems, measure, group, read }) {
  const facts = [group, read === null ? null : plural(read, "occurrence")].filter(Boolean).join(", ");
  const looks = seems === rank ? "it has the same rank in the picture"
    : `in the picture it is the ${ordinal(seems)} nearest`;
  return `${quoted(word)}${facts ? ` (${facts})` : ""}: its ${MEASURES[measure]} with ${quoted(chosen)} is ` +
    `${decimal(score)}, the ${ordinal(rank)} highest of all words; ${looks}.`;
}

/** A description of the axes and of what they hide. `pairs` are words; `shares` the explained variances of principal
    axes. */
export function axesSaid({ pairs, shares, angle, snapshots, sized = false }) {
  const fixed = snapshots > 1 ? " The axes are those of the last snapshot and stay fixed; all snapshots come from " +
    "one training run and share one space, so nothing is aligned or refitted." : "";
  const size = sized ? " The more frequent a word, the larger its point." : "";
  if (!pairs.length) {
    const held = shares[0] + shares[1];
    return `The two axes explain ${percent(held)} of the variance of the unit vectors; the other ` +
      `${percent(1 - held)} is not in the picture. A word's coordinates are the projections of its unit vector minus ` +
      `the mean.${fixed}${size}`;
  }
  const [x, y] = pairs.map(([from, to]) => `from ${quoted(from)} to ${quoted(to)}`);
  const leaning = Math.abs(angle) < 0.1 ? "the two directions are almost orthogonal" :
    `the two directions are not orthogonal (cosine ${decimal(angle)}), so the cloud is skewed`;
  return `Horizontal: the cosine of a word's vector with the direction ${x}; vertical: with the direction ${y}. Components ` +
    `orthogonal to both are not in the picture; ${leaning}.${fixed}${size}`;
}

/** The changes among the neighbours since the previous snapshot. */
export function changesSaid(gained, lost, before) {
  if (!gained.length && !lost.length) return `The same neighbours as at update ${number(before)}.`;
  const parts = [...(gained.length ? [`new: ${listedInQuotes(gained)}`] : []),
    ...(lost.length ? [`gone: ${listedInQuotes(lost)}`] : [])];
  return `Since update ${number(before)}, ${parts.join("; ")}.`;
}

/** The finding about an analogy with a known answer, from its ranks. */
export function analogyFinding([, b, c, d], { added, b: nearB, c: nearC }) {
  if (added === null) return `${quoted(d)} is a word of the question, and therefore excluded`;
  if (added === 1 && nearB > 1 && nearC > 1) {
    return `b − a + c finds ${quoted(d)}; neither ${quoted(c)} nor ${quoted(b)} alone does`;
  }
  const easier = nearB <= nearC ? [b, nearB] : [c, nearC];
  if (added === 1) return `b − a + c finds ${quoted(d)}, but ${quoted(easier[0])} alone finds it too`;
  if (easier[1] <= added) {
    return `b − a + c ranks ${quoted(d)} ${ordinal(added)}; ${quoted(easier[0])} alone ranks it ${ordinal(easier[1])}`;
  }
  return `b − a + c ranks ${quoted(d)} ${ordinal(added)}, higher than either word alone`;
}

/** The answer to the question which word wins if those of the question are allowed. `steps` are the lengths of b − a
    and c − a for unit vectors. */
export function winnerSaid(words, answers, left, steps) {
  const [first] = answers;
  const role = words.slice(0, 3).indexOf(first.word);
  const named = ({ word, score }) => `${quoted(word)} (${decimal(score)})`;
  const best = left[0] ? ` If the words of the question are excluded, as usual, it is ${named(left[0])}.` : "";
  if (role < 0) return `${named(first)}, which is not a word of the question.${best}`;
  const why = ["", `The sum is b plus the offset c − a of length ${decimal(steps.c)}; b itself has length 1.`,
    `The sum is c plus the offset b − a of length ${decimal(steps.b)}; c itself has length 1.`][role];
  return `${quoted(first.word)} itself (${decimal(first.score)}), word ${"abc"[role]} of the question.` +
    `${why && ` ${why}`}${best}`;
}

/** The message about words without a vector, with words of a similar spelling. */
export function unknownSaid(missing) {
  return missing.slice(0, 4).map(({ text, like }) => `${quoted([...text].slice(0, 40).join(""))} has no vector` +
    (like.length ? `; similar spelling: ${like.join(", ")}.` : "; no word has a similar spelling."))
    .concat(missing.length > 4 ? [`${missing.length - 4} more words have none.`] : []).join(" ");
}
