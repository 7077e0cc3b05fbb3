// The Permutation Lab: one sentence, said in an order that the reader makes, by two streams and by the best reader.

import { orderPanel } from "./chips.js";
import { squares } from "./squares.js";
import { strip } from "./strip.js";
import { leakSaid, ordersSaid, stepSaid, tallySaid, tellingStep } from "./told.js";
import { reader } from "../shared/beliefs.js";
import { checkbox, following, presetButtons, slider, textField } from "../shared/controls.js";
import { clamp, eachFrame, el, keepingFocus, resized } from "../shared/dom.js";
import { guess, lab, observe, setter, tell } from "../shared/lab.js";
import { listedInQuotes } from "../shared/words.js";

const BESIDE = 780;
const GAP = 40;
const GIVEN = "The sentence is not shuffled: each word keeps its position, and only the order in which words are said changes. " +
  "[SEP] and [CLS] come first, so that the length is known: then the probabilities of a perfect model multiply to the " +
  "same number, whatever the order.";

/** The step that is shown: the reader's, as far as the sentence has so many, else one whose word sees both sides. */
const stepOf = (model, { steps }) => clamp(model.get("step") ?? tellingStep(steps), 1, steps.length);

function controls(model, signal) {
  const { presets, leaking } = model.get("menu");
  const disabled = Boolean(model.get("alone"));
  const order = (title, make) => el("button", { type: "button", class: "preset", disabled,
    on: { click: () => make(model.get("state").order?.length ?? 0) } }, title);
  const places = (count) => Array.from({ length: count }, (_, place) => place);
  const orders = el("span", { class: "presets", role: "group", "aria-label": "orders" }, "say it ",
    order("left to right", (count) => tell(model, { order: places(count) })),
    order("right to left", (count) => tell(model, { order: places(count).reverse() })),
    order("in a shuffled order", () => tell(model, { draws: model.get("draws") + 1 })));
  const leak = checkbox({ title: "let the query stream see its own word", kind: "leak-switch", role: "switch",
    disabled }, (on) => tell(model, { leak: on }));
  return [
    el("div", { class: "bar" }, textField(model, "your sentence", signal)),
    el("div", { class: "bar quiet" }, orders, presetButtons(model, presets),
      ...(leaking ? [following(model, "leak", leak, signal)] : [])),
  ];
}

/** The slider of steps, and a button on either side; it stays while all else is drawn anew. */
function stepper(choose) {
  let now = 1;
  const by = (title, far) =>
    el("button", { type: "button", class: "preset", on: { click: () => choose(now + far) } }, title);
  const [back, next] = [by("‹ one step back", -1), by("one step on ›", 1)];
  const steps = slider({ title: "step", low: 1, high: 1, step: 1, said: (at, count) => `${at} of ${count}` }, choose);
  const node = el("div", { class: "bar quiet stepper", role: "group", "aria-label": "steps" }, back, steps.node, next);
  return { node, show(step, count) {
    now = step;
    steps.show(step, count);
    back.disabled = step <= 1;
    next.disabled = step >= count;
  } };
}

/** What is believed of the word that is said at a step. */
function beliefOf(state, step) {
  const { position, left, right, belief } = state.steps[step - 1];
  const seen = [...left, ...right].sort((a, b) => a - b).map((one) => state.names[one]);
  const given = `${seen.length ?}`${listedInQuotes(seen)}, each at its place, and ` : ""}the length`;
  return el("div", {},
    el("h4", {}, `What is to be said, given ${given}${state.leak ? ", and itself" : ""}?`),
    el("p", { class: "legend-line" }, el("span", {}, el("i", { class: "model" }), state.leak ? "the leaking model" : "the model"),
      ...(belief.kl === null ? [] : [el("span", {}, el("i", { class: "best" }),
        "the best possible reader (exact)")])),
    reader("", belief, state.names[position]),
    ...(belief.kl === null && state.why_not ? [el("p", { class: "note" },
      `There is no exact reader here. ${state.why_not}`)] : []));
}

export default lab({
  title: "In which order is a sentence said?",
  lead: "XLNet says the words of a sentence one by one, in any order. Drag the words of the order, or move them with the " +
    "arrow keys; go through it step by step; then look at what all orders cost.",
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
    title: "rows and columns in the order: each mask becomes a triangle, as a GPT's is" }, (on) => choose({ by_order: on }));
  parts.controls.prepend(...controls(model, signal));
  parts.body.append(panel, el("p", { class: "note given" }, GIVEN), steps.node, finding, leak,
    el("div", { class: "two" }, belief, orders),
    el("h4", { class: "head" }, "Who may look at whom, in either stream",
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
      el("h4", {}, `What the sentence costs in ${state.orders.complete ? "all" : ""} ${state.orders.listed.length} orders`),
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
