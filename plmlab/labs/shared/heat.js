// A heat map on a canvas, with mouse and keyboard navigation, and its colour scales.

import { clamp, el } from "./dom.js";

// Cividis (Nuñez et al. 2018), evenly spaced: looks the same to colour-blind readers.
const CIVIDIS = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55",
  "#fee838"];

/** [red, green, blue] of a colour written as "#rrggbb". */
export const rgb = (hex) => [1, 3, 5].map((i) => Number.parseInt(hex.slice(i, i + 2), 16));

/** 256 colours, four bytes each, evenly from the first stop to the last. */
export function ramp(stops) {
  const colours = stops.map(rgb);
  const bytes = new Uint8ClampedArray(4 * 256);
  for (let i = 0; i < 256; i++) {
    const place = (i / 255) * (colours.length - 1);
    const from = Math.min(Math.floor(place), colours.length - 2);
    for (let c = 0; c < 3; c++) {
      bytes[4 * i + c] = colours[from][c] + (place - from) * (colours[from + 1][c] - colours[from][c]);
    }
    bytes[4 * i + 3] = 255;
  }
  return bytes;
}

/** The colour of a value from 0 to 1, and the text colour (black or white) with the higher contrast. */
export function shaded(value, colours) {
  const at = 4 * Math.round(255 * clamp(value, 0, 1));
  const parts = [...colours.subarray(at, at + 3)];
  const [r, g, b] = parts.map((c) => (c <= 10 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return { paper: `rgb(${parts.join(", ")})`, ink: light > 0.179 ? "#000" : "#fff" };
}

/** The stops of a sequential colour scale, and of a diverging one in the colours of this page's theme. */
export const sequential = () => CIVIDIS;
export function diverging(node) {
  const style = getComputedStyle(node);
  return ["--minus", "--minus-soft", "--zero", "--plus-soft", "--plus"]
    .map((name) => style.getPropertyValue(name).trim());
}

/** The RGBA bytes of `count` values `value(i)`: the ramp's first colour at `low` or below, its last at `high`. */
export function pixels(count, value, low, high, colours) {
  const bytes = new Uint8ClampedArray(4 * count);
  const cells = new Uint32Array(bytes.buffer);
  const palette = new Uint32Array(colours.buffer);
  const grow = 255 / (high - low || 1);
  for (let i = 0; i < count; i++) cells[i] = palette[clamp(Math.round((value(i) - low) * grow), 0, 255)];
  return bytes;
}

/** The cell that a keyboard key moves to among `rows` × `columns`, or null for any other key; a page is ten rows. */
export function walk(key, { row, column }, rows, columns, control = false) {
  const to = {
    ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1], ArrowUp: [row - 1, column],
    ArrowDown: [row + 1, column], PageUp: [row - 10, column], PageDown: [row + 10, column],
    Home: [control ? 0 : row, 0], End: [control ? rows - 1 : row, columns - 1],
  }[key];
  return to ? { row: clamp(to[0], 0, rows - 1), column: clamp(to[1], 0, columns - 1) } : null;
}

/** A colour bar with its title and tick labels. */
export function scaleBar(stops, marks, title) {
  return el("div", { class: "scale-bar" }, el("span", {}, title),
    el("i", { style: `background:linear-gradient(90deg, ${stops.join(", ")})`, "aria-hidden": "true" }),
    el("span", { class: "marks" }, ...marks.map((mark) => el("span", {}, mark))));
}

/**
 * The heat map. `paint(bytes)` colours it, four bytes per cell, row by row; `point(cell, text)` moves the crosshair and
 * sets its label; `onCell(cell)` is called when the crosshair moves.
 */
export function heatMap({ rows, columns, width, height, label, onCell }) {
  const fine = Math.max(1, globalThis.devicePixelRatio ?? 1);
  const canvas = el("canvas", {
    width: Math.round(width * fine), height: Math.round(height * fine), "aria-hidden": "true",
    style: `width:${width}px;height:${height}px`,
  });
  const [down, across] = [el("i", { class: "hair down" }), el("i", { class: "hair across" })];
  const cross = el("div", { class: "cross", role: "gridcell", tabindex: "0" });
  const line = el("div", { role: "row" }, cross);
  const node = el("div", {
    class: "heat", role: "grid", "aria-label": label, "aria-rowcount": rows, "aria-colcount": columns,
    style: `width:${width}px;height:${height}px`,
  }, canvas, down, across, line);
  const [wide, tall] = [width / columns, height / rows];
  let now = { row: 0, column: 0 };

  const paint = (bytes) => {
    const small = el("canvas", { width: columns, height: rows });
    small.getContext("2d").putImageData(new ImageData(bytes, columns, rows), 0, 0);
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = tall * fine < 1 || wide * fine < 1;
    context.drawImage(small, 0, 0, canvas.width, canvas.height);
  };
  const point = (cell, text) => {
    now = cell;
    const [w, h] = [Math.max(wide, 7), Math.max(tall, 7)];
    const [x, y] = [(cell.column + 0.5) * wide, (cell.row + 0.5) * tall];
    cross.style.cssText = `left:${x - w / 2}px;top:${y - h / 2}px;width:${w}px;height:${h}px`;
    down.style.left = `${x - 0.5}px`;
    across.style.top = `${y - 0.5}px`;
    cross.setAttribute("aria-label", text);
    cross.setAttribute("aria-colindex", cell.column + 1);
    line.setAttribute("aria-rowindex", cell.row + 1);
  };
  const under = (event) => {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    return { row: clamp(Math.floor(y / tall), 0, rows - 1), column: clamp(Math.floor(x / wide), 0, columns - 1) };
  };
  const visit = (cell) => {
    if (cell.row === now.row && cell.column === now.column) return;
    now = cell;
    onCell(cell);
  };
  node.addEventListener("pointermove", (event) => visit(under(event)));
  node.addEventListener("click", (event) => {
    cross.focus({ preventScroll: true });
    visit(under(event));
  });
  cross.addEventListener("keydown", (event) => {
    const to = walk(event.key, now, rows, columns, event.ctrlKey || event.metaKey);
    if (!to) return;
    visit(to);
    cross.scrollIntoView({ block: "nearest", inline: "nearest" });
    event.preventDefault();
    event.stopPropagation();
  });
  return { node, paint, point };
}
