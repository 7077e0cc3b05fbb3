// The Cognitive Graph Lab: a graph of pages grows step by step; what is pressed opens; what is cut makes it grow anew.

import { choiceOf } from "./choice.js";
import { detailsOf } from "./details.js";
import { graphOf, legendOf } from "./graph.js";
import { drawn } from "./layout.js";
import { answerSaid, edgeOf, goldSaid, guessOf, lastStep, nodeSaid, stepSaid, verdictOf } from "./told.js";
import { checkbox, select, textField } from "../shared/controls.js";
import { clamp, eachFrame, el, resized } from "../shared/dom.js";
import { guess, lab, observe, setter, tell } from "../shared/lab.js";

/** Whether what was opened is still drawn. */
function there({ nodes, edges }, step, gold, opened) {
  if (opened?.node !== undefined) return nodes[opened.node] !== undefined && drawn(nodes[opened.node], step, gold);
  const edge = opened && edgeOf({ edges }, opened.edge);
  return Boolean(edge) && drawn(edge, step, gold);
}

/** What was opened in one state, in another one: nodes keep their names, not their numbers; null where it is gone. */
export function carried(opened, before, after) {
  const number = (n) => after.nodes.findIndex(({ name }) => name === before.nodes[n].name);
  if (!opened || !before) return null;
  if (opened.node !== undefined) return number(opened.node) < 0 ? null : { node: number(opened.node) };
  const edge = opened.edge.map(number);
  return edge.includes(-1) ? null : { edge };
}

/** What is forbidden, with one less, and with one more. */
export const withoutOne = (forbidden, one) => forbidden.filter((other) => String(other) !== String(one));
export const withOne = (forbidden, one) => [...withoutOne(forbidden, one), one];

/** The choice of a preset, and of what is asked for. */
function choices(model, signal) {
  const { presets, kinds } = model.get("menu");
  const disabled = model.get("alone");
  const preset = select({ label: "the question to try", disabled,
    options: [...presets.map(({ title }, i) => [i, title]), [-1, "your own question"]] }, (chosen) => {
    const one = presets[chosen];
    if (one) tell(model, { text: one.text, kind: one.kind, forbidden: [], step: 1 });
  });
  const kind = select({ label: "what is asked for", disabled,
    options: Object.entries(kinds).map(([name, title]) => [name, `asks for ${title}`]) },
  (asked) => tell(model, { kind: asked, forbidden: [], step: 1 }));
  const follow = () => {
    const [text, asked] = [model.get("text"), model.get("kind")];
    preset.show(presets.findIndex((one) => one.text === text && one.kind === asked));
    kind.show(asked);
  };
  observe(model, ["text", "kind"], follow, signal);
  follow();
  return [preset.node, kind.node];
}

export default lab({
  title: "How does a graph of pages lead to an answer?",
  lead: "System 1 reads the pages at the frontier and points at where to go on, and at answers; System 2 chooses among what " +
    "was found. Take a step, open a node or a line, forbid one, and see what changes.",
}, ({ model, signal, parts }) => {
  parts.node.classList.add("cognitive");
  const disabled = Boolean(model.get("alone"));
  const choose = setter(model);
  const view = { opened: null, at: 0, state: null, guess: { open: null } };
  const [preset, kind] = choices(model, signal);
  const step = () => clamp(model.get("step"), 0, lastStep(model.get("state")));
  const go = (to) => {
    choose({ step: clamp(to, 0, lastStep(model.get("state"))) });
    draw();
  };
  const button = (text, press) => el("button", { type: "button", on: { click: press } }, text);
  const back = button("◂ Back", () => go(step() - 1));
  const forward = button("Step ▸", () => go(step() + 1));
  const end = button("To the end ▸▸", () => go(Infinity));
  const gold = checkbox({ title: "show the gold graph" }, (on) => {
    choose({ gold: on });
    draw();
  });
  parts.controls.prepend(
    el("div", { class: "bar" }, ...(model.get("menu").presets.length ? [preset] : []),
      textField(model, "your question", signal), kind),
    el("div", { class: "bar" }, back, forward, end, gold.node));

  const all = (tag, ...kinds) => kinds.map((name) => el(tag, { class: name }));
  const [said, changed, goldLine, note] = all("p", "step-said", "changed", "gold-said", "note");
  for (const line of [said, changed]) line.setAttribute("role", "status");
  const out = el("div", { class: "without", role: "group", "aria-label": "what is not allowed" });
  const why = el("p", { class: "why", role: "status", "aria-live": "polite" });
  const [graph, legend, answer, ask, two, details, choice] =
    all("div", "graph-place", "legend-place", "answer-said", "ask-place", "two", "details-place", "choice-place");
  two.append(details, choice);
  parts.body.append(said, out, changed, graph, legend, why, answer, goldLine, note, ask, two);

  const forbid = (one) => tell(model, { forbidden: withOne(model.get("forbidden"), one) });
  const allow = (one) => tell(model, { forbidden: withoutOne(model.get("forbidden"), one) });
  const open = (thing) => {
    view.opened = thing;
    draw();
  };
  const keepingFocus = (paint) => {
    const held = parts.body.contains(document.activeElement) ? { ...document.activeElement.dataset } : {};
    paint();
    if (held.node !== undefined) view.graph.focus(Number(held.node));
    else if (held.at) parts.body.querySelector(`[data-at="${CSS.escape(held.at)}"]`)?.focus({ preventScroll: true });
  };
  const lines = (state, now) => {
    said.textContent = stepSaid(state, now);
    changed.textContent = state.changed;
    out.replaceChildren(...state.without.map((one) => el("span", { class: "chip" }, "not allowed: ",
      el("bdi", {}, [one].flat().join(" → ")), " ",
      el("button", { type: "button", disabled, on: { click: () => allow(one) } }, "Allow again"))));
    const ended = now === lastStep(state);
    const verdict = ended ? verdictOf(state) : null;
    answer.replaceChildren(answerSaid(state, now), " ",
      verdict ? el("b", { class: verdict.good ? "good" : "bad" }, verdict.text) : "");
    goldLine.textContent = model.get("gold") && state.gold ? goldSaid(state, now) : "";
    note.textContent = ended ? state.note : "";
    const [question, told] = guessOf(state);
    const key = JSON.stringify([state.text, state.kind, state.without]);
    ask.replaceChildren(...(ended ? [] : [guess(view.guess, question, told, key)]));
  };
  const drawControls = (state, now) => {
    const focused = [back, forward, end].find((one) => one === document.activeElement);
    back.disabled = now === 0;
    forward.disabled = end.disabled = now === lastStep(state);
    if (focused?.disabled) (back.disabled ? forward : back).focus({ preventScroll: true });
    gold.show(model.get("gold"));
    gold.node.hidden = !state.gold;
  };
  const draw = () => {
    const state = model.get("state");
    if (!state.nodes) return;
    const [now, overlaid] = [step(), model.get("gold") && state.gold];
    if (view.state !== state) Object.assign(view, { opened: carried(view.opened, view.state, state), state, at: 0 });
    const opened = there(state, now, overlaid, view.opened) ? view.opened : { node: 0 };
    drawControls(state, now);
    keepingFocus(() => {
      lines(state, now);
      if (opened.node !== undefined) view.at = opened.node;
      const left = view.graph?.node.scrollLeft ?? 0;
      view.graph = graphOf({ state, step: now, gold: overlaid, room: parts.body.clientWidth, opened, at: view.at, open,
        point: (text) => { why.textContent = text; }, enter: (n) => { view.at = n; } });
      graph.replaceChildren(view.graph.node);
      view.graph.node.scrollLeft = left;
      legend.replaceChildren(legendOf(state, overlaid));
      details.replaceChildren(state.nodes.length
        ? detailsOf({ opened, state, step: now, gold: overlaid, disabled, open, forbid }) : "");
      choice.replaceChildren(choiceOf(state, now, open));
      why.textContent = state.nodes.length ? nodeSaid(state, now, opened.node ?? opened.edge[1]) : "";
    });
  };
  observe(model, ["state"], eachFrame(draw), signal);
  observe(model, ["step", "gold"], draw, signal);
  resized(parts.body, draw, signal);
  draw();
});
