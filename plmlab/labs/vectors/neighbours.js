// The chosen word's neighbours: how near they are, in how many seeds, and which are new.

import { changesSaid, MEASURES } from "./told.js";
import { radioGroup } from "../shared/controls.js";
import { el } from "../shared/dom.js";
import { decimal, number } from "../shared/words.js";

/** Which words came among the neighbours, and which went, as rows. */
export const turnover = (now, before) => ({
  gained: now.filter((row) => !before.includes(row)), lost: before.filter((row) => !now.includes(row)),
});

/** In how many seeds, this one counted, a word is among the ten nearest of another. */
export const agreeing = (space, measure, row, other) =>
  1 + space.twins.filter((twin) => twin[measure](row).includes(other)).length;

const measureSwitch = (value, choose) => radioGroup({
  label: "how near is measured", kind: "bar quiet measures", value,
  options: Object.entries(MEASURES).map(([name, title]) => [name, title, { "data-at": `measure-${name}` }]),
}, choose).node;

const NOTES = {
  cosine: "The cosine sees directions only: a vector's length does not count.",
  dot: "The dot product grows with the lengths: long vectors come near to everything.",
};

/** The panel. `near` and `before` are rows with scores; `before` is null at the first snapshot. */
export function neighbourPanel({ space, at, row, near, before, measure, onWord, onMeasure, onHover }) {
  const most = Math.max(...near.map(({ score }) => Math.abs(score)), 1e-9);
  const change = before && turnover(near.map((one) => one.row), before.map((one) => one.row));
  const seeds = space.twins.length && at === space.last ? space.twins.length + 1 : 0;
  const whole = measure === "cosine" ? 1 : most;
  const rows = near.map(({ row: other, score }, i) => {
    const isNew = change?.gained.includes(other);
    const agree = seeds ? agreeing(space, measure, row, other) : 0;
    return el("li", { class: `near${isNew ? " new" : ""}` },
      el("button", { type: "button", "data-at": `near-${i}`, title: "choose this word", on: { click: () => onWord(other),
        pointerenter: () => onHover(other), pointerleave: () => onHover(-1), focus: () => onHover(other),
        blur: () => onHover(-1) } }, el("bdi", {}, space.words[other])),
      el("span", { class: "bar-of", "aria-hidden": "true" },
        el("i", { class: score < 0 ? "minus" : "", style: `width:${(100 * Math.abs(score)) / whole}%` })),
      el("span", { class: "score" }, decimal(score)),
      el("span", { class: "seeds" }, seeds ? `${agree} of ${seeds}` : "", isNew ? el("em", {}, " new") : ""));
  });
  const told = change ? changesSaid(...[change.gained, change.lost].map((list) => list.map((one) => space.words[one])),
    space.updates[at - 1]) : "";
  return el("div", { class: "neighbours" },
    el("h4", {}, "Nearest to ", el("bdi", {}, space.words[row]),
      space.last ? ` at update ${number(space.updates[at])}` : ""),
    measureSwitch(measure, onMeasure),
    el("div", { class: "near head" }, el("span", {}, "word"), el("span", {}), el("span", {}, MEASURES[measure]),
      el("span", {}, seeds ? "seeds" : "")),
    el("ol", {}, ...rows),
    el("p", { class: "note" }, NOTES[measure],
      seeds ? " Seeds: in how many of them, this one counted, the word is one of the ten." : "",
      space.twins.length && !seeds ? " The other seeds were trained to the end: they are compared at the last update."
        : ""),
    ...(told ? [el("p", { class: "note changes" }, told)] : []));
}
