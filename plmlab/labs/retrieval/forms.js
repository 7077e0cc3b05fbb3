// The two forms of RAG: the mixture over the documents that predicts each token of an answer, and what is said of it.

import { called } from "./messages.js";
import { quoted, shortPercent } from "../shared/words.js";

export const NAMES = ["RAG-Sequence", "RAG-Token"];
const sum = (values) => values.reduce((total, value) => total + value, 0);

/** How RAG-Sequence and RAG-Token generate answer `a`: [{ name, p, before, best, tokens }], where `best` is the form's
    most probable answer, [index, p], and a token is { text, weights, predictions, parts, p }: `parts` are the documents'
    contributions, weight · prediction, and `p` their sum. */
export function formsOf({ answers, generated, documents }, a) {
  const priors = documents.map(({ prior }) => prior);
  const form = (name, wholes, weightsOf) => {
    const best = wholes.reduce((most, { p }, i) => (p > wholes[most].p ? i : most), 0);
    return { name, p: wholes[a].p, before: wholes[a].before, best: [best, wholes[best].p],
      tokens: generated[a].tokens.map((token) => {
        const weights = weightsOf(token);
        const parts = weights.map((weight, z) => weight * token.predictions[z]);
        return { text: token.text, predictions: token.predictions, weights, parts, p: sum(parts) };
      }) };
  };
  return [form(NAMES[0], answers, ({ weights }) => weights), form(NAMES[1], generated, () => priors)];
}

/** The index of the token on which the two forms differ most, by the ratio of their probabilities. */
export function mostDifferent([sequence, token]) {
  const far = sequence.tokens.map(({ p }, i) => Math.abs(Math.log(p / token.tokens[i].p)) || 0);
  return far.indexOf(Math.max(...far));
}

/** Both probabilities of the whole answer, and each form's most probable answer. */
export function formsSaid({ answers }, a, forms) {
  const [sequence, token] = forms.map(({ p, name }) => `${shortPercent(p)} under ${name}`);
  const [one, other] = forms.map(({ best: [best, p], name }) => `${quoted(answers[best].text)} (${shortPercent(p)}) under ${name}`);
  const both = forms[0].best[0] === forms[1].best[0];
  return `${quoted(answers[a].text)} has p(y|x)\u00a0=\u00a0${sequence} and ${token}. The most probable answer is ` +
    `${both ? `${quoted(answers[forms[0].best[0]].text)} under both` : `${one} and ${other}`}.`;
}

/** The probability of token `i` under both forms, and the document whose weight the tokens before it changed most. */
export function tokenSaid(state, [sequence, token], i) {
  const { text, p, weights } = sequence.tokens[i];
  const probabilities = `Token ${i + 1}, ${quoted(text)}: p\u00a0=\u00a0${shortPercent(p)} under RAG-Sequence, ` +
    `${shortPercent(token.tokens[i].p)} under RAG-Token.`;
  if (!i) return `${probabilities} Both weight the documents by p(z|x), because no token has been generated yet.`;
  const moves = weights.map((weight, z) => Math.abs(weight - state.documents[z].prior));
  const most = moves.indexOf(Math.max(...moves));
  const [then, now] = [state.documents[most].prior, weights[most]];
  const before = quoted(sequence.tokens.slice(0, i).map((one) => one.text).join(" "));
  if (moves[most] < 0.005) {
    return `${probabilities} After ${before}, RAG-Sequence’s weights are still close to p(z|x).`;
  }
  return `${probabilities} After ${before}, RAG-Sequence’s weight of ${called(state, state.documents[most])} is ` +
    `${shortPercent(now)} instead of ${shortPercent(then)}: this document predicts these tokens with a ` +
    `${now > then ? "higher" : "lower"} probability than the documents on average. RAG-Token still uses p(z|x).`;
}
