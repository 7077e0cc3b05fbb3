// The Beam Lab: the tree as it grows, its knobs, and what it misses.

import { partingOf } from "./layout.js";
import { missesOf, textsOf, widthsOf } from "./results.js";
import { branchSaid, finding, unfoldedSaid, widerSaid } from "./told.js";
import { legendOf, treeOf } from "./tree.js";
import { clamp, el, settled } from "../shared/dom.js";
import { guess, lab, observe, presetButtons, slider, tell, textField } from "../shared/lab.js";

/** A slider that shows what a trait is. */
function knob(model, name, { disabled, ...of }, send) {
  const node = slider({ ...of, value: model.get(name) ?? of.high, disabled }, send);
  const [input, number] = [node.querySelector("input"), node.querySelector("output")];
  const digits = (String(of.step).split(".")[1] ?? "").length;
  return { node, follow(value, high = of.high, said = null) {
    input.max = high;
    input.value = value;
    number.textContent = said ?? value.toFixed(digits);
    input.setAttribute("aria-valuetext", number.textContent);
  } };
}

/** How many of a tree's steps are shown; `steps` null is all. */
export const shownOf = (steps, count) => (steps === null ? count : clamp(steps, 1, count));

export default lab({
  title: "What does a beam keep, and what does it lose?",
  lead: "Each step goes on with every open text, ranks all next tokens by the probability of the whole, and keeps the " +
    "few likeliest. Walk the tree; press Enter on what was pruned.",
}, ({ model, signal, parts }) => {
  const disabled = model.get("alone");
  parts.node.classList.add("beam");
  const view = { open: null, at: null, state: null, pinned: [] };
  const { presets, sources, widest, steepest, longest } = model.get("menu");
  let tree = null;

  const input = textField(model, "the beginning", signal);
  const source = el("select", { "aria-label": "who writes", disabled }, ...sources.map((name) => el("option", { value: name }, name)));
  source.addEventListener("change", () => {
    const preset = presets.find((one) => one.source === source.value);
    tell(model, { source: source.value, steps: null, ...(preset ? { text: preset.text, width: preset.width, alpha: preset.alpha } : {}) });
  });
  const tries = presetButtons(model, presets, (preset) => {
    input.text = preset.text;
    return { ...preset, steps: null };
  });
  const send = (name) => (value) => tell(model, { [name]: value });
  const width = knob(model, "width", { title: "width", low: 1, high: widest, step: 1, disabled }, send("width"));
  const alpha = knob(model, "alpha", { title: "length penalty α", low: 0, high: steepest, step: 0.1, disabled }, send("alpha"));
  const length = knob(model, "length", { title: "at most, tokens", low: 1, high: longest, step: 1, disabled }, send("length"));
  const walk = (value) => tell(model, { steps: value });
  const steps = knob(model, "steps", { title: "steps shown", low: 1, high: 1, step: 1 }, walk);
  const count = () => model.get("state").columns?.length ?? 1;
  const turn = (title, said, to) => el("button", { type: "button", class: "preset", title: said,
    on: { click: () => walk(clamp(to(shownOf(model.get("steps"), count())), 1, count())) } }, title);
  const back = turn("◂ back", "one step back", (now) => now - 1);
  const forward = turn("forward ▸", "one step forward", (now) => now + 1);
  const all = turn("all", "all steps", () => count());
  parts.controls.prepend(
    el("div", { class: "bar" }, input, ...(sources.length > 1 ? [el("label", {}, "written by ", source)] : [])),
    ...(presets.length ? [el("div", { class: "bar quiet" }, tries)] : []),
    el("div", { class: "bar quiet knobs" }, width.node, alpha.node, length.node),
    el("div", { class: "bar quiet knobs" }, steps.node, back, forward, all));

  const title = el("h4");
  const why = el("p", { class: "why", role: "status", "aria-live": "polite" });
  const unfolding = el("p", { class: "unfolding" });
  const place = { tree: el("div"), texts: el("div"), misses: el("div"), widths: el("div"), ask: el("div") };
  const legend = el("div");
  parts.body.append(title, why, legend, place.tree, unfolding, place.texts, place.misses, place.widths, place.ask);

  const seek = settled(() => {
    if (!Object.keys(model.get("pinned")).length) tell(model, { seek: model.get("seek") + 1 });
  }, 250);
  signal.addEventListener("abort", () => { view.gone = true; });

  const controls = () => {
    const state = model.get("state");
    const shown = shownOf(model.get("steps"), count());
    width.follow(model.get("width"));
    alpha.follow(model.get("alpha"));
    length.follow(model.get("length"));
    steps.follow(shown, count(), `${shown} of ${count()}`);
    source.value = model.get("source");
    back.disabled = shown <= 1;
    forward.disabled = all.disabled = shown >= count();
    return { state, shown };
  };
  const pins = () => {
    const { state, shown } = controls();
    const pinned = model.get("pinned");
    const asked = [state, pinned, shown];
    if (!state.columns || asked.every((one, i) => one === view.pinned[i])) return;
    view.pinned = asked;
    const pick = (value) => tell(model, { width: value });
    const focused = place.widths.contains(document.activeElement);
    place.texts.replaceChildren(textsOf(state, pinned, shown));
    place.misses.replaceChildren(missesOf(state, pinned));
    place.widths.replaceChildren(widthsOf(state, pinned, { disabled, pick }));
    if (focused) place.widths.querySelector("[aria-pressed=true]")?.focus({ preventScroll: true });
    place.ask.replaceChildren(guess(view, "A wider beam weighs more texts at each step. Can it find a worse one?",
      widerSaid(pinned), "wider"));
    if (!disabled && !view.gone && !Object.keys(pinned).length) seek();
  };
  const draw = () => {
    const { state, shown } = controls();
    if (!state.columns) return;
    const unfolded = model.get("unfolded").tokens ? model.get("unfolded") : null;
    const [held, left] = [tree?.held(), tree?.node.scrollLeft ?? 0];
    const known = view.state === state;
    const at = known ? tree.at() : partingOf(state.columns);
    view.state = state;
    title.textContent = finding(state);
    tree = treeOf({ state, unfolded, asks: !disabled, at,
      point: (to) => { why.textContent = branchSaid(state, to, { asks: !disabled }); },
      open: (to) => {
        if (disabled || state.columns[to.step][to.place].fate !== "pruned") return;
        const [step, of] = model.get("unfold");
        tell(model, { unfold: step === to.step && of === to.place ? [] : [to.step, to.place] });
      } });
    legend.replaceChildren(legendOf(state));
    place.tree.replaceChildren(tree.node);
    tree.show(shown);
    unfolding.textContent = unfolded ? unfoldedSaid(state, unfolded) : "";
    if (known) tree.node.scrollLeft = left;
    if (held) tree.focus();
    pins();
  };
  const step = () => {
    tree?.show(controls().shown);
    pins();
  };
  observe(model, ["state", "unfolded"], draw, signal);
  observe(model, ["steps"], step, signal);
  observe(model, ["pinned"], pins, signal);
  observe(model, ["width", "alpha", "length", "source"], controls, signal);
  parts.node.addEventListener("keydown", (event) => {
    const to = { "[": back, "]": forward }[event.key];
    if (!to || event.target.matches("input[type=text]")) return;
    to.click();
    event.preventDefault();
    event.stopPropagation();
  });
  draw();
});
