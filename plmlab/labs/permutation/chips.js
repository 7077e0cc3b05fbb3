// The sentence, and below it the factorization order as chips that can be dragged or moved with the arrow keys, each
// with its loss.

import { orderSaid } from "./messages.js";
import { clamp, el, svg } from "../shared/dom.js";
import { tableRow } from "../shared/grid.js";
import { DRAGGED, moved, placeAfter } from "../shared/order.js";

const LINES = 30;
const LABEL = { wide: 138, narrow: 88 };
const SUM = 92;
const PITCH = { low: 46, high: 92 };

/** The index in the order of a point `x` px from its left end. */
export const placeAt = (x, pitch, count) => clamp(Math.floor(x / pitch), 0, count - 1);

/** The column widths in px: `room` is the available width, `positions` the number of chips in a row. */
export function columnsOf(room, positions) {
  const label = room < 620 ? LABEL.narrow : LABEL.wide;
  const pitch = clamp(Math.floor((room - label - SUM - 4) / positions), PITCH.low, PITCH.high);
  return { label, pitch, template: `${label}px repeat(${positions}, ${pitch}px) ${SUM}px` };
}

/** The role of a position at a step: "asked" (the target), "seen" (already predicted) or "unseen". */
export function markOf(order, step, position) {
  const place = order.indexOf(position);
  return place === step - 1 ? "asked" : place < step - 1 ? "seen" : "unseen";
}

const MARKS = [["asked", "target of this step"], ["seen", "already predicted: visible, at its position"],
  ["unseen", "not yet predicted: hidden"]];

/** The lines from each word of the sentence to its index in the order. */
function lines(order, count, pitch, asked) {
  const middle = (column) => (column + 0.5) * pitch;
  const way = (from, to) =>
    `M${middle(from)} 0C${middle(from)} ${LINES * 0.55} ${middle(to)} ${LINES * 0.45} ${middle(to)} ${LINES}`;
  const special = [0, 1].map((i) => svg("path", { class: "link special", d: way(count + i, i) }));
  return [...special, ...order.map((position, place) =>
    svg("path", { class: `link${position === asked ? " asked" : ""}`, d: way(position, place + 2) }))];
}

/**
 * The panel. `onOrder(order)` is called when the user changes the order, `onStep(t)` when a step is selected.
 * `place(order)` shows an order before Python responds; an order of a different length is ignored.
 */
export function orderPanel({ state, step, room, disabled, onOrder, onStep }) {
  const { tokens, names, steps } = state;
  const count = steps.length;
  const { label, pitch, template } = columnsOf(room, count + 2);
  const asked = steps[step - 1].position;
  const bdi = (text) => el("bdi", {}, text);
  const special = (i) => el("div", { class: "chip special", title: "given from the start" }, bdi(tokens[count + i]));

  const sentence = tokens.slice(0, count).map((token, position) =>
    el("div", { class: `chip ${markOf(state.order, step, position)}`, "data-position": position, title: names[position] }, bdi(token)));
  const numbers = Array.from({ length: count }, () => el("div", { class: "number" }));
  const given = () => el("div", { class: "number" }, "given");
  const links = svg("svg", { width: (count + 2) * pitch, height: LINES, "aria-hidden": "true" });

  const chips = new Map(state.order.map((position, place) => [position, el("button", {
    type: "button", class: `chip ${markOf(state.order, step, position)}`, "data-position": position, "data-at": `order-${position}`,
    title: names[position], "aria-current": place === step - 1 ? "step" : null, style: `width:${pitch - 6}px`,
  }, bdi(tokens[position]))]));
  const track = el("div", { class: `order${disabled ? "" : " movable"}`, role: "group",
    style: `grid-column:span ${count}`, "aria-label": "the order: drag a word or move it with the arrow keys" },
  ...chips.values());

  let current = state.order;
  const place = (order) => {
    if (order.length !== count) return;
    current = order;
    show(order);
  };
  const show = (order) => {
    order.forEach((position, at) => {
      const chip = chips.get(position);
      numbers[position].textContent = String(at + 1);
      chip.style.left = `${at * pitch + 3}px`;
      chip.setAttribute("aria-label", `${names[position]}, target of step ${at + 1} of ${count}` +
        `${disabled ? "" : "; the arrow keys move it, Enter goes to its step"}`);
    });
    links.replaceChildren(...lines(order, count, pitch, asked));
  };

  let held = null;
  const preview = (event) => {
    const x = event.clientX - track.getBoundingClientRect().left;
    return moved(current, held.from, placeAt(x, pitch, count));
  };
  const release = () => {
    held?.chip.classList.remove("held");
    held = null;
  };
  track.addEventListener("pointerdown", (event) => {
    const chip = event.target.closest("button");
    if (!chip || disabled || event.button !== 0) return;
    const position = Number(chip.dataset.position);
    held = { chip, position, from: current.indexOf(position), x: event.clientX, moving: false };
    chip.setPointerCapture(event.pointerId);
  });
  track.addEventListener("pointermove", (event) => {
    if (!held) return;
    const far = event.clientX - held.x;
    held.moving ||= Math.abs(far) > DRAGGED;
    if (!held.moving) return;
    held.chip.classList.add("held");
    show(preview(event));
    held.chip.style.left = `${clamp(held.from * pitch + 3 + far, 0, (count - 1) * pitch + 6)}px`;
  });
  track.addEventListener("pointerup", (event) => {
    if (!held) return;
    const { position, moving } = held;
    const order = moving ? preview(event) : current;
    release();
    if (String(order) !== String(current)) onOrder(order);
    else if (!moving) onStep(order.indexOf(position) + 1);
    show(order);
  });
  track.addEventListener("pointercancel", () => {
    release();
    show(current);
  });
  track.addEventListener("keydown", (event) => {
    const chip = event.target.closest("button");
    if (!chip) return;
    const position = Number(chip.dataset.position);
    const from = current.indexOf(position);
    const to = placeAfter(event.key, from, count);
    if (event.key === "Enter" || event.key === " ") onStep(from + 1);
    else if (to === null) return;
    else if (!disabled && to !== from) onOrder(moved(current, from, to));
    event.preventDefault();
    event.stopPropagation();
  });
  if (disabled) track.addEventListener("click", (event) => {
    const chip = event.target.closest("button");
    if (chip) onStep(state.order.indexOf(Number(chip.dataset.position)) + 1);
  });

  const blank = () => el("div", {});
  const never = (until) => steps.slice(0, until).some(({ belief }) => belief.own.best === 0);
  const written = (value, until) => (value === null ? (never(until) ? "∞" : "·") : value.toFixed(2));
  const cost = ({ costs: losses }, at, of) => el("div",
    { class: `number cost${at >= step ? " later" : ""}${at === step - 1 ? " now" : ""}` }, written(losses[of], at + 1));
  const sum = (of) => el("div", { class: "number sum" }, written(steps[step - 1].sums[of], step));
  const costs = (name, of, extra) => tableRow(name,
    [blank(), blank(), ...steps.map((each, at) => cost(each, at, of)), sum(of)], `costs ${extra}`);
  const exact = steps.some(({ belief }) => belief.own.best !== null);
  place(state.order);
  const node = el("div", { class: "panel" },
    el("div", { class: "scroll" }, el("div", { class: "table orders", style: `grid-template-columns:${template}` },
      tableRow("position", [...tokens.map((_, position) => el("div", { class: "number" }, String(position))), blank()]),
      tableRow("sentence", [...sentence, special(0), special(1), blank()]),
      tableRow("step t", [...numbers, given(), given(), blank()]),
      el("div", { class: "row" }, el("div", { class: "name" }),
        el("div", { style: `grid-column:2 / span ${count + 2};height:${LINES}px` }, links), blank()),
      tableRow("order z", [special(0), special(1), track,
        el("div", { class: "number sum" }, step === 1 ? "step 1" : `steps 1 to ${step}`)]),
      costs(`${state.leak ? "leaking" : "model"}, −log p`, 0, "model"),
      ...(exact ? [costs(label < 100 ? "optimal" : "optimal, −log p", 1, "best")] : []))),
    el("ul", { class: "legend keys" }, ...MARKS.map(([mark, text]) =>
      el("li", {}, el("span", { class: `chip ${mark}`, "aria-hidden": "true" }), text)),
    el("li", {}, `−log p in nats${exact ? "; optimal: the Bayes-optimal predictor" : ""}`)));
  node.querySelector(".orders").setAttribute("aria-label", orderSaid(tokens, state.order));
  return { node, place };
}
