// The Cloze Lab: what two readers believe of one gap, the model's bars beside those of the best possible reader.

import { el } from "../shared/dom.js";
import { percent } from "../shared/probabilities.js";

/** A number of nats as it is written everywhere, and with the sign that leads to it. */
export const nats = (value) => (value > 0 && value < 0.005 ? "<\u00a00.01\u00a0nats"
  : `${value.toFixed(2)}\u00a0nats`);
const isNats = (value) => (value > 0 && value < 0.005 ? nats(value) : `= ${nats(value)}`);

/** A probability in a column of the table. */
export const amount = (p) => (p > 0 && p < 0.0001 ? "< 0.01 %" : percent(p));

/** What a belief says of the word that stands there. */
export function ownText({ own }, word) {
  if (!own) return "You typed [MASK] here: nobody knows a true word.";
  const [rank, of] = [own.rank, own.of].map((n) => n.toLocaleString("en"));
  const place = own.rank === 1 ? "the first guess" : `guess ${rank} of ${of}`;
  const best = own.best === null ? "" : own.best === 0
    ? " For the best possible reader it cannot stand here." : ` The best possible reader: ${percent(own.best)}.`;
  return `“${word}” is ${place}: ${percent(own.p)}, surprisal ${nats(own.nats)}.${best}`;
}

/** What the model loses here, in words. */
export const lossText = (kl) => (kl === null ? ""
  : `KL(best ‖ model) ${isNats(kl)}: ${kl < 0.05 ? "hardly worse than the best possible reader." : kl < 0.5
    ? "what it pays, on average, for not being the best possible reader." : "far from the best possible reader."}`);

/**
 * What the right side is worth for the true word, by the best possible readers where there are such, else by the
 * models; nothing where the left reader is a `cut` model. Behind another gap, `known` is the word that only the left
 * reader has read.
 */
export function gainText({ word, both, left }, { known, cut }) {
  if (!left || !both.own) return "";
  if (known) return `Who reads from the left has read “${known}” by now; who sees both sides finds [MASK] there.`;
  const exact = left.own.best && both.own.best;
  if (!exact && cut) return "";
  const times = exact ? both.own.best / left.own.best : both.own.p / left.own.p;
  const often = times < 10 ? times.toFixed(1) : Math.round(times).toLocaleString("en");
  const who = exact ? "To the best possible reader, the right side" : "The right side";
  if (times > 1.05) return `${who} makes “${word}” ${often} times as likely.`;
  return times < 0.95 ? `${who} speaks against “${word}”.` : `${who} adds nothing to “${word}”.`;
}

function bar(p, role) {
  return el("i", { class: role, style: `width:${p === 0 ? 0 : Math.max(p * 100, 0.4)}%` });
}

function beliefRow({ word, p, best, own }) {
  return el("tr", { class: own ? "own" : "" },
    el("th", { scope: "row", title: word }, el("bdi", {}, word), own ? el("span", { class: "mark" }, " ◂ true") : ""),
    el("td", { class: "track" }, bar(p, "model"), ...(best === null ? [] : [bar(best, "best")])),
    el("td", { class: "amount model" }, amount(p)),
    ...(best === null ? [] : [el("td", { class: "amount best" }, amount(best))]));
}

function reader(title, belief, word) {
  const paired = belief.kl !== null;
  return el("div", { class: "reader" },
    el("table", { class: "beliefs" }, el("caption", {}, title),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "token"), el("td", {}),
        el("th", { scope: "col", class: "amount model" }, "model"),
        ...(paired ? [el("th", { scope: "col", class: "amount best" }, "best")] : []))),
      el("tbody", {}, ...belief.rows.map(beliefRow))),
    el("p", { class: "own-text" }, ownText(belief, word)),
    ...(paired ? [el("p", { class: "own-text" }, lossText(belief.kl))] : []));
}

/** One gap, the one at `place` among `gaps`: both readers side by side. */
export function gapView(gaps, place, { left, cut }) {
  const gap = gaps[place];
  const name = `${gaps.length > 1 ? `Gap ${place + 1}` : "The gap"}, slot ${gap.slot}`;
  return el("section", { class: "gap", "data-slot": gap.slot, "aria-label": name },
    el("h4", {}, name, el("span", {}, gainText(gap, { known: gaps[place - 1]?.word, cut }))),
    el("div", { class: "readers" },
      gap.left ? reader(`reads only what stands before (${left})`, gap.left, gap.word)
        : el("p", { class: "reader none" }, "Nobody knows what stands before: a [MASK] that you typed, or " +
          "another sentence."),
      reader("sees both sides", gap.both, gap.word)));
}
