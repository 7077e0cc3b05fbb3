// A matrix of cells, one row per query and one column per key, with mouse and keyboard navigation.

import { clamp, el, svg } from "./dom.js";

const GAP = 2;

/**
 * The layout in px, from the widths of the tokens (`words`), the width of the widest `label` and the available `room`.
 * Column headings are horizontal if they fit, with the notes at the side or below; otherwise they are rotated and the
 * columns share the room. In a dense layout only every fifth index is written. By default there are as many `rows` as
 * columns.
 */
export function layout(words, label, room, side = 248, rows = words.length) {
  const upright = words.map((w) => clamp(Math.ceil(w) + 11, 32, 112));
  const widths = (all) => label + all.reduce((sum, w) => sum + w, 0);
  for (const [beside, taken] of [[true, side], [false, 0]]) {
    if (widths(upright) + taken <= room) return place(upright, rows, 30, { label, turned: false, beside, dense: false });
  }
  const share = (taken) => Math.floor((room - taken - label) / words.length);
  const beside = share(side) >= 22;
  const pitch = clamp(share(beside ? side : 0), 12, 30);
  return place(words.map(() => pitch), rows, Math.max(pitch - 1, 12),
    { label, turned: true, beside, dense: pitch < 18 });
}

function place(columns, rows, height, rest) {
  const x = [0];
  for (const width of columns) x.push(x.at(-1) + width);
  return { ...rest, columns, rows, x, height, width: x.at(-1), tall: height * rows };
}

/** The SVG path of cells [[query, key], …] as rounded boxes, inset by `inset` px. */
export function boxes(cells, at, inset = 0) {
  const edge = GAP / 2 + inset;
  const round = clamp(at.height / 6, 1.5, 5);
  let path = "";
  for (const [q, k] of cells) {
    const w = at.x[k + 1] - at.x[k] - 2 * edge - 2 * round;
    const h = at.height - 2 * edge - 2 * round;
    const a = (dx, dy) => `a${round} ${round} 0 0 1 ${dx} ${dy}`;
    path += `M${at.x[k] + edge + round} ${q * at.height + edge}h${w}${a(round, round)}v${h}${a(-round, round)}` +
      `h${-w}${a(-round, -round)}v${-h}${a(round, -round)}z`;
  }
  return path;
}

/** The SVG path of dots in the centres of cells. */
export function dots(cells, at) {
  const r = clamp(at.height / 9, 1.6, 3);
  return cells.map(([q, k]) => {
    const [x, y] = [(at.x[k] + at.x[k + 1]) / 2 - r, (q + 0.5) * at.height];
    return `M${x} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
  }).join("");
}

/** The cell under a point, or null. */
export function cellAt(px, py, at) {
  const q = Math.floor(py / at.height);
  const k = at.x.findIndex((edge, i) => px >= edge && px < at.x[i + 1]);
  return q < 0 || q >= at.rows || k < 0 ? null : { q, k };
}

/** The cell that a keyboard key moves to in a grid of `rows` × `columns`, or null for any other key. */
export function step(key, { q, k }, rows, columns, control = false) {
  const [low, last] = [rows - 1, columns - 1];
  const to = {
    ArrowLeft: [q, k - 1], ArrowRight: [q, k + 1], ArrowUp: [q - 1, k], ArrowDown: [q + 1, k],
    Home: [control ? 0 : q, 0], End: [control ? low : q, last], PageUp: [0, k], PageDown: [low, k],
  }[key];
  return to ? { q: clamp(to[0], 0, low), k: clamp(to[1], 0, last) } : null;
}

let patterns = 0;

/**
 * The matrix. `paint(layers)` draws cells, one list per layer; `point(cell, text)` moves the crosshair and sets its
 * label; `onCell(cell)` is called when the crosshair should move, `onAct(cell)` on a click or Enter. `seam` is the
 * position at which both axes pass from one text to the next. `label` is the accessible name.
 */
export function matrix({ at, onCell, onAct, rows, seam = 0, label = "attention mask" }) {
  const [queries, keys] = [at.rows, at.columns.length].map((count) => [...Array(count).keys()]);
  const hatch = `plm-hatch-${patterns++}`;
  const layers = svg("g");
  const row = svg("path", { class: "ring query" });
  const column = svg("path", { class: "ring key" });
  const canvas = svg("svg", { width: at.width, height: at.tall, "aria-hidden": "true" },
    svg("defs", {}, svg("pattern",
      { id: hatch, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      svg("path", { class: "hatching", d: "M0.5 0V5" }))),
    layers, svg("path", { class: "seam",
      d: seam ? `M${at.x[seam]} 0V${at.tall}M0 ${seam * at.height}H${at.width}` : "" }), row, column);
  const cross = el("div", { class: "cross", role: "gridcell", tabindex: "0" });
  const line = el("div", { role: "row" }, cross);
  const node = el("div",
    { class: "matrix", role: "grid", "aria-label": label, "aria-rowcount": queries.length,
      "aria-colcount": keys.length, style: `width:${at.width}px;height:${at.tall}px` }, canvas, line);
  let now = { q: 0, k: 0 };

  const point = (cell, text) => {
    now = cell;
    const { q, k } = cell;
    row.setAttribute("d", boxes(keys.filter((i) => i !== k).map((i) => [q, i]), at, 1));
    column.setAttribute("d", boxes(queries.filter((i) => i !== q).map((i) => [i, k]), at, 1));
    cross.style.cssText = `left:${at.x[k]}px;top:${q * at.height}px;` +
      `width:${at.columns[k]}px;height:${at.height}px`;
    cross.setAttribute("aria-label", text);
    cross.setAttribute("aria-colindex", k + 1);
    line.setAttribute("aria-rowindex", q + 1);
    rows?.(cell);
  };
  const paint = (painted) => layers.replaceChildren(...painted.map(({ cells, fill, dotted }) => svg("path",
    { class: `cells ${fill}`, d: dotted ? dots(cells, at) : boxes(cells, at),
      style: fill === "blocked" ? `fill:url(#${hatch})` : null })));

  const under = (event) => {
    const box = canvas.getBoundingClientRect();
    return cellAt(event.clientX - box.left, event.clientY - box.top, at);
  };
  node.addEventListener("pointermove", (event) => {
    const cell = under(event);
    if (cell && (cell.q !== now.q || cell.k !== now.k)) onCell(cell);
  });
  node.addEventListener("click", (event) => {
    const cell = under(event);
    if (!cell) return;
    cross.focus({ preventScroll: true });
    onCell(cell);
    onAct(cell);
  });
  cross.addEventListener("keydown", (event) => {
    const to = step(event.key, now, queries.length, keys.length, event.ctrlKey || event.metaKey);
    if (to) {
      onCell(to);
      cross.scrollIntoView({ block: "nearest", inline: "nearest" });
    } else if (event.key === "Enter" || event.key === " ") onAct(now);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return { node, paint, point };
}

/** A row of a table: its name, and one cell per column. */
export const tableRow = (name, cells, extra = "") => el("div", { class: `row ${extra}`, role: "group", "aria-label": name },
  el("div", { class: "name" }, name), ...cells);

/** A matrix with the names of its `queries` at the left and the rows `head` above; those of the cell under the
    crosshair are highlighted. `table` is the whole; the other parameters and members are those of `matrix`. */
export function labelled({ at, head, queries, ...rest }) {
  const names = queries.map((text, i) => el("div", { class: "query-name", "data-position": i, style: `height:${at.height}px` },
    el("bdi", {}, text)));
  const mark = ({ q, k }) => {
    for (const node of table.querySelectorAll(".is-query, .is-key")) node.classList.remove("is-query", "is-key");
    names[q].classList.add("is-query");
    for (const row of head) row.children[k + 1]?.classList.add("is-key");
  };
  const grid = matrix({ at, rows: mark, ...rest });
  const table = el("div", {
    class: `table${at.turned ? " turned" : ""}${at.dense ? " dense" : ""}`,
    style: `--pitch:${at.columns[0]}px;grid-template-columns:${[at.label, ...at.columns].join("px ")}px`,
  }, ...head, el("div", { class: "queries" }, ...names), grid.node);
  return { ...grid, table };
}
