// The Memory Recall Lab: the blocks of a long text, which of them enter the memory, step by step, and the answer.

import { blockSaid, guessOf, pairSaid, prose, stepSaid, titleOf, verdictOf } from "./messages.js";
import { blockPanel, costOf, edited, memoryOf, setTo } from "./panel.js";
import { legendOf, stripOf } from "./strip.js";
import { checkbox, following, presetBar, radioGroup, textField } from "../shared/controls.js";
import { clamp, eachFrame, el, keepingFocus, resized } from "../shared/dom.js";
import { guess, lab, observe, setter, tell } from "../shared/lab.js";

const KEYS = { h: "hold", x: "exclude", f: "free" };
const FRESH = { held: [], excluded: [], edits: {} };

/** The block that is selected first: the best of the first competition, or the first of the memory. */
export const firstOf = ({ steps: [{ entered, memory }] }) => entered[0] ?? memory[0];

export default lab({
  title: "Which blocks of a long text does the model need?",
  lead: "A judge scores the blocks of a text that is too long for the model. In each round the best blocks enter the " +
    "memory, and the judge scores them again together. Then the reasoner predicts the answer from the memory alone. " +
    "Step through the rounds, hold, exclude or rewrite a block, and see whether the answer changes.",
}, ({ model, signal, parts }) => {
  parts.node.classList.add("recall");
  const disabled = Boolean(model.get("alone"));
  const choose = setter(model);
  const view = { at: null, document: null, guess: { open: null }, titles: null };
  const state = () => model.get("state");
  const stepNow = () => clamp(model.get("step"), 0, state().steps.length - 1);
  const go = (step) => choose({ step });

  const reset = el("button", { type: "button", disabled, on: { click: () => {
    panel.forget();
    const { question } = model.get("menu").presets[model.get("document")];
    tell(model, { text: question, ...FRESH });
    showPanel();
  } } }, "Reset");
  const needed = checkbox({ title: "show the needed blocks" }, (on) => choose({ needed: on }));
  const uniform = checkbox({ title: "all blocks with the same width" }, (on) => choose({ uniform: on }));
  parts.controls.prepend(
    el("div", { class: "bar" }, textField(model, "the question", signal), reset),
    presetBar(model, model.get("menu").presets, ({ question }, i) => ({ document: i, text: question, ...FRESH, step: 0 })),
    el("div", { class: "bar quiet" }, following(model, "needed", needed, signal), following(model, "uniform", uniform, signal)));

  const button = (text, by) => el("button", { type: "button", on: { click: () => go(stepNow() + by) } }, text);
  const [back, forward] = [button("◂ Back", -1), button("Step ▸", 1)];
  const all = (tag, ...kinds) => kinds.map((name) => el(tag, { class: name }));
  const [steps, strip, ask, memory, cost] = all("div", "steps", "strip-place", "ask-place", "memory-place", "cost-place");
  const [said, pair, why] = all("p", "step-said", "pair-said", "why");
  const verdict = el("b", {});
  for (const line of [said, pair, why]) line.setAttribute("role", "status");
  const legend = el("div", { class: "legend-place" });
  const panel = blockPanel({ disabled,
    set: (what, n) => change(setTo(state(), what, n)),
    write: (n, text) => {
      change({ edits: edited(state().edits, n, text) });
      showPanel();
    } });
  parts.body.append(ask, el("div", { class: "bar" }, back, forward, steps), said, pair, strip, legend, why,
    el("div", { class: "two" }, el("div", {}, panel.node, cost), memory));

  /** Sends a change together with those on the screen: one that was refused is not sent again. */
  const change = (traits) => {
    const { held, excluded, edits } = state();
    tell(model, { held, excluded, edits, ...traits });
  };
  const point = (n) => {
    const shown = n ?? view.at;
    why.replaceChildren(`${blockSaid(state(), stepNow(), shown, model.get("needed"))}. `,
      el("bdi", { class: "quote" }, prose(state().blocks[shown].tokens)));
  };
  const select = (n) => {
    view.at = n;
    view.strip.mark(n);
    showPanel();
    point(n);
  };
  const showPanel = () => {
    if (state().blocks?.[view.at]) panel.show(state(), view.at, model.get("stale") ? model.get("message") : "");
  };
  parts.body.addEventListener("keydown", (event) => {
    const what = KEYS[event.key.toLowerCase()];
    if (!what || disabled || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!event.target.closest(".strip, .block-panel .acts")) return;
    change(setTo(state(), what, view.at));
    event.preventDefault();
    event.stopPropagation();
  });
  const drawSteps = (step) => {
    const titles = state().steps.map(titleOf);
    if (String(titles) !== view.titles) {
      view.radios = radioGroup({ label: "step", kind: "bar quiet", value: step,
        options: titles.map((title, i) => [i, title, { "data-at": `step ${i}` }]) }, go);
      steps.replaceChildren(view.radios.node);
      view.titles = String(titles);
    }
    view.radios.show(step);
    const focused = [back, forward].find((one) => one === document.activeElement);
    back.disabled = step === 0;
    forward.disabled = step === titles.length - 1;
    if (focused?.disabled) (back.disabled ? forward : back).focus({ preventScroll: true });
  };
  const draw = () => {
    const now = state();
    if (!now.blocks) return;
    const [step, marks] = [stepNow(), model.get("needed")];
    if (view.document !== now.document) {
      panel.forget();
      Object.assign(view, { document: now.document, at: firstOf(now) });
    }
    needed.node.hidden = now.blocks.every((block) => block.needed === null);
    keepingFocus(parts.body, () => {
      drawSteps(step);
      said.replaceChildren(`${stepSaid(now, step)} `, verdict);
      const judged = now.steps[step].kind === "answer" ? verdictOf(now) : null;
      Object.assign(verdict, { textContent: judged?.text ?? "", className: judged?.good ? "good" : "bad" });
      pair.textContent = pairSaid(now);
      view.strip = stripOf({ state: now, step, needed: marks, uniform: model.get("uniform"),
        room: parts.body.clientWidth, at: view.at, select, point });
      strip.replaceChildren(view.strip.node);
      legend.replaceChildren(legendOf(marks));
      ask.replaceChildren(guess(view.guess, ...guessOf(now), `${now.document} ${prose(now.question)}`));
      memory.replaceChildren(memoryOf(now, step));
      cost.replaceChildren(costOf(now));
    });
    showPanel();
    point(null);
  };
  observe(model, ["state"], eachFrame(draw), signal);
  observe(model, ["step", "needed", "uniform"], draw, signal);
  observe(model, ["message", "stale"], showPanel, signal);
  resized(parts.body, draw, signal);
  draw();
});
