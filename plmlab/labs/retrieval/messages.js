// Sentences of the Retrieval Lab: about the answer, a document, the gradient on its score, and the effect of an edit.

import { capital, listed, quoted, short, shortPercent, signed } from "../shared/words.js";
import { wordsOf } from "./wording.js";

/** The previous value of a probability; "" if it looks the same now, or if there was none. */
export const was = (before, now) => (before === null || shortPercent(before) === shortPercent(now) ? "" : `was\u00a0${shortPercent(before)}`);

/** A probability before and now; a single value if both look the same. */
export function moved(before, now) {
  const [then, current] = [before, now].map(shortPercent);
  return then === current ? current : `${then.replace("\u00a0%", "")}\u00a0→\u00a0${current}`;
}

export const NULL = -1;

/** The display name of a document: its letter and its title. */
export const called = (state, { number, title }) =>
  (number === NULL ? wordsOf(state).nothing : `${state.letters[number]}, ${title}`);

/** The indices of the answers, most probable first. */
export const rankedOf = ({ answers }) => answers.map((_, n) => n).sort((a, b) => answers[b].p - answers[a].p);

/** The answer that the gradients are for: the most probable one, unless another one is chosen. */
export function chosenOf(state, chosen) {
  const index = state.answers.findIndex(({ text }) => text === chosen);
  return index < 0 ? rankedOf(state)[0] : index;
}

/** Each document's contribution to p(y|x). */
export const partsOf = ({ documents }, a) => documents.map(({ prior, likelihoods }) => prior * likelihoods[a]);

/** The probability of an answer, and the document that contributes most. */
export function answerSaid(state, a) {
  const { p } = state.answers[a];
  const { answer, form, adds } = wordsOf(state);
  const parts = adds ? partsOf(state, a) : state.documents.map(({ prior }) => prior);
  const most = state.documents[parts.indexOf(Math.max(...parts))];
  const part = Math.max(...parts) / (adds ? p : 1);
  const share = part > 0.995 ? "Nearly all" : shortPercent(part);
  const from = state.documents.length < 2 || p < 0.0005 ? ""
    : ` ${share} of ${adds ? "this comes from" : "the retrieval weight is on"} ${called(state, most)}.`;
  return `${answer} is ${quoted(state.answers[a].text)} with p(y|x)\u00a0=\u00a0${shortPercent(p)}${form}.${from}`;
}

/** A ratio to p(y|x), in words. */
export function timesSaid(ratio) {
  if (ratio < 0.01) return "less than a hundredth of";
  if (Math.abs(ratio - 1) < 0.005) return "equal to";
  return `${short(ratio, 2)} times`;
}

/** The reader's prediction with one document, and the gradient on the document's score. */
export function documentSaid(state, document, a) {
  const { prior, likelihoods, pulls, number } = document;
  const ratio = likelihoods[a] / (state.answers[a].p || 1e-30);
  const name = called(state, document);
  const { model, one, without, adds } = wordsOf(state);
  const given = number === NULL ? without : `${adds ? "given" : "with only"} this ${one}`;
  const r = `(r\u00a0=\u00a0${signed(pulls[a])})`;
  const then = Math.abs(pulls[a]) < 0.005 ? `the gradient on its score is almost zero ${r}`
    : `with the target ${quoted(state.answers[a].text)}, training would ${pulls[a] > 0 ? "raise" : "lower"} its ` +
      `score ${r}`;
  return `${capital(name)}: p(z|x)\u00a0=\u00a0${shortPercent(prior)}; ${given}, the ${model} predicts ` +
    `${quoted(state.answers[a].text)} with ${shortPercent(likelihoods[a])}. That is ${timesSaid(ratio)} p(y|x); ` +
    `${then}.`;
}

/** The document whose column changed most, among those retrieved both before and now: [then, now], or null. */
export function mostMoved(state, a) {
  const pairs = state.documents.flatMap((now) => {
    const then = state.before.find(({ number }) => number === now.number);
    return then ? [[then, now]] : [];
  });
  const far = ([then, now]) => Math.abs(then.prior - now.prior) + Math.abs(then.likelihoods[a] - now.likelihoods[a]);
  return pairs.sort((x, y) => far(y) - far(x))[0] ?? null;
}

const NEAR = 0.03;

/** Which has changed, p(z|x) (the width) or p(y|z,x) (the height). */
function verdict(model, wide, high) {
  if (wide < NEAR && high < NEAR) return "neither has changed much";
  if (high > 3 * wide) return `the ${model}’s prediction has changed, not the retrieval`;
  if (wide > 3 * high) return `the retrieval has changed, not the ${model}’s prediction`;
  return "both have changed";
}

/** The most probable answer before the edits and now. */
function bestMoved(answers) {
  const [then, now] = ["before", "p"].map((when) => answers.reduce((best, one) => (one[when] > best[when] ? one : best)));
  return then === now ? `${quoted(now.text)}: ${moved(now.before, now.p)}.`
    : `It was ${quoted(then.text)} (${shortPercent(then.before)}); now it is ${quoted(now.text)} ` +
      `(${shortPercent(now.p)}).`;
}

/** The effect of the edits, before and now; "" if nothing was edited. */
export function changedSaid(state, a) {
  if (!state.before) return "";
  const { answers, generated } = state;
  const answer = !generated.length ? bestMoved(answers) : `RAG-Sequence: ${bestMoved(answers)} RAG-Token: ` +
    bestMoved(generated.map((one, i) => ({ ...one, text: answers[i].text })));
  const names = (from, to) => from
    .filter(({ number }) => number !== NULL && !to.some((other) => other.number === number))
    .map((document) => called(state, document));
  const [gone, come] = [names(state.before, state.documents), names(state.documents, state.before)];
  const lists = [...(gone.length ? [`No longer retrieved: ${listed(gone)}.`] : []),
    ...(come.length ? [`Newly retrieved: ${listed(come)}.`] : [])];
  const pair = mostMoved(state, a);
  if (!pair) return [answer, ...lists].join(" ");
  const [old, current] = pair;
  const moves = [Math.abs(old.prior - current.prior), Math.abs(old.likelihoods[a] - current.likelihoods[a])];
  return [answer, `For ${called(state, current)}, p(z|x) is ${moved(old.prior, current.prior)}, and p(y|z,x) of ` +
    `${quoted(state.answers[a].text)} is ${moved(old.likelihoods[a], current.likelihoods[a])}: ${verdict(wordsOf(state).model, ...moves)}.`,
  ...lists].join(" ");
}

/** The lab's question and its answer; null if the null document is not included. */
export function guessOf(state) {
  const nothing = state.documents.find(({ number }) => number === NULL);
  if (!nothing || state.documents.length < 2) return null;
  const best = nothing.likelihoods.indexOf(Math.max(...nothing.likelihoods));
  const first = rankedOf(state)[0];
  const [alone, all] = [state.answers[best], state.answers[first]];
  const { ask, told: [then, now] } = wordsOf(state);
  return [ask, `${then} ${quoted(alone.text)} with ${shortPercent(nothing.likelihoods[best])}${now} the prediction is ` +
    `${best === first ? "the same" : quoted(all.text)}, with ${shortPercent(all.p)}.`];
}

/** The limits of the map. */
export const mapSaid = (held, many) => `The first two principal components of the ${many}’ vectors explain ` +
  `${shortPercent(held)} of the variance; they were fitted once, and edits do not change them. Retrieval depends on ` +
  "inner products in all dimensions, not on distances in this picture.";
