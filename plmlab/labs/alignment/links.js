// Source words above, target words below, and a link for each attention weight; the line width shows the weight.

import { chipRow } from "./chips.js";
import { called } from "./messages.js";
import { el, svg } from "../shared/dom.js";
import { chance } from "../shared/softmax.js";

const DRAWN = 0.02;
const THICKEST = 8;
const DRAGGED = 6;
const DIGITS = 26;
const HEIGHT = { upright: 92, turned: 130 };

/** A link's width in px and its opacity: both grow linearly with the weight, 0 … 1. */
export const stroke = (weight) => ({ width: 0.4 + THICKEST * weight, opacity: 0.1 + 0.8 * weight });

/** A probability, short enough to fit below a word. */
export const surely = (p) => (p > 0.995 ? "≈ 1" : p < 0.005 ? "≈ 0" : p.toFixed(2));

const curve = (x0, x1, height) => `M${x0} 0C${x0} ${height / 2} ${x1} ${height / 2} ${x1} ${height}`;

/**
 * The drawing. `on` holds the callbacks: `hover(point)`, `leave()`, `go(point)`, `masked(position)`, `pick(step)`,
 * `drop(step, position)` after dragging a link, `release(step)`. A point is { row, column }, one of them null.
 */
export function linksOf({ state, looks, at, fresh, on }) {
  const { source, now, unknown, moved, masked } = state;
  const height = HEIGHT[at.turned ? "turned" : "upright"];
  const middle = ({ x, width }) => x + width / 2;
  const [above, below] = at.rows.map((places) => places.map(middle));
  const read = chipRow({
    name: "source", label: "source text; Enter masks a word", places: at.rows[0],
    words: source.map((text, position) => ({ text, pressed: String(masked.includes(position)),
      label: `${called(source, position)}, source word${masked.includes(position) ? ", masked" : ""}${unknown.includes(position) ? ", not in the vocabulary" : ""}`,
      marks: `${masked.includes(position) ? "masked" : ""}${unknown.includes(position) ? " unknown" : ""}` })),
    onGo: (position) => on.go({ row: null, column: position }), onAct: on.masked,
  });
  const wrong = (step) => now.positions && now.positions[step] === null;
  const written = chipRow({
    name: "written", label: "the translation", places: at.rows[1],
    words: now.tokens.map((text, step) => ({ text, below: surely(now.p[step]),
      label: `${called(now.tokens, step)}, probability ${chance(now.p[step])}${wrong(step) ? ", wrong" : ""}` +
        `${fresh.has(step) ? ", changed" : ""}`,
      marks: `${wrong(step) ? "wrong" : ""}${fresh.has(step) ? " changed" : ""}` })),
    onGo: (step) => on.go({ row: step, column: null }), onAct: on.pick, onRemove: on.release,
  });
  const groups = now.tokens.map((_, step) => {
    const mine = moved.find((one) => one.step === step);
    const lines = [...looks.row(step)].map((weight, position) => {
      if (weight < DRAWN) return null;
      const { width, opacity } = stroke(weight);
      return svg("path", { class: mine?.position === position ? "link moved" : "link", "data-position": position,
        d: curve(above[position], below[step], height), "stroke-width": width.toFixed(2), "stroke-opacity": opacity.toFixed(3) });
    }).filter(Boolean);
    const gold = now.partners.filter(([row]) => row === step).map(([, position]) =>
      svg("path", { class: "gold-link", "data-position": position, d: curve(above[position], below[step], height) }));
    return svg("g", {}, ...lines, ...gold);
  });
  const rubber = svg("path", { class: "rubber" });
  const drawing = svg("svg", { width: at.width, height, "aria-hidden": "true" }, ...groups, rubber);
  const node = el("div", { class: at.turned ? "drawing turned-words" : "drawing", style: `width:${at.width}px;--above:${at.tall[0]}px;--below:${at.tall[1] + DIGITS}px` },
    el("span", { class: "axis" }, "source"), read.node, drawing, written.node, el("span", { class: "axis" }, "translation, with probabilities"));

  const over = (event) => {
    const [position, step] = [read, written].map((row) => (row.node.contains(event.target) ? row.positionOf(event) : null));
    return position === null && step === null ? null : { row: step, column: position };
  };
  node.addEventListener("pointerover", (event) => {
    const point = over(event);
    if (point) on.hover(point);
  });
  let drag = null;
  const endDrag = () => {
    drag = null;
    rubber.removeAttribute("d");
    node.classList.remove("dragging");
  };
  node.addEventListener("pointerleave", () => {
    endDrag();
    on.leave();
  });
  written.node.addEventListener("pointerdown", (event) => {
    const step = written.positionOf(event);
    if (step !== null && event.button === 0) drag = { step, x: event.clientX, y: event.clientY, far: false };
  });
  node.addEventListener("pointermove", (event) => {
    if (!drag) return;
    drag.far ||= Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > DRAGGED;
    if (!drag.far) return;
    node.classList.add("dragging");
    const box = drawing.getBoundingClientRect();
    rubber.setAttribute("d", `M${below[drag.step]} ${height}L${event.clientX - box.left} ${event.clientY - box.top}`);
  });
  node.addEventListener("pointerup", (event) => {
    const [done, point] = [drag, over(event)];
    endDrag();
    if (done?.far && point && point.column !== null) on.drop(done.step, point.column);
  });

  const show = (count) => {
    written.show(count);
    groups.forEach((group, step) => group.setAttribute("display", step < count ? "inline" : "none"));
  };
  const point = ({ row, column }, resting) => {
    node.classList.toggle("pointing", !resting);
    node.classList.toggle("resting", resting);
    groups.forEach((group, step) => group.classList.toggle("now", step === row));
    drawing.querySelectorAll("[data-position]").forEach((line) =>
      line.classList.toggle("now", row === null && Number(line.dataset.position) === column));
    written.chips.forEach((chip, step) => {
      const weight = row === null && column !== null ? looks.at(step, column) : 0;
      chip.classList.toggle("is-query", step === row);
      chip.style.setProperty("--look", `${Math.round(100 * weight)}%`);
    });
    read.chips.forEach((chip, position) => {
      chip.classList.toggle("is-key", position === column);
      chip.style.setProperty("--look", `${row === null ? 0 : Math.round(100 * looks.at(row, position))}%`);
    });
    if (row !== null) written.point(row);
    if (column !== null) read.point(column);
  };
  return { node, show, point };
}
