// The Beam Lab: the search tree, its controls, and its errors.

import { partingOf } from "./layout.js";
import { missesOf, textsOf, widthsOf } from "./results.js";
import { branchSaid, finding, unfoldedSaid, widerSaid } from "./messages.js";
import { legendOf, treeOf } from "./tree.js";
import { following, presetBar, select, slider, textField } from "../shared/controls.js";
import { el, settled } from "../shared/dom.js";
import { guess, lab, observe, tell } from "../shared/lab.js";
import { shownOf, stepper } from "../shared/steps.js";

export default lab({
  title: "What does beam search keep, and what does it lose?",
  lead: "Each step extends every open hypothesis, ranks the extended hypotheses by their total probability, and keeps " +
    "the most likely ones. Explore the tree; press Enter on a pruned branch to continue it.",
}, ({ model, signal, parts }) => {
  const disabled = model.get("alone");
  parts.node.classList.add("beam");
  const view = { open: null, at: null, state: null, pinned: [] };
  const { presets, sources, widest, steepest, longest } = model.get("menu");
  let tree = null;

  const input = textField(model, "prompt", signal);
  const who = select({ label: "model", lead: "model ", disabled, options: sources.map((name) => [name, name]) }, (source) => {
    const preset = presets.find((one) => one.source === source);
    tell(model, { source, steps: null, ...(preset ? { text: preset.text, width: preset.width, alpha: preset.alpha } : {}) });
  });
  const tries = presetBar(model, presets, (preset) => {
    input.text = preset.text;
    return { ...preset, steps: null };
  });
  const knob = (trait, title, low, high, step) => following(model, trait,
    slider({ title, low, high, step, disabled }, (value) => tell(model, { [trait]: value })), signal);
  const walk = stepper({ unit: "step", lab: parts.node }, (steps) => tell(model, { steps }));
  parts.controls.prepend(
    el("div", { class: "bar" }, input, ...(sources.length > 1 ? [who.node] : [])),
    tries,
    el("div", { class: "bar quiet knobs" }, knob("width", "width", 1, widest, 1),
      knob("alpha", "length penalty α", 0, steepest, 0.1), knob("length", "maximum tokens", 1, longest, 1)),
    walk.node);

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
    const count = state.columns?.length ?? 1;
    walk.show(model.get("steps"), count);
    who.show(model.get("source"));
    return { state, shown: shownOf(model.get("steps"), count) };
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
    place.ask.replaceChildren(guess(view, "A wider beam considers more hypotheses at each step. Can it find a worse text?",
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
  observe(model, ["source"], controls, signal);
  draw();
});
