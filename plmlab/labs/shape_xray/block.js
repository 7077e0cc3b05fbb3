// The tensor of one line as a block of cells: layout and drawing.

import { clamp, el, svg } from "../shared/dom.js";

const HATCHED = new Set(["blocked", "astray"]);
const BETWEEN = { heads: 8, tensors: 20 };
const HEADING = 17;
const NUMBERED = 11; // px: minimum cell size that fits a position's number
const CODE = 434; // px: width of a line's code and number
const LETTER = 6.6; // px: maximum average width of a character in a heading
const AROUND = 46; // px: width of the line's number and the gaps around two drawings side by side

/**
 * The size of a cell in px, and whether code and drawing, and both splits, are placed side by side; `label` and `room`
 * are in px.
 */
export function cellSize(lines, label, room) {
  const gaps = (slabs) => slabs.reduce((sum, slab, i) => sum + (i && gapBefore(slabs, i)), 0);
  const fitting = (space) => Math.min(...lines.map(({ slabs }) => {
    const columns = slabs.reduce((sum, { numbers }) => sum + numbers[0].length, 0);
    return Math.floor((space - label - gaps(slabs)) / columns);
  }));
  const beside = fitting(Math.min(room - CODE, (room - AROUND) / 2));
  return beside >= NUMBERED ? { cell: Math.min(beside, 15), beside: true }
    : { cell: clamp(fitting(room - 40), 7, 15), beside: false };
}

const gapBefore = (slabs, i) => (slabs[i].of === slabs[i - 1].of ? BETWEEN.heads : BETWEEN.tensors);

/** The left edges of a line's slabs in px, and the right edge of the last one. */
export function placesOf(slabs, cell) {
  let edge = 0;
  const starts = slabs.map((slab, i) => {
    const start = edge + (i && gapBefore(slabs, i));
    edge = start + slab.numbers[0].length * cell;
    return start;
  });
  return { starts, width: edge };
}

/** The heading of each slab: its title, shortened for all slabs if one title of the line is too long. */
export function headingsOf(slabs, cell) {
  const narrow = slabs.some(({ title, numbers }, i) => i + 1 < slabs.length &&
    numbers[0].length * cell + gapBefore(slabs, i + 1) < LETTER * title.length);
  return slabs.map(({ title }) => (narrow ? title.replace("head ", "h") : title));
}

let xrays = 0;

const hatching = (id, kind) => svg("pattern", { id, width: 4, height: 4, patternUnits: "userSpaceOnUse",
  patternTransform: "rotate(45)" }, svg("path", { class: kind, d: "M0.5 0V4" }));

/**
 * The drawing of one line, with the accessible name `description`. `paint(marks)` colours it, `ring(cells)` outlines
 * cells, `point(…)` moves the crosshair.
 */
export function blockOf(line, description, { cell, names, label, onCell, onFollow, onKey }) {
  const { starts, width } = placesOf(line.slabs, cell);
  const [time, paired] = [names.length, line.kind === "score" || line.kind === "weight"];
  const top = HEADING + (paired ? 13 : 0);
  const hatch = `plm-xray-${xrays++}`;
  const box = (slab, row, column, height = cell - 1) =>
    `M${starts[slab] + column * cell} ${top + (row + 1) * cell - 1 - height}h${cell - 1}v${height}h${1 - cell}z`;
  const [layers, digits] = [svg("g"), svg("g", { class: "digits" })];
  const ring = svg("path", { class: "feeds" });
  const titles = headingsOf(line.slabs, cell);
  const headings = line.slabs.map(({ role }, i) =>
    svg("text", { class: `heading ${role}`, x: starts[i], y: 11 }, titles[i]));
  const columns = paired ? line.slabs.flatMap((_, i) => names.map((_, k) =>
    svg("text", { class: "position", x: starts[i] + (k + 0.5) * cell - 0.5, y: top - 4 }, String(k)))) : [];
  const canvas = svg("svg", { width, height: top + time * cell, "aria-hidden": "true" },
    svg("defs", {}, hatching(`${hatch}-blocked`, "hatching"), hatching(`${hatch}-astray`, "hatching over")),
    ...headings, ...columns, layers, digits, ring);
  const cross = el("div", { class: "cross", role: "gridcell", tabindex: "-1", hidden: true, on: { keydown: onKey } });
  const grid = el("div", { class: "cells", role: "grid", "aria-label": description }, canvas,
    el("div", { role: "row" }, cross));
  const labels = names.map((name, position) => el("div", { title: name, on: { click: () => onFollow(position) } },
    el("bdi", {}, name), el("span", { class: "position" }, String(position))));
  const node = el("div", { class: "block" },
    el("div", { class: "rows", style: `width:${label}px;padding-top:${top}px;--cell:${cell}px` }, ...labels), grid);

  const numbered = line.kind === "token" && cell >= NUMBERED;
  const digitAt = (slab, row, column) => {
    const text = svg("text", { x: starts[slab] + (column + 0.5) * cell - 0.5, y: top + (row + 0.5) * cell + 2.5 });
    digits.append(text);
    return { text, drawn: "" };
  };
  const digit = numbered && line.slabs.map(({ numbers }, i) =>
    numbers.map((cells, row) => cells.map((_, column) => digitAt(i, row, column))));
  const write = (place, position, mine) => {
    if (place.drawn === `${position} ${mine}`) return;
    place.drawn = `${position} ${mine}`;
    place.text.textContent = position;
    place.text.setAttribute("class", mine ? "mine" : "");
  };

  const bar = line.kind === "weight" || line.kind === "share";
  const paint = (marks) => {
    const paths = new Map();
    const add = (name, path) => paths.set(name, (paths.get(name) ?? "") + path);
    marks.forEach((slab, i) => slab.forEach((cells, row) => cells.forEach(({ position, fill, level, blocked }, column) => {
      add(blocked ? "blocked" : bar && fill ? `pale ${fill}` : "pale", box(i, row, column));
      if (!blocked && (fill || line.kind === "weight") && level > 0) {
        add(fill || "other", box(i, row, column, bar ? Math.max(1, level * (cell - 1)) : cell - 1));
      }
      if (numbered) write(digit[i][row][column], position, fill !== "");
    })));
    marks.forEach((slab, i) => slab.forEach((cells, row) => { // on top of the painted cells
      cells.forEach(({ astray }, column) => { if (astray) add("astray", box(i, row, column)); });
      if (cells.every(({ missing }) => missing)) {
        const across = cells.length * cell;
        add("missing", `M${starts[i] - 0.5} ${top + row * cell - 0.5}h${across}v${cell}h${-across}z`);
      }
    }));
    layers.replaceChildren(...[...paths].map(([name, d]) =>
      svg("path", { class: name, d, style: HATCHED.has(name) ? `fill:url(#${hatch}-${name})` : null })));
  };
  const under = (event) => {
    const shown = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - shown.left, event.clientY - shown.top - top];
    const slab = starts.findIndex((start, i) => x >= start && x < start + line.slabs[i].numbers[0].length * cell);
    const row = Math.floor(y / cell);
    return slab < 0 || row < 0 || row >= time ? null : { slab, row, column: Math.floor((x - starts[slab]) / cell) };
  };
  grid.addEventListener("pointermove", (event) => { const at = under(event); if (at) onCell(at, false); });
  grid.addEventListener("click", (event) => { const at = under(event); if (at) onCell(at, true); });
  return {
    node, paint, cross, labels,
    ring: (parts) => ring.setAttribute("d", parts.flatMap(({ slab, cells }) =>
      cells.map(([row, column]) => box(slab, row, column))).join("")),
    point: ({ slab, row, column }, text) => {
      cross.hidden = false;
      cross.tabIndex = 0;
      cross.style.cssText = `left:${starts[slab] + column * cell - 1.5}px;top:${top + row * cell - 1.5}px;` +
        `width:${cell + 2}px;height:${cell + 2}px`;
      cross.setAttribute("aria-label", text);
    },
    leave: () => { cross.hidden = true; cross.tabIndex = -1; },
  };
}
