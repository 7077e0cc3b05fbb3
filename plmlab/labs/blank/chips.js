// The text as words, whose spans become blanks by mouse or keyboard; and the blanks in the order of filling.

import { acted, range, spanAt } from "./spans.js";
import { el } from "../shared/dom.js";
import { DRAGGED, moved, placeAfter } from "../shared/order.js";
import { ordinal } from "../shared/words.js";

/** The accessible name of a word's button. */
export function buttonName(token, kind, turn) {
  const unknown = kind === "unknown" ? ", not in the vocabulary" : "";
  return turn < 0 ? `${token}${unknown}, visible` : `${token}${unknown}, in the blank that is filled ${ordinal(turn + 1)}`;
}

/** The row of words. `draw(state)` shows a text; calls `onBlanks({ spans, order })` when the blanks change. */
export function wordRow({ disabled, onBlanks }) {
  const node = el("div", { class: "words", role: "group",
    "aria-label": "the words: drag over some, or hold Shift with an arrow key, and press Enter; Enter on a blank removes it" });
  let [state, anchor, at, held] = [null, 0, 0, false];
  const buttons = () => [...node.querySelectorAll("button")];

  const show = () => {
    const [begin, stop] = range(anchor, at);
    buttons().forEach((button, place) => {
      button.classList.toggle("picked", place >= begin && place < stop && (held || stop > begin + 1));
      button.tabIndex = place === at ? 0 : -1;
    });
  };
  const go = (place, extend) => {
    at = place;
    if (!extend) anchor = place;
    show();
    buttons()[place].focus({ preventScroll: true });
  };
  const act = () => {
    if (!disabled) onBlanks(acted(state, anchor, at));
    anchor = at;
    show();
  };

  node.addEventListener("focusin", (event) => {
    const place = Number(event.target.dataset.place);
    if (place !== at) [anchor, at] = [place, place];
    show();
  });
  node.addEventListener("keydown", (event) => {
    const to = placeAfter(event.key, at, state.tokens.length);
    if (to !== null) go(to, event.shiftKey);
    else if (event.key === "Enter" || event.key === " ") act();
    else if (event.key === "Escape") go(at, false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  const wordAt = (event) => document.elementFromPoint(event.clientX, event.clientY)?.closest(".words button")?.dataset.place;
  node.addEventListener("pointerdown", (event) => {
    const button = event.target.closest("button");
    if (!button || disabled || event.button !== 0) return;
    held = true;
    node.setPointerCapture(event.pointerId);
    go(Number(button.dataset.place), event.shiftKey);
    event.preventDefault();
  });
  node.addEventListener("pointermove", (event) => {
    const place = held && wordAt(event);
    if (place && Number(place) !== at) go(Number(place), true);
  });
  node.addEventListener("pointerup", () => {
    if (!held) return;
    held = false;
    act();
  });
  node.addEventListener("pointercancel", () => {
    held = false;
    go(at, false);
  });

  const button = (token, place) => {
    const turn = state.order.indexOf(spanAt(state.spans, place));
    return el("button", { type: "button", class: `chip ${turn < 0 ? state.kinds[place] : "mask"}`, "data-place": place,
      "aria-pressed": String(turn >= 0), "aria-label": buttonName(token, state.kinds[place], turn), disabled,
      tabindex: place === at ? "0" : "-1" }, el("bdi", {}, token));
  };
  const draw = (next) => {
    const focused = node.contains(document.activeElement);
    state = next;
    [anchor, at] = [anchor, at].map((place) => Math.min(place, state.tokens.length - 1));
    const parts = [];
    for (let place = 0; place < state.tokens.length;) {
      const number = spanAt(state.spans, place);
      const stop = number < 0 ? place + 1 : state.spans[number][1];
      const words = state.tokens.slice(place, stop).map((token, i) => button(token, place + i));
      parts.push(number < 0 ? words[0] : el("span", { class: "span" }, el("span", { class: "hidden-words" }, ...words),
        el("span", { class: "filled-as" }, `filled ${ordinal(state.order.indexOf(number) + 1)}`)));
      place = stop;
    }
    node.replaceChildren(...parts);
    show();
    if (focused) buttons()[at].focus({ preventScroll: true });
  };
  return { node, draw };
}

/** The blanks in the order of filling, which can be dragged or moved by keys. `draw(state)` shows them; calls
    `onOrder(order)` when the order changes. */
export function orderRow({ disabled, onOrder }) {
  const track = el("span", { class: "order", role: "group",
    "aria-label": "the order of filling: drag a blank, or move it with the arrow keys" });
  const node = el("div", { class: "bar quiet order-of" }, el("span", {}, "order of filling (Part B) "), track);
  let [state, held] = [null, null];
  const buttons = () => [...track.querySelectorAll("button")];
  const show = (order) => {
    for (const button of buttons()) button.style.order = order.indexOf(Number(button.dataset.blank));
  };
  const preview = (event) => {
    const before = buttons().filter((button) => button !== held.button).filter((button) => {
        const box = button.getBoundingClientRect();
        return box.bottom < event.clientY || (box.top < event.clientY && box.left + box.width / 2 < event.clientX);
      });
    return moved(state.order, state.order.indexOf(held.blank), before.length);
  };
  track.addEventListener("pointerdown", (event) => {
    const button = event.target.closest("button");
    if (!button || disabled || event.button !== 0) return;
    held = { button, blank: Number(button.dataset.blank), x: event.clientX, moving: false, order: state.order };
    button.setPointerCapture(event.pointerId);
  });
  track.addEventListener("pointermove", (event) => {
    if (!held) return;
    held.moving ||= Math.abs(event.clientX - held.x) > DRAGGED;
    if (!held.moving) return;
    held.button.classList.add("held");
    held.order = preview(event);
    show(held.order);
  });
  const release = (keep) => {
    if (!held) return;
    const { order, button } = held;
    button.classList.remove("held");
    held = null;
    if (keep && String(order) !== String(state.order)) onOrder(order);
    else show(state.order);
  };
  track.addEventListener("pointerup", () => release(true));
  track.addEventListener("pointercancel", () => release(false));
  track.addEventListener("keydown", (event) => {
    const blank = event.target.closest("button")?.dataset.blank;
    if (blank === undefined) return;
    const from = state.order.indexOf(Number(blank));
    const to = placeAfter(event.key, from, state.order.length);
    if (to === null) return;
    if (!disabled && to !== from) onOrder(moved(state.order, from, to));
    event.preventDefault();
    event.stopPropagation();
  });
  const draw = (next) => {
    const focused = track.contains(document.activeElement) ? state.spans[document.activeElement.dataset.blank] : null;
    state = next;
    node.hidden = state.order.length < 2;
    track.replaceChildren(...state.order.map((blank, turn) => {
      const words = state.tokens.slice(...state.spans[blank]).join(" ");
      return el("button", { type: "button", class: "chip mask", "data-blank": blank, disabled, style: `order:${turn}`,
        "aria-label": `${words}, filled ${ordinal(turn + 1)} of ${state.order.length}; the arrow keys move it` },
      el("span", { class: "turn" }, `${ordinal(turn + 1)}: `), el("bdi", {}, words));
    }));
    const again = focused && state.spans.findIndex((span) => String(span) === String(focused));
    if (focused) track.querySelector(`[data-blank="${again}"]`)?.focus({ preventScroll: true });
  };
  return { node, draw };
}
