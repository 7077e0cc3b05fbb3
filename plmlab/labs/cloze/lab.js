// The Cloze Lab: a sentence whose words can be masked, and the predictions for them.

import { gapView } from "./gaps.js";
import { pairView } from "./pairs.js";
import { presetBar, textField } from "../shared/controls.js";
import { clamp, el, resized, ruler, walked } from "../shared/dom.js";
import { guess, lab, observe, tell } from "../shared/lab.js";

/** The masked positions after a click on one. */
export const toggled = (hidden, position) =>
  (hidden.includes(position) ? hidden.filter((other) => other !== position) : [...hidden, position].sort((a, b) => a - b));

/** The word that an arrow key leads to among `count` words, or null. */
export function wordAfter(key, place, count) {
  const to = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: count - 1 }[key];
  return to === undefined || to < 0 || to >= count ? null : to;
}

/** The accessible name of a chip. */
export function chipName(token, kind, hidden) {
  if (kind === "typed") return "[MASK], as you typed it";
  return `${token}${kind === "unknown" ? ", not in the vocabulary" : ""}, ${hidden ? "masked; unmask it" : "mask it"}`;
}

function chips(state, disabled, press) {
  const numbered = state.hidden.length > 1;
  return state.tokens.map((token, position) => {
    const kind = state.kinds[position];
    const hidden = state.hidden.includes(position);
    const chip = kind === "special" ? el("span", { class: "chip special" }, el("bdi", {}, token))
      : el("button", { type: "button", class: `chip ${hidden ? "mask" : kind}`, "data-position": position,
        "aria-pressed": String(hidden), "aria-label": chipName(token, kind, hidden), tabindex: "-1",
        disabled: disabled || kind === "typed", on: { click: () => press(position) } },
      el("bdi", {}, hidden ? "[MASK]" : token));
    const number = numbered ? ` · mask ${state.hidden.indexOf(position) + 1}` : "";
    const under = hidden ? `${kind === "typed" ? "?" : token}${number}` : "";
    return el("div", { class: `position${position === state.second ? " second" : ""}` }, chip,
      el("span", { class: "target" }, el("bdi", {}, under)));
  });
}

function controls(model, signal) {
  const { presets } = model.get("menu");
  const disabled = model.get("alone");
  const none = () => tell(model, { hidden: [] });
  const show = el("button", { type: "button", disabled, on: { click: none } }, "unmask all");
  return [
    el("div", { class: "bar" }, textField(model, "your sentence", signal), show),
    presetBar(model, presets, ({ text, hidden }) => ({ text, hidden, tried: model.get("tried") + 1 })),
  ];
}

function wordRow(model, signal) {
  const node = el("div", { class: "words", role: "group", "aria-label": "the words: press one to mask it" });
  const view = { at: null };
  const buttons = walked(node, wordAfter, signal);
  const hold = (button) => {
    for (const other of buttons()) other.tabIndex = other === button ? 0 : -1;
    view.at = button ? Number(button.dataset.position) : null;
  };
  node.addEventListener("focusin", (event) => hold(event.target));
  const press = (position) => tell(model, { hidden: toggled(model.get("state").hidden, position) });
  const draw = (state) => {
    const focused = node.contains(document.activeElement);
    node.replaceChildren(...chips(state, model.get("alone"), press));
    const all = buttons();
    const button = all.find(({ dataset }) => Number(dataset.position) === view.at) ??
      all.find(({ dataset }) => Number(dataset.position) === state.hidden[0]) ?? all[0];
    if (button) hold(button);
    if (focused) button?.focus({ preventScroll: true });
  };
  return { node, draw };
}

/** The widths of row and column names, in px. */
function widthsOf({ rows, columns }, node) {
  const measure = ruler(node, "600 12.5px");
  const width = (word) => Math.ceil(measure(word));
  return { rows: clamp(Math.max(...rows.map(width)) + 14, 40, 120), columns: columns.map((word) => width(word) + 4) };
}

export default lab({
  title: "Which word fills the mask?",
  lead: "Press a word to mask it: what does the model predict given both contexts, and what given the left context " +
  "alone? Mask two words, and see that each is predicted without knowing the other.",
}, ({ model, signal, parts }) => {
  const disabled = model.get("alone");
  const { world, left, cut } = model.get("menu");
  parts.node.classList.add("cloze");
  parts.controls.prepend(...controls(model, signal));
  const view = { open: "", cell: null, pair: "", room: 0 };
  const row = wordRow(model, signal);
  const legend = el("p", { class: "legend-line" },
    el("span", {}, el("i", { class: "model" }), "the model"),
    ...(world ? [el("span", {}, el("i", { class: "best" }),
      "the Bayes-optimal predictor: exact, from the grammar of the Small World")] : []),
    ...(cut ? [el("span", { class: "handicap" }, "No left-to-right model was given, so the same model reads the " +
      "sentence cut off after the mask. This is a handicap, because no training sentence ended there.")] : []));
  const gaps = el("div", { class: "gaps" });
  const crossed = el("div", {});
  const ask = el("div", {});

  const cross = (state) => {
    const { pair } = state;
    if (!pair) return crossed.replaceChildren();
    const focused = [...crossed.querySelectorAll(".cross")].indexOf(document.activeElement);
    const chosen = [...crossed.querySelectorAll("select")].indexOf(document.activeElement);
    const words = JSON.stringify([pair.rows, pair.columns]);
    if (view.pair !== words) Object.assign(view, { pair: words, cell: null });
    crossed.replaceChildren(pairView({
      gaps: state.gaps, pair, room: view.room, widths: widthsOf(pair, parts.node), cell: view.cell, disabled,
      choose: (pairs) => tell(model, { pair: pairs }), onCell: (cell) => { view.cell = cell; },
    }).node);
    crossed.querySelectorAll(".cross")[focused]?.focus({ preventScroll: true });
    crossed.querySelectorAll("select")[chosen]?.focus({ preventScroll: true });
  };
  const draw = () => {
    const state = model.get("state");
    if (!state.tokens) return;
    view.room = parts.body.clientWidth;
    row.draw(state);
    legend.hidden = !state.gaps.length;
    ask.replaceChildren(...(state.question ? [guess(view, state.question, state.answer)] : []));
    gaps.replaceChildren(...state.gaps.map((_, place) => gapView(state.gaps, place, { left, cut })));
    cross(state);
  };
  parts.body.append(row.node, ask, crossed, legend, gaps);
  observe(model, ["state"], draw, signal);
  resized(parts.body, draw, signal);
  draw();
});
