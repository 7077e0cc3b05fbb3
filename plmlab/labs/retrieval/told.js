// What the Retrieval Lab says: of the answer, a document, the pull on its score, and what an edit changed.

import { capital, listed, quoted, short, shortPercent, signed } from "../shared/words.js";

/** What a chance was, where it reads otherwise now; "" where it does not, or where nothing was before. */
export const was = (before, now) => (before === null || shortPercent(before) === shortPercent(now) ? "" : `was\u00a0${shortPercent(before)}`);

/** Two chances, before and now; one where both read alike. */
export function moved(before, now) {
  const [then, said] = [before, now].map(shortPercent);
  return then === said ? said : `${then.replace("\u00a0%", "")}\u00a0→\u00a0${said}`;
}

export const NULL = -1;

/** A document as it is called: its letter and its title. */
export const called = (state, { number, title }) =>
  (number === NULL ? "the null document" : `${state.letters[number]}, ${title}`);

/** The numbers of the answers, the likeliest first. */
export const rankedOf = ({ answers }) => answers.map((_, n) => n).sort((one, other) => answers[other].p - answers[one].p);

/** The answer that the arrows are for: the likeliest, unless another one is chosen. */
export function chosenOf(state, chosen) {
  const found = state.answers.findIndex(({ text }) => text === chosen);
  return found < 0 ? rankedOf(state)[0] : found;
}

/** Each document's part of p(y|x). */
export const partsOf = ({ documents }, a) => documents.map(({ prior, likelihoods }) => prior * likelihoods[a]);

/** How likely an answer is, and from which document that comes. */
export function answerSaid(state, a) {
  const { p } = state.answers[a];
  const parts = partsOf(state, a);
  const most = state.documents[parts.indexOf(Math.max(...parts))];
  const part = Math.max(...parts) / p;
  const from = state.documents.length > 1 && p >= 0.0005
    ? ` ${part > 0.995 ? "Nearly all" : shortPercent(part)} of that comes from ${called(state, most)}.` : "";
  return `${quoted(state.answers[a].text)} stands in the gap with p(y|x)\u00a0=\u00a0${shortPercent(p)}.${from}`;
}

/** How many times as likely as all documents together a document makes an answer, in words. */
export function timesSaid(ratio) {
  if (ratio < 0.01) return "less than a hundredth as likely as";
  if (Math.abs(ratio - 1) < 0.005) return "just as likely as";
  return `${short(ratio, 2)} times as likely as`;
}

/** What a document has to do with an answer, and where training would pull its score. */
export function documentSaid(state, document, a) {
  const { prior, likelihoods, pulls, number } = document;
  const ratio = likelihoods[a] / (state.answers[a].p || 1e-30);
  const name = called(state, document);
  const sight = number === NULL ? "with nothing in sight" : "with it in sight";
  const whither = pulls[a] > 0 ? "raised: pulled nearer" : "lowered: pushed away";
  const then = Math.abs(pulls[a]) < 0.005
    ? `so little hangs on it that training would hardly move its score (r\u00a0=\u00a0${signed(pulls[a])})`
    : `if training were told ${quoted(state.answers[a].text)}, its score would be ${whither} (r\u00a0=\u00a0${signed(pulls[a])})`;
  return `${capital(name)}: p(z|x)\u00a0=\u00a0${shortPercent(prior)}; ${sight} the reader says ` +
    `${quoted(state.answers[a].text)} with ${shortPercent(likelihoods[a])}. That is ${timesSaid(ratio)} all ` +
    `documents together make it; ${then}.`;
}

/** The document whose columns moved most, of those in sight both before and now: [then, now], or null. */
export function mostMoved(state, a) {
  const pairs = state.documents.flatMap((now) => {
    const then = state.before.find(({ number }) => number === now.number);
    return then ? [[then, now]] : [];
  });
  const far = ([then, now]) => Math.abs(then.prior - now.prior) + Math.abs(then.likelihoods[a] - now.likelihoods[a]);
  return pairs.sort((one, other) => far(other) - far(one))[0] ?? null;
}

const NEAR = 0.03;

/** Which moved, the width or the height. */
function verdict(wide, high) {
  if (wide < NEAR && high < NEAR) return "neither has moved much";
  if (high > 3 * wide) return "what moved is what is read in it, not how surely it is found";
  if (wide > 3 * high) return "what moved is how surely it is found, not what is read in it";
  return "both have moved";
}

/** What edits have changed, before and now; "" where nothing was edited. */
export function changedSaid(state, a) {
  if (!state.before) return "";
  const then = state.answers.reduce((best, one) => (one.before > best.before ? one : best));
  const now = state.answers[rankedOf(state)[0]];
  const answer = then === now ? `${quoted(now.text)}: ${moved(now.before, now.p)}.`
    : `It was ${quoted(then.text)} (${shortPercent(then.before)}); now it is ${quoted(now.text)} ` +
      `(${shortPercent(now.p)}).`;
  const names = (from, to) => from.filter(({ number }) => number !== NULL && !to.some((one) => one.number === number))
    .map((one) => called(state, one));
  const [gone, come] = [names(state.before, state.documents), names(state.documents, state.before)];
  const lists = [...(gone.length ? [`Out of sight: ${listed(gone)}.`] : []), ...(come.length ? [`New in sight: ${listed(come)}.`] : [])];
  const pair = mostMoved(state, a);
  if (!pair) return [answer, ...lists].join(" ");
  const [old, one] = pair;
  const moves = [Math.abs(old.prior - one.prior), Math.abs(old.likelihoods[a] - one.likelihoods[a])];
  return [answer, `In ${called(state, one)}, p(z|x) is ${moved(old.prior, one.prior)}, and p(y|z,x) of ` +
    `${quoted(state.answers[a].text)} is ${moved(old.likelihoods[a], one.likelihoods[a])}: ${verdict(...moves)}.`,
  ...lists].join(" ");
}

/** What is to be guessed, and the answer; null where the null document is not in sight. */
export function guessOf(state) {
  const nothing = state.documents.find(({ number }) => number === NULL);
  if (!nothing || state.documents.length < 2) return null;
  const best = nothing.likelihoods.indexOf(Math.max(...nothing.likelihoods));
  const first = rankedOf(state)[0];
  const [alone, all] = [state.answers[best], state.answers[first]];
  const learned = `With nothing to read it says ${quoted(alone.text)}, with ${shortPercent(nothing.likelihoods[best])}: that is what it ` +
    "has learned by heart.";
  return ["The null document ∅ is empty. What does the reader say with it, and how surely?", best === first
    ? `${learned} With the documents it is the same word, with ${shortPercent(all.p)}.`
    : `${learned} The documents make it ${quoted(all.text)}, with ${shortPercent(all.p)}.`];
}

/** What the map cannot tell. */
export const mapSaid = (held) => `The two directions in which the documents’ vectors differ most hold ${shortPercent(held)} of their ` +
  "variance; they were fitted once, and no edit moves them. What is looked up is decided by inner products in all " +
  "directions, not by distances in this picture.";
