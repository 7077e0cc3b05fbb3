// The sentence as buttons, one of which is masked, and the slider that splits it into source and target.

import { slider } from "../shared/controls.js";
import { el, walked } from "../shared/dom.js";
import { placeAfter } from "../shared/order.js";

/** The accessible name of a button. */
export function buttonName(token, kind, hidden) {
  if (kind === "typed") return "[MASK], as you typed it";
  return `${token}${kind === "unknown" ? ", not in the vocabulary" : ""}, ${hidden ? "masked" : "mask it"}`;
}

/** The row of words. `draw(state)` shows a sentence; calls `press(place)` to mask a word. */
export function wordRow({ disabled, press }) {
  const node = el("div", { class: "words", role: "group", "aria-label": "the words: press one to mask it" });
  walked(node, placeAfter);
  const button = (state, token, place) => {
    const hidden = place === state.hidden;
    const kind = state.kinds[place];
    const typed = state.kinds.includes("typed");
    return el("div", { class: `word${place === state.cut ? " target-begins" : ""}` },
      el("button", { type: "button", class: `chip ${hidden ? "mask" : kind}`, "data-place": place,
        "aria-pressed": String(hidden), "aria-label": buttonName(token, kind, hidden), tabindex: hidden ? "0" : "-1",
        disabled: disabled || typed, on: { click: () => press(place) } },
      el("bdi", {}, hidden ? "[MASK]" : token)),
      el("span", { class: "target" }, el("bdi", {}, hidden ? state.word ?? "?" : "")));
  };
  const draw = (state) => {
    const at = node.contains(document.activeElement) ? document.activeElement.dataset.place : undefined;
    node.replaceChildren(...state.tokens.map((token, place) => button(state, token, place)));
    if (at !== undefined) node.querySelector(`[data-place="${at}"]`)?.focus({ preventScroll: true });
  };
  return { node, draw };
}

/** The slider of the split, which is kept when the rest is redrawn. Calls `send(cut)` on a move. */
export function cutSlider({ disabled, send }) {
  const side = el("span", { class: "side" });
  const cut = slider({ title: "words in the source (sequence to sequence)", low: 0, high: 0, step: 1, disabled }, send);
  return { node: el("div", { class: "bar quiet" }, cut.node, side), show(state) {
    cut.show(state.cut, state.tokens.length - 1);
    side.textContent = `The masked word is in the ${state.hidden < state.cut ? "source" : "target"}.`;
  } };
}
