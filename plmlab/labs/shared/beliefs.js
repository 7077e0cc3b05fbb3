// What two readers believe of one position: the model's bars beside those of the best possible reader.

import { el } from "./dom.js";
import { decimal, number, percent, quoted } from "./words.js";

/** A number of nats as it is written everywhere, and with the sign that leads to it. */
export const nats = (value) => (value > 0 && value < 0.005 ? "<\u00a00.01\u00a0nats"
  : `${decimal(value)}\u00a0nats`);
const isNats = (value) => (value > 0 && value < 0.005 ? nats(value) : `= ${nats(value)}`);

/** A probability in a column of the table. */
export const amount = (p) => (p > 0 && p < 0.0001 ? "< 0.01 %" : percent(p));

/** What a belief says of the word that stands there. */
export function ownText({ own }, word) {
  if (!own) return "You typed [MASK] here: nobody knows a true word.";
  const [rank, of] = [own.rank, own.of].map(number);
  const place = own.rank === 1 ? "the first guess" : `guess ${rank} of ${of}`;
  const best = own.best === null ? "" : own.best === 0
    ? " For the best possible reader it cannot stand here." : ` The best possible reader: ${percent(own.best)}.`;
  return `${quoted(word)} is ${place}: ${percent(own.p)}, surprisal ${nats(own.nats)}.${best}`;
}

/** What the model loses here, in words. */
export const lossText = (kl) => (kl === null ? ""
  : `KL(best ‖ model) ${isNats(kl)}: ${kl < 0.05 ? "hardly worse than the best possible reader." : kl < 0.5
    ? "what it pays, on average, for not being the best possible reader." : "far from the best possible reader."}`);

/** A probability as a bar in a reader's colour. */
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

/** One belief as a table, the model's bars beside those of the best reader where there is one. */
export function beliefTable(title, belief) {
  return el("table", { class: "beliefs" }, el("caption", {}, title),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "token"), el("td", {}),
      el("th", { scope: "col", class: "amount model" }, "model"),
      ...(belief.kl === null ? [] : [el("th", { scope: "col", class: "amount best" }, "best")]))),
    el("tbody", {}, ...belief.rows.map(beliefRow)));
}

/** That table, and in words what it says of the true word and what the model loses; `word` is the true one. */
export function reader(title, belief, word) {
  return el("div", { class: "reader" }, beliefTable(title, belief),
    el("p", { class: "own-text" }, ownText(belief, word)),
    ...(belief.kl === null ? [] : [el("p", { class: "own-text" }, lossText(belief.kl))]));
}
