// Two distributions over the token at one position: the model's bars next to those of the Bayes-optimal predictor.

import { el } from "./dom.js";
import { decimal, number, percent, quoted } from "./words.js";

/** A number of nats as text; `isNats` is the same with "= " or "<" in front. */
export const nats = (value) => (value > 0 && value < 0.005 ? "<\u00a00.01\u00a0nats"
  : `${decimal(value)}\u00a0nats`);
const isNats = (value) => (value > 0 && value < 0.005 ? nats(value) : `= ${nats(value)}`);

/** A probability in a column of the table. */
export const amount = (p) => (p > 0 && p < 0.0001 ? "< 0.01 %" : percent(p));

/** The probability and rank of the actual token, in words. */
export function ownText({ own }, word) {
  if (!own) return "You typed [MASK] here, so there is no true token.";
  const [rank, of] = [own.rank, own.of].map(number);
  const place = own.rank === 1 ? "is the top prediction" : `has rank ${rank} of ${of}`;
  const best = own.best === null ? "" : own.best === 0
    ? " The Bayes-optimal predictor rules it out (probability 0)." : ` Bayes-optimal predictor: ${percent(own.best)}.`;
  return `${quoted(word)} ${place}: ${percent(own.p)}, surprisal ${nats(own.nats)}.${best}`;
}

/** The KL divergence of the model from the Bayes-optimal predictor, in words. */
export const lossText = (kl) => (kl === null ? ""
  : `KL(optimal ‖ model) ${isNats(kl)}: ${kl < 0.05 ? "almost Bayes-optimal." : kl < 0.5
    ? "the model's expected excess loss over the Bayes-optimal predictor." : "far from Bayes-optimal."}`);

/** A probability as a bar, in the colour of its predictor. */
export function bar(p, role) {
  return el("i", { class: role, style: `width:${p === 0 ? 0 : Math.max(p * 100, 0.4)}%` });
}

function beliefRow({ word, p, best, own }) {
  return el("tr", { class: own ? "own" : "" },
    el("th", { scope: "row", title: word }, el("bdi", {}, word), own ? el("span", { class: "mark" }, " ◂ true") : ""),
    el("td", { class: "track" }, bar(p, "model"), ...(best === null ? [] : [bar(best, "best")])),
    el("td", { class: "amount model" }, amount(p)),
    ...(best === null ? [] : [el("td", { class: "amount best" }, amount(best))]));
}

/** One distribution as a table: the model's bars, next to those of the Bayes-optimal predictor if there is one. */
export function beliefTable(title, belief) {
  return el("table", { class: "beliefs" }, el("caption", {}, title),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "token"), el("td", {}),
      el("th", { scope: "col", class: "amount model" }, "model"),
      ...(belief.kl === null ? [] : [el("th", { scope: "col", class: "amount best" }, "optimal")]))),
    el("tbody", {}, ...belief.rows.map(beliefRow)));
}

/** That table, followed by the probability of the true token `word` and the KL divergence, in words. */
export function reader(title, belief, word) {
  return el("div", { class: "reader" }, beliefTable(title, belief),
    el("p", { class: "own-text" }, ownText(belief, word)),
    ...(belief.kl === null ? [] : [el("p", { class: "own-text" }, lossText(belief.kl))]));
}
