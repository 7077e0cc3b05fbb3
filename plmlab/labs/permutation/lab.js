// The Permutation Lab: one sentence, predicted in an order that the user chooses, by a two-stream model and by the
// Bayes-optimal predictor.

import { orderPanel } from "./chips.js";
import { squares } from "./squares.js";
import { strip } from "./strip.js";
import { leakSaid, ordersSaid, stepSaid, tallySaid, tellingStep } from "./messages.js";
import { reader } from "../shared/beliefs.js";
import { checkbox, following, presetButtons, slider, textField } from "../shared/controls.js";
import { clamp, eachFrame, el, keepingFocus, resized } from "../shared/dom.js";
import { guess, lab, observe, setter, tell } from "../shared/lab.js";
import { listedInQuotes } from "../shared/words.js";

const BESIDE = 780;
const GAP = 40;
const GIVEN = "The sentence is not shuffled: each word keeps its position; only the order in which the words are " +
  "predicted changes. [SEP] and [CLS] come first, so that the length is known. For a perfect model, the product " +
  "of the probabilities is then the same in every order.";

/** The step shown: the selected one if the sentence has that many, otherwise one with both left and right context. */
const stepOf = (model, { steps }) => clamp(model.get("step") ?? tellingStep(steps), 1, steps.length);

function controls(model, signal) {
  const { presets, leaking } = model.get("menu");
  const disabled = Boolean(model.get("alone"));
  const order = (title, make) => el("button", { type: "button", class: "preset", disabled,
    on: { click: () => make(model.get("state").order?.length ?? 0) } }, title);
  const places = (count) => Array.from({ length: count }, (_, place) => place);
  const orders = el("span", { class: "presets", role: "group", "aria-label": "orders" }, "order ",
    order("left to right", (count) => tell(model, { order: places(count) })),
    order("right to left", (count) => tell(model, { order: places(count).reverse() })),
    order("random", () => tell(model, { draws: model.get("draws") + 1 })));
  const leak = checkbox({ title: "let the query stream see its own word", kind: "leak-switch", role: "switch",
    disabled }, (on) => tell(model, { leak: on }));
  return [
    el("div", { class: "bar" }, textField(model, "your sentence", signal)),
    el("div", { class: "bar quiet" }, orders, presetButtons(model, presets),
      ...(leaking ? [following(model, "leak", leak, signal)] : [])),
  ];
}

/** The slider of steps, with a button on either side; it persists while everything else is redrawn. */
function stepper(choose) {
  let now = 1;
  const by = (title, far) =>
    el("button", { type: "button", class: "preset", on: { click: () => choose(now + far) } }, title);
  const [back, next] = [by("‹ previous step", -1), by("next step ›", 1)];
  const steps = slider({ title: "step", low: 1, high: 1, step: 1, said: (at, count) => `${at} of ${count}` }, choose);
  const node = el("div", { class: "bar quiet stepper", role: "group", "aria-label": "steps" }, back, steps.node, next);
  return { node, show(step, count) {
    now = step;
    steps.show(step, count);
    back.disabled = step <= 1;
    next.disabled = step >= count;
  } };
}

/** The predictions for the target of a step. */
function beliefOf(state, step) {
  const { position, left, right, belief } = state.steps[step - 1];
  const seen = [...left, ...right].sort((a, b) => a - b).map((i) => state.names[i]);
  const given = `${seen.length ? `${listedInQuotes(seen)}, each at its position, and ` : ""}the length`;
  return el("div", {},
    el("h4", {}, `Predictions for the target, given ${given}${state.leak ? ", and the target itself" : ""}`),
    el("p", { class: "legend-line" }, el("span", {}, el("i", { class: "model" }), state.leak ? "the leaking model" : "the model"),
      ...(belief.kl === null ? [] : [el("span", {}, el("i", { class: "best" }),
        "the Bayes-optimal predictor (exact)")])),
    reader("", belief, state.names[position]),
    ...(belief.kl === null && state.why_not ? [el("p", { class: "note" },
      `There is no exact prediction here. ${state.why_not}`)] : []));
}

export default lab({
  title: "In which order is a sentence predicted?",
  lead: "XLNet predicts the words of a sentence one at a time, in any factorization order. Drag the words of the " +
    "order, or move them with the arrow keys; go through the order step by step; then compare the losses of all " +
    "orders.",
}, ({ model, signal, parts }) => {
  parts.node.classList.add("permutation");
  const disabled = Boolean(model.get("alone"));
  const { tally } = model.get("menu");
  const choose = setter(model);
  const view = { open: null, room: 0, panel: null, squares: null };
  const goTo = (step) => {
    const { steps } = model.get("state");
    choose({ step: clamp(step, 1, steps.length) });
  };
  const steps = stepper(goTo);
  const place = (name, tag = "div") => el(tag, { class: name });
  const [panel, belief, orders, masks, ask, leak] = ["panel-place", "belief", "orders-place", "masks", "ask-place", "leak"]
    .map((name) => place(name));
  const finding = el("h4", { class: "finding", role: "status", "aria-live": "polite" });
  const byOrder = checkbox({ kind: "by-order",
    title: "sort rows and columns by the order: each mask becomes triangular, like GPT's causal mask" },
  (on) => choose({ by_order: on }));
  parts.controls.prepend(...controls(model, signal));
  parts.body.append(panel, el("p", { class: "note given" }, GIVEN), steps.node, finding, leak,
    el("div", { class: "two" }, belief, orders),
    el("h4", { class: "head" }, "The attention masks of the two streams",
      byOrder.node),
    masks, ask);

  const drawPanel = (state, step) => keepingFocus(panel, () => {
    view.panel = orderPanel({ state, step, room: view.room, disabled, onStep: goTo,
      onOrder: (order) => choose({ order, step }) });
    panel.replaceChildren(view.panel.node);
  });
  const drawMasks = (state, step) => keepingFocus(masks, () => {
    view.squares = squares({ state, byOrder: model.get("by_order"), room: view.room, font: parts.node,
      onRow: (position) => position < state.steps.length && goTo(state.order.indexOf(position) + 1) });
    masks.replaceChildren(view.squares.node);
    pointMasks(state, step);
  });
  const pointMasks = ({ steps: all }, step) => view.squares.point({ q: all[step - 1].position, k: all[step - 1].position });
  const drawOrders = (state) => keepingFocus(orders, () => {
    const width = view.room >= BESIDE ? Math.floor((view.room - GAP) / 2) : view.room;
    orders.replaceChildren(
      el("h4", {},
        `Loss of the sentence in ${state.orders.complete ? "all " : ""}${state.orders.listed.length} orders`),
      strip({ state, width, disabled, onTake: (order) => tell(model, { order, step: stepOf(model, state) }) }),
      el("div", { role: "status", "aria-live": "polite" },
        ...ordersSaid(state).filter(Boolean).map((text) => el("p", { class: "said" }, text))),
      ...[tallySaid(tally, state.leak)].filter(Boolean).map((text) => el("p", { class: "note" }, text)));
  });
  const drawStep = (state, step) => {
    finding.textContent = stepSaid(state, step);
    steps.show(step, state.steps.length);
    drawPanel(state, step);
    belief.replaceChildren(beliefOf(state, step));
  };
  const draw = () => {
    const state = model.get("state");
    if (!state.tokens) return;
    view.room = parts.body.clientWidth;
    const step = stepOf(model, state);
    byOrder.show(model.get("by_order"));
    parts.body.classList.toggle("narrow", view.room < BESIDE);
    drawStep(state, step);
    leak.replaceChildren(...(state.leak ? leakSaid(state).map((text) => el("p", {}, text)) : []));
    drawOrders(state);
    drawMasks(state, step);
    ask.replaceChildren(guess(view, state.question, state.answer, `${state.question} ${state.tokens}`));
  };
  observe(model, ["state", "by_order"], eachFrame(draw), signal);
  observe(model, ["step"], eachFrame(() => {
    const state = model.get("state");
    if (!state.tokens) return;
    const step = stepOf(model, state);
    drawStep(state, step);
    pointMasks(state, step);
  }), signal);
  observe(model, ["order"], () => {
    const order = model.get("order");
    if (order) view.panel?.place(order);
  }, signal);
  resized(parts.body, draw, signal);
  draw();
});
