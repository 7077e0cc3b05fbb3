// The panels below the pictures of the Memory Lab: the prediction before and after, and one score as four terms.

import { waterfall } from "./numbers.js";
import { WAYS, isChanged } from "./messages.js";
import { radioGroup } from "../shared/controls.js";
import { clamp, el, svg } from "../shared/dom.js";
import { chance } from "../shared/softmax.js";
import { TERMS } from "../shared/terms.js";
import { number, signed } from "../shared/words.js";

const wide = (p) => `${(100 * p).toFixed(2)}%`;

/** One prediction: the target and the most probable words. */
function answer(title, { p, rank, likeliest }, word, role) {
  const rows = likeliest.map(([token, prob]) => [token, prob, token === word]);
  if (!rows.some(([, , own]) => own)) rows.push([word, p, true]);
  return el("div", { class: `answer ${role}` }, el("h5", {}, title),
    ...rows.map(([token, prob, own], i) => el("div", { class: `said-row${own ? " own" : ""}`, role: "img",
      "aria-label": `${token}: ${chance(prob)}` },
    el("bdi", { class: "token" }, token),
    el("span", { class: "track" }, el("i", { style: `width:${wide(prob)}` })),
    el("span", { class: "amount" }, chance(prob)),
    el("span", { class: "rank" }, own && i >= 5 ? `rank ${number(rank)}` : ""))));
}

/** The prediction before and after, side by side. `undo` reverts all changes; `idle`: no visible key is masked out. */
export function answerPanel({ state, changeSaid, idle, disabled, undo }) {
  const [now, then] = state.answers;
  const changed = isChanged(state);
  return el("div", { class: "answers" },
    el("h4", {}, `What comes after “${state.names[state.position]}”?`),
    el("div", { class: "pair" }, answer("unchanged", now, state.word, "before"),
      changed ? answer(changeSaid, then, state.word, "after")
        : el("p", { class: "nothing" }, idle ? "What you masked out is no longer in the memory, or comes later, so masking it has no effect."
          : "Nothing is masked out. Choose what a click does and click a word, or remove a term of the scores.")),
    ...(changed || idle ? [el("button", { type: "button", class: "preset", disabled, "data-at": "undo",
      on: { click: undo } }, "restore everything")] : []));
}

/** The interventions on the scores, each with the target's probability; `choose(name)` applies one. */
export function waysPanel({ state, disabled, choose }) {
  const row = (way) => [el("span", { class: "way-name" }, WAYS[way.name]),
    el("span", { class: "track" }, el("i", { style: `width:${wide(way.p)}` })),
    el("span", { class: "amount" }, chance(way.p)), el("bdi", { class: "first" }, way.likeliest[0][0])];
  const { node } = radioGroup({ label: "how scores are computed", kind: "ways", value: state.without, disabled,
    lead: el("h4", {}, "Remove a term from all scores, or reproduce a known bug"),
    options: state.interventions.map((way) => [way.name, row(way), { "data-at": `way-${way.name}` }, { class: "way" }]),
  }, choose);
  node.append(
    el("p", { class: "note" }, `Bars: the probability of “${state.word}”, and the top prediction, when the ` +
      "change applies to every layer and to the whole text, and nothing is masked out."));
  return node;
}

const [NAME, NUMBER, CHANGED, ROW] = [216, 58, 66, 24];
const WIDE = 480;

/**
 * One score as a waterfall of four terms. `terms` are those of the unchanged model, `after` those of the changed one
 * (or null); `most` is the end of the scale, the same for all keys of the layer and head.
 */
export function scorePanel({ terms, after, weight, weightAfter, most, title, controls }) {
  const head = [el("h4", {}, title), controls];
  if (!terms) {
    return el("div", { class: "score" }, ...head,
      el("p", { class: "note" }, "This position is neither in the segment nor in the memory: it has no score."));
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
    svg("text", { class: "term-name sum", x: 0, y: y + 15 }, "score (sum)"),
    svg("rect", { class: "term sum", x: Math.min(x(0), x(sum)), y: y + 4, width: Math.max(Math.abs(x(sum) - x(0)), 1),
      height: ROW - 9 }),
    svg("text", { class: "amount sum", x: NAME + plot + NUMBER - 8, y: y + 15, "text-anchor": "end" }, signed(sum)),
    changed && Math.abs(changed.sum - sum) > 0.005 ? svg("text", { class: "changed-to", x: NAME + plot + NUMBER + 4,
      y: y + 15 }, `→ ${signed(changed.sum)}`) : ""),
    el("p", { class: "note" }, "Each term is divided by √d. The softmax over all keys turns this score into a " +
      `weight of ${weight.toFixed(3)}${changed ? ` (${weightAfter.toFixed(3)} when changed)` : ""}. The scale is the ` +
      "same for all keys of this layer and head; values below it are clipped."));
}
