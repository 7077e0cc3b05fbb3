// What stands beneath the pictures of the Memory Lab: the answer before and after, and one score in its four terms.

import { waterfall } from "./numbers.js";
import { WAYS, isChanged } from "./told.js";
import { radioGroup } from "../shared/controls.js";
import { clamp, el, svg } from "../shared/dom.js";
import { chance } from "../shared/softmax.js";
import { TERMS } from "../shared/terms.js";
import { number, signed } from "../shared/words.js";

const wide = (p) => `${(100 * p).toFixed(2)}%`;

/** One answer: the word that is asked for, and the likeliest words. */
function answer(title, { p, rank, likeliest }, word, role) {
  const rows = likeliest.map(([said, share]) => [said, share, said === word]);
  if (!rows.some(([, , own]) => own)) rows.push([word, p, true]);
  return el("div", { class: `answer ${role}` }, el("h5", {}, title),
    ...rows.map(([said, share, own], i) => el("div", { class: `said-row${own ? " own" : ""}`, role: "img",
      "aria-label": `${said}: ${chance(share)}` },
    el("bdi", { class: "token" }, said),
    el("span", { class: "track" }, el("i", { style: `width:${wide(share)}` })),
    el("span", { class: "amount" }, chance(share)),
    el("span", { class: "rank" }, own && i >= 5 ? `no. ${number(rank)}` : ""))));
}

/** The answer before and after, side by side. `undo` takes all changes back; `idle`: what is cut is not looked at. */
export function answerPanel({ state, changeSaid, idle, disabled, undo }) {
  const [now, then] = state.answers;
  const changed = isChanged(state);
  return el("div", { class: "answers" },
    el("h4", {}, `What comes after “${state.names[state.position]}”?`),
    el("div", { class: "pair" }, answer("as it is", now, state.word, "before"),
      changed ? answer(changeSaid, then, state.word, "after")
        : el("p", { class: "nothing" }, idle ? "What you cut is forgotten already, or comes later: nothing changes."
          : "Nothing is cut. Choose above what a click does, then click a word; or take away a term of the scores.")),
    ...(changed || idle ? [el("button", { type: "button", class: "preset", disabled, "data-at": "undo",
      on: { click: undo } }, "mend everything")] : []));
}

/** The ways to read the text, each with the probability of the word; `choose(name)` reads it in one. */
export function waysPanel({ state, disabled, choose }) {
  const row = (way) => [el("span", { class: "way-name" }, WAYS[way.name]),
    el("span", { class: "track" }, el("i", { style: `width:${wide(way.p)}` })),
    el("span", { class: "amount" }, chance(way.p)), el("bdi", { class: "first" }, way.likeliest[0][0])];
  const { node } = radioGroup({ label: "how scores are made", kind: "ways", value: state.without, disabled,
    lead: el("h4", {}, "Take a term of all scores away, or make a known mistake"),
    options: state.ways.map((way) => [way.name, row(way), { "data-at": `way-${way.name}` }, { class: "way" }]),
  }, choose);
  node.append(
    el("p", { class: "note" }, `Bars: the probability of “${state.word}”, and the word that comes first, where the ` +
      "whole text is read so, in every layer, and nothing is cut."));
  return node;
}

const [NAME, NUMBER, CHANGED, ROW] = [216, 58, 66, 24];
const WIDE = 480;

/**
 * One score as four terms, one upon the other. `terms` are those of the pair as it is, `after` as it is changed (null
 * where nothing is); `most` is the end of the scale, the same for all keys of the layer and head.
 */
export function scorePanel({ terms, after, weight, weightAfter, most, title, controls }) {
  const head = [el("h4", {}, title), controls];
  if (!terms) {
    return el("div", { class: "score" }, ...head,
      el("p", { class: "note" }, "This position is neither read nor remembered: no score is made with it."));
  }
  const { steps, sum } = waterfall(terms);
  const changed = after && waterfall(after);
  const plot = WIDE - NAME - NUMBER - (changed ? CHANGED : 0);
  const x = (value) => NAME + plot / 2 + clamp(value / most, -1.04, 1.04) * (plot / 2 - 6);
  const height = ROW * 5 + 20;
  const parts = steps.flatMap(({ from, to }, i) => {
    const y = 18 + ROW * i;
    const [low, high] = [Math.min(x(from), x(to)), Math.max(x(from), x(to))];
    const other = changed && Math.abs(after[i] - terms[i]) > 0.005 ? svg("text", { class: "changed-to", x: NAME + plot +
      NUMBER + 4, y: y + 15 }, `→ ${signed(after[i])}`) : "";
    return [svg("text", { class: "term-name", x: 0, y: y + 15 }, `(${TERMS[i].letter}) ${TERMS[i].title}`),
      svg("rect", { class: `term term-${i}`, x: low, y: y + 4, width: Math.max(high - low, 1), height: ROW - 9 }),
      svg("path", { class: "carry", d: `M${x(to)} ${y + 4}V${y + ROW + 4}` }),
      svg("text", { class: "amount", x: NAME + plot + NUMBER - 8, y: y + 15, "text-anchor": "end" }, signed(terms[i])),
      other];
  });
  const y = 18 + ROW * 4;
  return el("div", { class: "score" }, ...head,
    svg("svg", { width: WIDE, height, role: "img", viewBox: `0 0 ${WIDE} ${height}`,
      "aria-label": terms.map((term, i) => `(${TERMS[i].letter}) ${signed(term)}, `).join("") + `sum ${signed(sum)}` },
    svg("text", { class: "axis", x: x(0), y: 11, "text-anchor": "middle" }, "0"),
    svg("text", { class: "axis", x: x(-most), y: 11, "text-anchor": "start" }, signed(-most)),
    svg("text", { class: "axis", x: x(most), y: 11, "text-anchor": "end" }, signed(most)),
    svg("path", { class: "rule", d: `M${x(0)} 16V${height}` }), ...parts,
    svg("text", { class: "term-name sum", x: 0, y: y + 15 }, "score, the sum"),
    svg("rect", { class: "term sum", x: Math.min(x(0), x(sum)), y: y + 4, width: Math.max(Math.abs(x(sum) - x(0)), 1),
      height: ROW - 9 }),
    svg("text", { class: "amount sum", x: NAME + plot + NUMBER - 8, y: y + 15, "text-anchor": "end" }, signed(sum)),
    changed && Math.abs(changed.sum - sum) > 0.005 ? svg("text", { class: "changed-to", x: NAME + plot + NUMBER + 4,
      y: y + 15 }, `→ ${signed(changed.sum)}`) : ""),
    el("p", { class: "note" }, "Each term is divided by √d. The softmax over all keys makes of this score a weight " +
      `of ${weight.toFixed(3)}${changed ?}` (as changed ${weightAfter.toFixed(3)})` : ""}. The scale is the same for ` +
      "all keys of this layer and head; what goes below it is cut off."));
}
