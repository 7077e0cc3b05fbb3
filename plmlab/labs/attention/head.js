// One head enlarged: a row for each query, a column for each key.

import { shadeOf } from "./overview.js";
import { clamp, el } from "../shared/dom.js";
import { heatMap, ramp, sequential } from "../shared/heat.js";
import { EDITED } from "../shared/masks.js";

const SMALLEST = 12;

/** The width of a cell if `columns` of them and a label share the room: between 12 and 34 px. */
export const pitchOf = (columns, label, room) => clamp(Math.floor((room - label) / columns), SMALLEST, 34);

/** The blocked cells after a click on one in the map: blocked, or allowed again. */
export function turned(closed, map, q, k) {
  const others = closed.filter(([m, a, b]) => m !== map || a !== q || b !== k);
  return others.length < closed.length ? others : [...closed, [map, q, k]];
}

/** The pixels of one head; a blocked cell is transparent, so that the hatching behind it shows. */
export function headPixels(weights, rule_ids, colours) {
  const bytes = new Uint8ClampedArray(4 * weights.length);
  const words = new Uint32Array(bytes.buffer);
  const palette = new Uint32Array(colours.buffer);
  for (let i = 0; i < weights.length; i++) if (rule_ids[i] > 0) words[i] = palette[shadeOf(weights[i])];
  return bytes;
}

/**
 * The map. Calls `onCell(cell, kept)` when the reader moves to a cell (`kept`: stay there), `onAct(cell)` on a click,
 * and `onLeave()` when the pointer leaves. `paint(weights)` draws a head, `point(cell, said)` the crosshair.
 */
export function headMap({ state, label, pitch, onCell, onAct, onLeave }) {
  const { queries, keys, mask } = state;
  const colours = ramp(sequential());
  let walked = false;
  const cell = ({ row, column }) => ({ q: row, k: column });
  const grid = heatMap({
    rows: queries.length, columns: keys.length, width: keys.length * pitch, height: queries.length * pitch,
    label: "queries and keys of this head", onCell: (at) => onCell(cell(at), walked),
  });
  const [canvas, cross] = [grid.node.querySelector("canvas"), grid.node.querySelector(".cross")];
  let now = { q: 0, k: 0 };
  grid.node.addEventListener("pointermove", () => { walked = false; }, { capture: true });
  cross.addEventListener("keydown", (event) => {
    walked = true;
    if (event.key !== "Enter" && event.key !== " ") return;
    onAct(now);
    event.preventDefault();
    event.stopPropagation();
  }, { capture: true });
  grid.node.addEventListener("click", () => {
    onCell(now, true);
    onAct(now);
  });
  const names = (labels, className) => labels.map((text, i) =>
    el("span", { class: className, "data-position": i }, el("bdi", {}, text)));
  const above = names(keys, "key-name");
  const beside = names(queries, "query-name");
  const dots = el("div", { class: "closed-cells", "aria-hidden": "true" }, ...mask.rule_ids.flatMap((cause, i) =>
    (cause === -EDITED ? [el("i", { style: `left:${(i % keys.length) * pitch}px;` +
      `top:${Math.floor(i / keys.length) * pitch}px` })] : [])));
  canvas.after(dots);
  grid.node.classList.toggle("hatched", mask.rule_ids.some((cause) => cause < 0));
  const node = el("div", {
    class: `head-map${pitch < 16 ? " dense" : ""}`, style: `--pitch:${pitch}px;--label:${label}px`,
  }, el("span", { class: "corner" }, el("b", { class: "query" }, "query"), " ↓ attends to ",
    el("b", { class: "key" }, "key"), " →"), el("div", { class: "key-names" }, ...above),
    el("div", { class: "queries" }, ...beside), grid.node);
  node.addEventListener("pointerover", (event) => {
    const position = event.target.closest("[data-position]");
    if (position) onCell({ ...now, [position.className.startsWith("key") ? "k" : "q"]: Number(position.dataset.position) }, false);
  });
  node.addEventListener("pointerleave", onLeave);
  const paint = (weights) => {
    canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
    grid.paint(headPixels(weights, mask.rule_ids, colours));
  };
  const point = (at, said) => {
    now = at;
    grid.point({ row: at.q, column: at.k }, said);
    above.forEach((name, i) => name.classList.toggle("is-key", i === at.k));
    beside.forEach((name, i) => name.classList.toggle("is-query", i === at.q));
  };
  return { node, paint, point, cross };
}
