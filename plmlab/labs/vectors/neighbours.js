// The neighbours of the selected word: their similarity, the number of seeds that agree, and which are new.

import { changesSaid, MEASURES } from "./messages.js";
import { radioGroup } from "../shared/controls.js";
import { el } from "../shared/dom.js";
import { decimal, number } from "../shared/words.js";

/** The rows that became neighbours, and those that no longer are. */
export const turnover = (now, before) => ({
  gained: now.filter((row) => !before.includes(row)), lost: before.filter((row) => !now.includes(row)),
});

/** The number of seeds, including this one, in which a word is among the ten nearest neighbours of another. */
export const agreeing = (space, measure, row, other) =>
  1 + space.twins.filter((twin) => twin[measure](row).includes(other)).length;

const measureSwitch = (value, choose) => radioGroup({
  label: "similarity measure", kind: "bar quiet measures", value,
  options: Object.entries(MEASURES).map(([name, title]) => [name, title, { "data-at": `measure-${name}` }]),
}, choose).node;

const NOTES = {
  cosine: "The cosine compares directions only: the length of a vector does not matter.",
  dot: "The dot product grows with the lengths: long vectors score high with many words.",
};

/** The panel of neighbours. `near` and `before` are rows with scores; `before` is null at the first snapshot. */
export function neighbourPanel({ space, at, row, near, before, measure, onWord, onMeasure, onHover }) {
  const most = Math.max(...near.map(({ score }) => Math.abs(score)), 1e-9);
  const rowsOf = (list) => list.map((neighbour) => neighbour.row);
  const change = before && turnover(rowsOf(near), rowsOf(before));
  const seeds = space.twins.length && at === space.last ? space.twins.length + 1 : 0;
  const whole = measure === "cosine" ? 1 : most;
  const rows = near.map(({ row: other, score }, i) => {
    const isNew = change?.gained.includes(other);
    const agree = seeds ? agreeing(space, measure, row, other) : 0;
    return el("li", { class: `near${isNew ? " new" : ""}` },
      el("button", { type: "button", "data-at": `near-${i}`, title: "select this word", on: { click: () => onWord(other),
        pointerenter: () => onHover(other), pointerleave: () => onHover(-1), focus: () => onHover(other),
        blur: () => onHover(-1) } }, el("bdi", {}, space.words[other])),
      el("span", { class: "bar-of", "aria-hidden": "true" },
        el("i", { class: score < 0 ? "minus" : "", style: `width:${(100 * Math.abs(score)) / whole}%` })),
      el("span", { class: "score" }, decimal(score)),
      el("span", { class: "seeds" }, seeds ? `${agree} of ${seeds}` : "", isNew ? el("em", {}, " new") : ""));
  });
  const changes = change
    ? changesSaid(...[change.gained, change.lost].map((list) => list.map((other) => space.words[other])),
      space.updates[at - 1]) : "";
  return el("div", { class: "neighbours" },
    el("h4", {}, "Nearest to ", el("bdi", {}, space.words[row]),
      space.last ? ` at update ${number(space.updates[at])}` : ""),
    measureSwitch(measure, onMeasure),
    el("div", { class: "near head" }, el("span", {}, "word"), el("span", {}), el("span", {}, MEASURES[measure]),
      el("span", {}, seeds ? "seeds" : "")),
    el("ol", {}, ...rows),
    el("p", { class: "note" }, NOTES[measure],
      seeds ? " Seeds: the number of seeds, including this one, in which the word is among the ten nearest." : "",
      space.twins.length && !seeds ? " The other seeds are fully trained: they are compared at the last update."
        : ""),
    ...(changes ? [el("p", { class: "note changes" }, changes)] : []));
}
