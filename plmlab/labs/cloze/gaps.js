// The Cloze Lab: the predictions for one mask, from both sides and from the left context.

import { reader } from "../shared/beliefs.js";
import { el } from "../shared/dom.js";
import { short } from "../shared/words.js";

/**
 * The effect of the right context on the probability of the original word, for the Bayes-optimal predictors if there
 * are any, otherwise for the models; "" if the left-to-right model is a `cut` one. After another mask, `known` is the
 * word that only the left-to-right model has seen.
 */
export function gainText({ word, both, left }, { known, cut }) {
  if (!left || !both.own) return "";
  if (known) return `The left context contains the original word “${known}”; the bidirectional input has [MASK] there.`;
  const exact = left.own.best && both.own.best;
  if (!exact && cut) return "";
  const gain = exact ? both.own.best / left.own.best : both.own.p / left.own.p;
  const who = exact ? "For the Bayes-optimal predictor, the right context" : "The right context";
  if (gain > 1.05) return `${who} makes “${word}” ${short(gain, 2)} times as likely.`;
  return gain < 0.95 ? `${who} makes “${word}” less likely.` : `${who} does not change the probability of “${word}”.`;
}

/** One mask, the one at `place` among `gaps`: both predictions side by side. */
export function gapView(gaps, place, { left, cut }) {
  const gap = gaps[place];
  const name = `${gaps.length > 1 ? `Mask ${place + 1}` : "The mask"}, position ${gap.position}`;
  return el("section", { class: "gap", "data-position": gap.position, "aria-label": name },
    el("h4", {}, name, el("span", {}, gainText(gap, { known: gaps[place - 1]?.word, cut }))),
    el("div", { class: "readers" },
      gap.left ? reader(`left context only (${left})`, gap.left, gap.word)
        : el("p", { class: "reader none" }, "The left context is unknown, because of a [MASK] that you " +
          "typed or another sentence."),
      reader("both sides (bidirectional)", gap.both, gap.word)));
}
