// The overview: every head of every layer as a thumbnail, on one canvas.

import { clamp, el } from "../shared/dom.js";
import { heatMap, ramp, sequential } from "../shared/heat.js";

const HALF = 255 / Math.sqrt(65535);

/** The step of the colour scale, 0 … 255, of a weight: its square root, so that small weights are visible. */
export const shadeOf = (weight) => Math.round(HALF * Math.sqrt(weight));
const SHADES = Uint8Array.from({ length: 65536 }, (_, weight) => shadeOf(weight));

/** The cells, of `count`, that each of `side` pixels covers: [from, to). */
export function spans(count, side) {
  return Array.from({ length: side }, (_, i) => {
    const from = Math.floor((i * count) / side);
    return [from, Math.max(from + 1, Math.ceil(((i + 1) * count) / side))];
  });
}

/**
 * The pixels of all heads, a square of `side` each in a cell of `pitch`, transparent in between; if several weights
 * share a pixel, the largest is drawn, so that a thin line remains visible.
 */
export function thumbnails({ layers, heads, rows, columns, head }, side, pitch, colours) {
  const width = heads * pitch;
  const bytes = new Uint8ClampedArray(4 * width * layers * pitch);
  const words = new Uint32Array(bytes.buffer);
  const palette = new Uint32Array(colours.buffer);
  const [down, across] = [spans(rows, side), spans(columns, side)];
  const edge = Math.floor((pitch - side) / 2);
  for (let layer = 0; layer < layers; layer++) {
    for (let h = 0; h < heads; h++) {
      const weights = head(layer, h);
      for (let y = 0; y < side; y++) {
        const to = (layer * pitch + edge + y) * width + h * pitch + edge;
        for (let x = 0; x < side; x++) {
          let most = 0;
          for (let q = down[y][0]; q < down[y][1]; q++) {
            for (let k = across[x][0]; k < across[x][1]; k++) most = Math.max(most, weights[q * columns + k]);
          }
          words[to + x] = palette[SHADES[most]];
        }
      }
    }
  }
  return bytes;
}

/** The heads that are off after a head, or with `whole` its layer, is toggled: [[map, layer, head], …]. */
export function switched(off, map, layer, head, heads, whole) {
  const wanted = whole ? [...Array(heads).keys()] : [head];
  const isOff = (h) => off.some(([m, l, o]) => m === map && l === layer && o === h);
  const others = off.filter(([m, l, h]) => m !== map || l !== layer || !wanted.includes(h));
  return wanted.every(isOff) ? others : [...others, ...wanted.map((h) => [map, layer, h])];
}

/**
 * The grid of thumbnails. Calls `onHead(layer, head)` when the reader moves to a head, `onSwitch(layer, head, whole)`
 * to toggle one, `onEnter()` to enter its map. `mark(off)` draws which heads are off.
 */
export function overview({ weights, room, onHead, onSwitch, onEnter }) {
  const { layers, heads } = weights;
  const pitch = clamp(Math.floor((room - 24) / heads), 14, 34);
  const grid = heatMap({
    rows: layers, columns: heads, width: heads * pitch, height: layers * pitch, label: "layers and heads",
    onCell: ({ row, column }) => onHead(row, column),
  });
  const cross = grid.node.querySelector(".cross");
  const canvas = grid.node.querySelector("canvas");
  const fine = canvas.width / (heads * pitch);
  const cell = Math.round(pitch * fine);
  Object.assign(canvas, { width: cell * heads, height: cell * layers });
  const shown = thumbnails(weights, cell - Math.round(3 * fine), cell, ramp(sequential()));
  canvas.getContext("2d").putImageData(new ImageData(shown, canvas.width, canvas.height), 0, 0);

  grid.node.addEventListener("pointermove", (event) => event.stopPropagation(), { capture: true });
  grid.node.addEventListener("click", ({ ctrlKey, metaKey, altKey, shiftKey }) => {
    if (ctrlKey || metaKey || altKey || shiftKey) onSwitch(shiftKey);
  });
  cross.addEventListener("keydown", (event) => {
    if (event.key === " ") onSwitch(event.shiftKey);
    else if (event.key === "Enter") onEnter();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  const marks = el("div", { class: "marks-off", "aria-hidden": "true" });
  canvas.after(marks);
  const mark = (off) => marks.replaceChildren(...off.map(([, layer, head]) =>
    el("i", { style: `left:${head * pitch}px;top:${layer * pitch}px;width:${pitch}px;height:${pitch}px` })));
  const numbers = (count) => [...Array(count).keys()].map((i) => el("span", {}, i));
  const columns = el("div", { class: "heads" }, ...numbers(heads));
  const rows = el("div", { class: "layers" }, ...numbers(layers));
  const node = el("div", { class: "overview", style: `--pitch:${pitch}px` },
    el("span", { class: "corner" }), columns, rows, grid.node);
  const point = (layer, head, said) => {
    grid.point({ row: layer, column: head }, said);
    for (const [line, at] of [[columns, head], [rows, layer]]) {
      [...line.children].forEach((number, i) => number.classList.toggle("now", i === at));
    }
  };
  return { node, mark, point, cross };
}
