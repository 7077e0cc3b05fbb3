// The Cognitive Graph Lab: CogQA's graph expansion step by step, with details and exclusion of nodes and edges.

import { choiceOf } from "./choice.js";
import { detailsOf } from "./details.js";
import { graphOf, legendOf } from "./graph.js";
import { drawn } from "./layout.js";
import { answerSaid, edgeOf, goldSaid, guessOf, lastStep, nodeSaid, stepSaid, verdictOf } from "./messages.js";
import { checkbox, select, textField } from "../shared/controls.js";
import { clamp, eachFrame, el, resized } from "../shared/dom.js";
import { guess, lab, observe, setter, tell } from "../shared/lab.js";

/** Whether the opened node or edge is still drawn. */
function there({ nodes, edges }, step, gold, opened) {
  if (opened?.node !== undefined) return nodes[opened.node] !== undefined && drawn(nodes[opened.node], step, gold);
  const edge = opened && edgeOf({ edges }, opened.edge);
  return Boolean(edge) && drawn(edge, step, gold);
}

/** The opened node or edge in another state, found by name because indices change; null if it is gone. */
export function carried(opened, before, after) {
  const number = (n) => after.nodes.findIndex(({ name }) => name === before.nodes[n].name);
  if (!opened || !before) return null;
  if (opened.node !== undefined) return number(opened.node) < 0 ? null : { node: number(opened.node) };
  const edge = opened.edge.map(number);
  return edge.includes(-1) ? null : { edge };
}

/** The exclusions without one of them, and with one more. */
export const withoutOne = (forbidden, thing) => forbidden.filter((other) => String(other) !== String(thing));
export const withOne = (forbidden, thing) => [...withoutOne(forbidden, thing), thing];

/** The menus for the preset and for the kind of question. */
function choices(model, signal) {
  const { presets, kinds } = model.get("menu");
  const disabled = model.get("alone");
  const menu = select({ label: "preset question", disabled,
    options: [...presets.map(({ title }, i) => [i, title]), [-1, "your own question"]] }, (chosen) => {
    const preset = presets[chosen];
    if (preset) tell(model, { text: preset.text, kind: preset.kind, forbidden: [], step: 1 });
  });
  const kind = select({ label: "question type", disabled,
    options: Object.entries(kinds).map(([name, title]) => [name, `answer: ${title}`]) },
  (asked) => tell(model, { kind: asked, forbidden: [], step: 1 }));
  const follow = () => {
    const [text, asked] = [model.get("text"), model.get("kind")];
    menu.show(presets.findIndex((known) => known.text === text && known.kind === asked));
    kind.show(asked);
  };
  observe(model, ["text", "kind"], follow, signal);
  follow();
  return [menu.node, kind.node];
}

export default lab({
  title: "How does a graph of pages lead to an answer?",
  lead: "System 1 reads the pages at the frontier and predicts next hops and answers; System 2 chooses the answer among " +
    "the nodes found. Take a step, open a node or an edge, exclude one, and see what changes.",
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
  const [summary, changed, goldLine, note] = all("p", "step-said", "changed", "gold-said", "note");
  for (const line of [summary, changed]) line.setAttribute("role", "status");
  const out = el("div", { class: "without", role: "group", "aria-label": "excluded nodes and edges" });
  const why = el("p", { class: "why", role: "status", "aria-live": "polite" });
  const [graph, legend, answer, ask, two, details, choice] =
    all("div", "graph-place", "legend-place", "answer-said", "ask-place", "two", "details-place", "choice-place");
  two.append(details, choice);
  parts.body.append(summary, out, changed, graph, legend, why, answer, goldLine, note, ask, two);

  const forbid = (thing) => tell(model, { forbidden: withOne(model.get("forbidden"), thing) });
  const allow = (thing) => tell(model, { forbidden: withoutOne(model.get("forbidden"), thing) });
  const open = (thing) => {
    view.opened = thing;
    draw();
  };
  const keepingFocus = (paint) => {
    const focused = parts.body.contains(document.activeElement) ? { ...document.activeElement.dataset } : {};
    paint();
    if (focused.node !== undefined) view.graph.focus(Number(focused.node));
    else if (focused.at) parts.body.querySelector(`[data-at="${CSS.escape(focused.at)}"]`)?.focus({ preventScroll: true });
  };
  const lines = (state, now) => {
    summary.textContent = stepSaid(state, now);
    changed.textContent = state.changed;
    out.replaceChildren(...state.without.map((thing) => el("span", { class: "chip" }, "excluded: ",
      el("bdi", {}, [thing].flat().join(" → ")), " ",
      el("button", { type: "button", disabled, on: { click: () => allow(thing) } }, "Allow again"))));
    const ended = now === lastStep(state);
    const verdict = ended ? verdictOf(state) : null;
    answer.replaceChildren(answerSaid(state, now), " ",
      verdict ? el("b", { class: verdict.good ? "good" : "bad" }, verdict.text) : "");
    goldLine.textContent = model.get("gold") && state.gold ? goldSaid(state, now) : "";
    note.textContent = ended ? state.note : "";
    const [question, solution] = guessOf(state);
    const key = JSON.stringify([state.text, state.kind, state.without]);
    ask.replaceChildren(...(ended ? [] : [guess(view.guess, question, solution, key)]));
  };
  const drawControls = (state, now) => {
    const focused = [back, forward, end].find((control) => control === document.activeElement);
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
