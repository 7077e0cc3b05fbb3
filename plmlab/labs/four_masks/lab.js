// The Four-mask Lab: one sentence, one masked word, one network; four attention masks, side by side.

import { panelOf } from "./panels.js";
import { reason, verdicts } from "./messages.js";
import { cutSlider, wordRow } from "./words.js";
import { presetBar, textField } from "../shared/controls.js";
import { eachFrame, el, keepingFocus, resized } from "../shared/dom.js";
import { guess, lab, observe, setter, tell, written } from "../shared/lab.js";

const BESIDE = 800;
const GAP = 34;
const MOST = 250;
const FIRST = 2; // the initial panel: the first that has a blocked cell for every sentence

const LEGEND = [["swatch rule-0", "allowed"], ["swatch rule-1", "allowed: earlier in the target"],
  ["swatch blocked", "blocked"], ["swatch gap-key", "row of the masked word"]];

/** The initial pair: the masked word as the query, and the word after it (or before it, if it is the last) as the key. */
export function firstPair({ tokens, hidden }) {
  const k = hidden + 1 < tokens.length ? hidden + 1 : hidden - 1;
  return { q: hidden, k: k < 0 ? "end" : k };
}

/** The layout of the panels, and the maximum width of their squares. */
export function widthsOf(room) {
  const beside = room >= BESIDE;
  const panel = beside ? (room - GAP) / 2 : room;
  return { beside, side: Math.floor(Math.min(MOST, panel * 0.46)) };
}

export default lab({
  title: "One masked word, four attention masks",
  lead: "UniLM is one network. The attention mask determines which positions each position can attend to, and so the context " +
    "from which a masked word is predicted. Press a word to mask it; point at a cell to see why it is allowed or blocked.",
}, ({ model, signal, parts }) => {
  parts.node.classList.add("four");
  const disabled = Boolean(model.get("alone"));
  const { presets, world } = model.get("menu");
  const choose = setter(model);
  const view = { open: null, sentence: null, pair: null, panel: FIRST, panels: [] };
  const row = wordRow({ disabled, press: (hidden) => tell(model, { hidden, tried: model.get("tried") + 1 }) });
  const cut = cutSlider({ disabled, send: (value) => choose({ cut: value }) });
  parts.controls.prepend(
    el("div", { class: "bar" }, textField(model, "your sentence", signal)),
    presetBar(model, presets, (preset) => ({ ...preset, tried: model.get("tried") + 1 })));
  const why = el("div", { class: "why", role: "status", "aria-live": "polite" });
  const panels = el("div", { class: "panels" });
  const ask = el("div", {});
  const legend = el("p", { class: "legend-line" },
    el("span", {}, el("b", { class: "query" }, "query"), " ↓ can attend to ", el("b", { class: "key" }, "key"), " →"),
    ...LEGEND.map(([name, text]) => el("span", {}, el("i", { class: name }), text)),
    el("span", {}, "◂ the masked word"),
    el("span", {}, el("i", { class: "model" }), "p of the word: the model"),
    ...(world ? [el("span", {}, el("i", { class: "best" }), "the Bayes-optimal predictor under the same mask (exact)")] : []));
  parts.body.append(row.node, cut.node, ask, why, legend, panels);

  const point = (pair, panel = view.panel) => {
    Object.assign(view, { pair, panel });
    const all = model.get("state").panels;
    const pieces = reason(all[panel], pair);
    why.replaceChildren(
      el("p", {}, el("b", {}, all[panel].name), ": ", ...(pieces ? written(pieces) : ["this pair does not exist under this mask."])),
      el("p", { class: "verdicts" }, verdicts(all, pair)));
    for (const one of view.panels) one.point(pair);
  };
  const draw = () => keepingFocus(panels, () => {
    const state = model.get("state");
    if (!state.tokens) return;
    const { beside, side } = widthsOf(parts.body.clientWidth);
    const sentence = JSON.stringify([state.tokens, state.hidden]);
    if (view.sentence !== sentence) Object.assign(view, { sentence, pair: firstPair(state), panel: FIRST });
    row.draw(state);
    cut.show(state);
    const positions = Math.max(...state.panels.map(({ places }) => places.length));
    view.panels = state.panels.map((panel, index) => panelOf({ panel, state, side, positions, font: parts.node, index,
      onPoint: (pair) => point(pair, index) }));
    panels.classList.toggle("stacked", !beside);
    panels.replaceChildren(...view.panels.map(({ node }) => node));
    ask.replaceChildren(guess(view, state.question, state.answer, sentence));
    point(view.pair);
  });
  observe(model, ["state"], eachFrame(draw), signal);
  resized(parts.body, draw, signal);
  draw();
});
