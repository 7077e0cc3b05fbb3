// The Blank Lab: spans of a text become blanks; input, targets, attention mask, and generation.

import { orderRow, wordRow } from "./chips.js";
import { exercise } from "./exercise.js";
import { fillingPanel, lastStep, saidAt } from "./filling.js";
import { square } from "./square.js";
import { following, presetBar, radioGroup, textField } from "../shared/controls.js";
import { clamp, eachFrame, el, keepingFocus, resized } from "../shared/dom.js";
import { guess, lab, observe, setter, tell } from "../shared/lab.js";

/** The choice between viewing the example and filling it in. */
const modes = (model, choose, signal) => following(model, "fill_in", radioGroup({
  label: "Part A and Part B", lead: "Part A and Part B: ",
  options: [[false, "view"], [true, "fill it in yourself"]],
}, (value) => choose({ fill_in: value })), signal);

/** The same blanks in the input formats of three models. */
function three(beside) {
  const heads = ["input", "target", "length of a blank"];
  const cell = (text, i) => el("td", { class: i === 2 ? "told" : "", "data-head": heads[i] }, el("bdi", {}, text));
  return el("section", { class: "three", "aria-label": "BERT, T5 and GLM" },
    el("h4", {}, "The same blanks in three models: which one knows the length of a blank?"),
    el("div", { class: "scroll" }, el("table", { class: "ways" },
      el("thead", {}, el("tr", {}, ...["", ...heads].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, ...beside.map(({ name, reads, says, told }) =>
        el("tr", {}, el("th", { scope: "row" }, name), ...[reads, says, told].map(cell)))))));
}

export default lab({
  title: "How does GLM fill a blank of unknown length?",
  lead: "GLM masks spans of a text and generates them word by word. Drag over words, or hold Shift with an arrow key and press " +
    "Enter, to make a blank; press a blank to remove it. Point at a token or a cell to see its explanation.",
}, ({ model, signal, parts }) => {
  parts.node.classList.add("blanks");
  const disabled = Boolean(model.get("alone"));
  const { presets, draws, world } = model.get("menu");
  const choose = setter(model);
  const view = { open: null, guess: { open: null }, answers: null, cell: null, example: null };
  const hide = (blanks) => tell(model, { ...blanks, chosen: [], step: 0 });
  const words = wordRow({ disabled, onBlanks: hide });
  const order = orderRow({ disabled, onOrder: (made) => tell(model, { order: made, chosen: [], step: 0 }) });
  parts.controls.prepend(
    el("div", { class: "bar" }, textField(model, "your sentence", signal)),
    presetBar(model, presets));
  const [example, filling, beside] = ["example", "filling-place", "beside"].map((name) => el("div", { class: name }));
  parts.body.append(words.node, order.node, modes(model, choose, signal), example, filling, beside);

  const drawFilling = () => keepingFocus(filling, () => {
    const state = model.get("state");
    if (!state.tokens) return;
    const step = clamp(model.get("step"), 0, lastStep(state.steps));
    const go = (to, along = false) => {
      choose({ step: clamp(to, 0, lastStep(state.steps)) });
      drawFilling();
      if (along) filling.querySelector("[aria-current=step]")?.focus({ preventScroll: true });
    };
    const say = (word) => {
      const chosen = saidAt(state.steps, step, word);
      if (String(chosen) === String(model.get("chosen"))) go(step + 1);
      else tell(model, { chosen });
    };
    filling.hidden = beside.hidden = model.get("fill_in") || !state.spans.length;
    filling.replaceChildren(...(state.steps.length ? [fillingPanel({ state, step, view, disabled, draws, world, go, say,
      again: () => tell(model, { chosen: [], step: 0 }) })] : []));
  }, (at) => (/^(say|back|next)/.test(at)
    ? filling.querySelector("[aria-current=step], [data-at=back]:not(:disabled)") : null));
  const drawExample = () => keepingFocus(example, () => {
    const state = model.get("state");
    if (!state.tokens) return;
    if (model.get("fill_in")) return example.replaceChildren(state.spans.length ? exercise({ state, view })
      : el("p", {}, "There is no blank: mark a span first."));
    const key = JSON.stringify([state.inputs, state.sizes]);
    const ask = state.question ? guess(view.guess, state.question, state.answer, key) : "";
    const drawn = square({ state, room: parts.body.clientWidth, font: parts.node, ask });
    if (view.example !== key) Object.assign(view, { example: key, cell: drawn.at() });
    else if (view.drawn) view.cell = view.drawn.at();
    view.drawn = drawn;
    example.replaceChildren(...(state.spans.length ? [] : [el("p", { class: "nothing" },
      "There is no blank: Part A is the whole text, and Part B is empty.")]), drawn.node);
    drawn.point(view.cell);
  });
  const draw = () => {
    const state = model.get("state");
    if (!state.tokens) return;
    words.draw(state);
    order.draw(state);
    drawExample();
    drawFilling();
    beside.replaceChildren(three(state.other_formats));
  };
  observe(model, ["state"], eachFrame(draw), signal);
  observe(model, ["fill_in"], draw, signal);
  observe(model, ["step"], drawFilling, signal);
  resized(parts.body, drawExample, signal);
  draw();
});
