// The attention matrix: one row per target word, one column per source word; gold links and interventions are marked.

import { rowNames } from "./numbers.js";
import { clamp, el, ruler } from "../shared/dom.js";
import { heatMap, ramp, scaleBar, sequential } from "../shared/heat.js";

const [NARROW, WIDE] = [13, 34];
const LOWEST = 15;
const BESIDE = 300;

/** The step of the colour scale, 0 … 255, of a weight: its square root, so that small weights are visible. */
export const shadeOf = (weight) => Math.round(255 * Math.sqrt(clamp(weight, 0, 1)));

/** The size of the matrix: px per column, px per row, and whether there is room beside it. */
export function sized(columns, label, room) {
  const beside = label + columns * WIDE + BESIDE <= room;
  const pitch = clamp(Math.floor((room - label - 8) / columns), NARROW, WIDE);
  return { pitch, tall: clamp(pitch - 4, LOWEST, 28), beside };
}

/** The pixels of the steps shown; masked columns and later steps are transparent. */
export function pixelsOf(looks, shown, masked, colours) {
  const words = new Uint32Array(looks.steps * looks.columns);
  const palette = new Uint32Array(colours.buffer);
  for (let step = 0; step < shown; step++) {
    const row = looks.row(step);
    for (let position = 0; position < looks.columns; position++) {
      if (!masked.includes(position)) words[step * looks.columns + position] = palette[shadeOf(row[position])];
    }
  }
  return new Uint8ClampedArray(words.buffer);
}

/** The matrix. `on` holds the callbacks: `hover(point)`, `leave()`, `go(point)`, `put(step, position)`, `release(step)`. */
export function matrixOf({ state, looks, labelled, room, page, on }) {
  const { source, now, moved, masked } = state;
  const names = rowNames(now.tokens, labelled);
  const wide = ruler(page, "12.5px");
  const label = clamp(Math.ceil(Math.max(...names.map(wide))) + 18, 84, 130);
  const { pitch, tall, beside } = sized(source.length, label, room);
  const [width, height] = [pitch * source.length, tall * looks.steps];
  const colours = ramp(sequential());
  let [at, shown] = [{ row: 0, column: 0 }, looks.steps];
  const map = heatMap({
    rows: looks.steps, columns: source.length, width, height, label: "attention from target words to source words",
    onCell: ({ row, column }) => on.go({ row: Math.min(row, shown - 1), column }),
  });
  const [canvas, cross] = [map.node.querySelector("canvas"), map.node.querySelector(".cross")];
  const box = (kind, row, column, rows = 1) => el("i", { class: kind, style: `left:${column * pitch}px;top:${row * tall}px;` +
    `width:${pitch}px;height:${rows * tall}px` });
  const shift = labelled === "read" ? 1 : 0;
  const gold = now.partners.map(([step, position]) => [step + shift, position]).filter(([row]) => row < looks.steps);
  const marks = [
    ...masked.map((position) => [0, box("masked-column", 0, position, looks.steps)]),
    ...gold.map(([row, position]) => [row, box("gold-cell", row, position)]),
    ...moved.filter(({ step }) => step < looks.steps).map(({ step, position }) => [step, box("moved-cell", step, position)]),
  ];
  canvas.after(el("div", { class: "cell-marks", "aria-hidden": "true" }, ...marks.map(([, mark]) => mark)));

  const under = (event) => {
    const { left, top } = map.node.getBoundingClientRect();
    return { row: clamp(Math.floor((event.clientY - top) / tall), 0, shown - 1),
      column: clamp(Math.floor((event.clientX - left) / pitch), 0, source.length - 1) };
  };
  const field = el("div", { class: "field", style: `width:${width}px;height:${height}px` }, map.node);
  field.addEventListener("pointermove", (event) => {
    event.stopPropagation();
    on.hover(under(event));
  }, { capture: true });
  field.addEventListener("pointerleave", () => on.leave());
  field.addEventListener("click", (event) => {
    event.stopPropagation();
    const cell = under(event);
    cross.focus({ preventScroll: true });
    on.go(cell);
    on.put(cell.row, cell.column);
  }, { capture: true });
  cross.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") on.put(at.row, at.column);
    else if (event.key === "Delete" || event.key === "Backspace") on.release(at.row);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  const above = source.map((word, column) => el("span", { class: `key-name${masked.includes(column) ? " masked" : ""}`,
    on: { pointerover: () => on.hover({ row: null, column }) } }, el("bdi", {}, word)));
  const beneath = names.map((word, row) => el("span", { class: "query-name", style: `height:${tall}px;line-height:${tall}px`,
    on: { pointerover: () => on.hover({ row, column: null }) } }, el("bdi", {}, word)));
  const node = el("div", { class: `looks${pitch < 18 ? " dense" : ""}`, style: `--pitch:${pitch}px;--label:${label}px` },
    el("span", { class: "corner" }, el("b", { class: "query" }, labelled === "read" ? "input ↓" : "target ↓"),
      el("b", { class: "key" }, "source →")),
    el("div", { class: "key-names", on: { pointerleave: () => on.leave() } }, ...above),
    el("div", { class: "queries", on: { pointerleave: () => on.leave() } }, ...beneath), field);
  const show = (count) => {
    shown = count;
    canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
    map.paint(pixelsOf(looks, count, masked, colours));
    beneath.forEach((name, row) => { name.style.visibility = row < count ? "" : "hidden"; });
    marks.forEach(([row, mark]) => { mark.hidden = row >= count; });
  };
  const point = ({ row, column }, said) => {
    at = { row: row ?? at.row, column: column ?? at.column };
    map.point(at, said);
    node.classList.toggle("no-row", row === null);
    node.classList.toggle("no-column", column === null);
    above.forEach((name, i) => name.classList.toggle("is-key", i === column));
    beneath.forEach((name, i) => name.classList.toggle("is-query", i === row));
  };
  return { node, show, point, beside, width: label + width + 12 };
}

export const scale = () => scaleBar(sequential(), ["0", "¼", "1"], "attention weight, one scale for all rows");
