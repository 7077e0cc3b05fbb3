// The Cloze Lab: what is believed of one gap, from both sides and from the left.

import { reader } from "../shared/beliefs.js";
import { el } from "../shared/dom.js";
import { short } from "../shared/words.js";

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
  const gain = exact ? both.own.best / left.own.best : both.own.p / left.own.p;
  const who = exact ? "To the best possible reader, the right side" : "The right side";
  if (gain > 1.05) return `${who} makes “${word}” ${short(gain, 2)} times as likely.`;
  return gain < 0.95 ? `${who} speaks against “${word}”.` : `${who} adds nothing to “${word}”.`;
}

/** One gap, the one at `place` among `gaps`: both readers side by side. */
export function gapView(gaps, place, { left, cut }) {
  const gap = gaps[place];
  const name = `${gaps.length > 1 ?}`Gap ${place + 1}` : "The gap"}, position ${gap.position}`;
  return el("section", { class: "gap", "data-position": gap.position, "aria-label": name },
    el("h4", {}, name, el("span", {}, gainText(gap, { known: gaps[place - 1]?.word, cut }))),
    el("div", { class: "readers" },
      gap.left ? reader(`reads only what stands before (${left})`, gap.left, gap.word)
        : el("p", { class: "reader none" }, "Nobody knows what stands before: a [MASK] that you typed, or " +
          "another sentence."),
      reader("sees both sides", gap.both, gap.word)));
}
