// The main figure of the Memory Lab, one column per position: the receptive field of each layer, the status of each
// position, the attention of each layer, and the effect of masking a position out.

import { runs } from "./numbers.js";
import { ZONES, isChanged, isCut } from "./messages.js";
import { clamp, el, svg } from "../shared/dom.js";
import { ramp, scaleBar, sequential, walk } from "../shared/heat.js";

const LABEL = 178;
const [HEARD, BAND, LOOKED, EFFECT, GAP, HEAD] = [15, 20, 13, 54, 9, 25];
const NARROWEST = 3.4;
const INSET = 0.35;
const SEEN = 0.004;
const STOP = "stop-gradient: hidden states pass, gradients do not";

let patterns = 0;

/** The rows from top to bottom: { kind, layer, way, title, top, height }. Each layer has a second row of weights if
    something is changed. */
export function rowsOf(layers, changed) {
  const rows = [];
  let top = HEAD;
  const add = (kind, height, title, more = {}) => {
    rows.push({ kind, title, top, height, ...more });
    top += height + 2;
  };
  for (let layer = layers - 1; layer >= 0; layer--) add("heard", HEARD, `can reach layer ${layer}`, { layer });
  add("zone", BAND, "status");
  top += GAP;
  for (let layer = layers - 1; layer >= 0; layer--) {
    add("looked", LOOKED, `attention, layer ${layer}${changed ? ", before" : ""}`, { layer, way: 0 });
    if (changed) add("looked", LOOKED, "after the change", { layer, way: 1 });
  }
  top += GAP;
  add("effect", EFFECT, "p(target) without it");
  return { rows, height: top };
}

/** Place of a weight on the colour scale, from 0 to 1: its square root, the same in every state, so that small weights
    are visible and figures can be compared. */
export const shade = (weight) => Math.sqrt(clamp(weight, 0, 1));

const rect = (x, y, width, height, more) => svg("rect", { x, y, width: Math.max(width, 0.5), height, ...more });

/** Cells of a row, one per run of equal values; `paint(value)` gives the attributes of one. */
const cells = (values, at, { top, height }, paint, inset = 0) => runs(values).map(({ from, to, value }) =>
  rect(at(from) + inset, top, at(to) - at(from) - 2 * inset, height, paint(value)));

/** The receptive field of a layer; the part lost to masking is outlined. */
function heardMarks(row, { state, at, hatched }) {
  const within = (level) => level >= 0 && level <= row.layer + 1;
  const marks = state.reach.level.map((level, position) =>
    (!within(level) ? "never" : within(state.reach.cut[position]) ? "heard" : "lost"));
  return cells(marks, at, row, (value) => (value === "heard" ? { class: value } : { class: value, style: hatched }));
}

/** The status of each position, labelled where there is room, and what is masked out. */
function zoneMarks(row, { state, at, hatched }) {
  const names = runs(state.zones).filter(({ from, to, value }) => at(to) - at(from) > 7 * ZONES[value].length)
    .map(({ from, to, value }) => svg("text", { class: `zone-name ${value}`, x: (at(from) + at(to)) / 2,
      y: row.top + 14, "text-anchor": "middle" }, ZONES[value]));
  const cut = runs(state.tokens.map((_, position) => isCut(state, position))).filter(({ value }) => value)
    .map(({ from, to }) => rect(at(from), row.top - 2, at(to) - at(from), row.height + 4, { class: "cut-out" }));
  return [...cells(state.zones, at, row, (zone) =>
    ({ class: `zone ${zone}`, style: zone === "forgotten" ? hatched : null }), INSET), ...names, ...cut];
}

/** Attention weights of a layer; `colour(weight)` uses one scale for all rows. */
function lookedMarks(row, { state, at, hatched, weights, colour }) {
  const visible = weights(row).map((weight, position) =>
    (position > state.position || state.zones[position] === "forgotten" ? null : weight));
  return cells(visible, at, row, (weight) =>
    (weight === null ? { class: "never", style: hatched } : { fill: colour(weight) }));
}

/** Bars from the probability of the target to its value without a position. */
function effectMarks({ top, height }, { state, at, width, pitch }) {
  const y = (p) => top + height - 2 - p * (height - 4);
  const { p } = state.answers[0];
  return [svg("path", { class: "rule", d: `M0 ${y(0)}H${width}M0 ${y(1)}H${width}` }),
    svg("path", { class: "level", d: `M${at(state.oldest)} ${y(p)}H${at(state.position)}` }),
    ...state.effects.positions.filter(([, , then]) => Math.abs(then - p) > SEEN).map(([first, end, then]) =>
      rect(at(first), Math.min(y(p), y(then)), at(end) - at(first) - (pitch > 3 ? 0.6 : 0), Math.abs(y(p) - y(then)),
        { class: then < p ? "falls" : "rises" }))];
}

const MARKS = { heard: heardMarks, zone: zoneMarks, looked: lookedMarks, effect: effectMarks };

/** Lines through all rows: segment boundaries, the stop-gradient, and the last occurrence of the target. */
function lines({ state, at, width }, height) {
  const starts = [];
  for (let position = state.segment; position < state.tokens.length; position += state.segment) {
    starts.push(`M${at(position)} ${HEAD - 3}V${height}`);
  }
  const stop = at(state.segment_start);
  const right = stop > width / 2;
  const gradient = state.segment_start ? [svg("path", { class: "gradient-stop", d: `M${stop} 2V${height}` }),
    svg("text", { class: "gradient-name", x: stop + (right ? -6 : 6), y: 10, "text-anchor": right ? "end" : "start" },
    right ? `${STOP} ▸` : `◂ ${STOP}`)] : [];
  const fact = state.fact === null ? [] : [svg("path", { class: "fact-mark",
    d: `M${at(state.fact + 0.5)} ${HEAD - 3}l-4.5 -8h9z` })];
  return [svg("path", { class: "starts", d: starts.join("") }), ...gradient, ...fact];
}

/** The legend. */
const keys = (state) => el("div", { class: "map-foot" }, el("div", { class: "map-keys" },
  el("span", {}, el("i", { class: "heard" }), "receptive field"),
  el("span", {}, el("i", { class: "never" }), "out of reach"),
  ...(state.fact === null ? [] : [el("span", {}, el("i", { class: "fact-key" }, "▼"),
    `last occurrence of “${state.word}”`)]),
  el("span", {}, el("i", { class: "falls" }), "falls to this without it"),
  el("span", {}, el("i", { class: "rises" }), "rises")),
scaleBar(sequential(), ["0", "¼", "1"], "attention weight"));

/**
 * The figure. `look` has the weights, `head` selects the head; `onPoint({ row, position })` is called on pointer moves,
 * `onWalk({ row, position })` on arrow keys, `onLeave()` when the pointer leaves, `onAct(position)` on a click or Enter.
 * `point(row, position, label)` moves the crosshair.
 */
export function longMap({ state, look, layers, head, room, onPoint, onWalk, onLeave, onAct }) {
  const count = state.tokens.length;
  const { rows, height } = rowsOf(layers, isChanged(state));
  const pitch = Math.max((room - LABEL - 12) / count, NARROWEST);
  const width = pitch * count;
  const at = (position) => position * pitch;
  const hatch = `plm-memory-${patterns++}`;
  const weights = ({ layer, way }) => state.tokens.map((_, position) => look.weight(way, layer, head, position));
  const colours = ramp(sequential());
  const colour = (value) => {
    const i = 4 * Math.round(255 * shade(value));
    return `rgb(${colours[i]},${colours[i + 1]},${colours[i + 2]})`;
  };
  const figure = { state, at, width, pitch, weights, colour, hatched: `fill:url(#${hatch})` };
  const marks = rows.flatMap((row) => MARKS[row.kind](row, figure));
  const column = svg("rect", { class: "pointed", width: Math.max(pitch, 2), y: HEAD - 2, height: height - HEAD + 2 });
  const canvas = svg("svg", { width: width + 2, height, "aria-hidden": "true" },
    svg("defs", {}, svg("pattern", { id: hatch, width: 5, height: 5, patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(45)" }, svg("path", { class: "hatching", d: "M0.5 0V5" }))),
    ...marks, ...lines(figure, height),
    rect(at(state.position) - 0.5, HEAD - 2, pitch + 1, height - HEAD + 2, { class: "asked-position" }), column);
  const cross = el("div", { class: "cross", role: "gridcell", tabindex: "0" });
  const line = el("div", { role: "row" }, cross);
  const field = el("div", { class: "field", role: "grid", "aria-label": "the positions of the text: one row per layer",
    "aria-rowcount": rows.length, "aria-colcount": count, style: `width:${width}px;height:${height}px` }, canvas, line);
  const names = rows.map(({ title, top, height: tall }) =>
    el("span", { class: "row-name", style: `top:${top}px;height:${tall}px` }, title));
  const effect = rows.at(-1);
  const axis = [["1", effect.top], ["0", effect.top + effect.height - 13]].map(([text, top]) =>
    el("span", { class: "row-name axis", style: `top:${top}px` }, text));
  let now = { row: 0, position: 0 };
  const under = (event) => {
    const box = canvas.getBoundingClientRect();
    const y = event.clientY - box.top;
    const row = rows.findLastIndex(({ top }) => y >= top);
    return { row: Math.max(row, 0), position: clamp(Math.floor((event.clientX - box.left) / pitch), 0, count - 1) };
  };
  field.addEventListener("pointermove", (event) => onPoint(under(event)));
  field.addEventListener("pointerleave", onLeave);
  field.addEventListener("click", (event) => {
    cross.focus({ preventScroll: true });
    onAct(under(event).position);
  });
  cross.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") onAct(now.position);
    else {
      const far = event.ctrlKey || event.metaKey;
      const to = walk(event.key, { row: now.row, column: now.position }, rows.length, count, far);
      if (!to) return;
      onWalk({ row: to.row, position: to.column });
      cross.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    event.preventDefault();
    event.stopPropagation();
  });
  const point = (row, position, label) => {
    now = { row: clamp(row, 0, rows.length - 1), position };
    const { top, height: tall } = rows[now.row];
    const wide = Math.max(pitch, 7);
    column.setAttribute("x", at(position) + pitch / 2 - Math.max(pitch, 2) / 2);
    cross.style.cssText = `left:${at(position + 0.5) - wide / 2}px;top:${top - 1}px;width:${wide}px;height:${tall + 2}px`;
    cross.setAttribute("aria-label", label);
    cross.setAttribute("aria-colindex", position + 1);
    line.setAttribute("aria-rowindex", now.row + 1);
  };
  const node = el("div", { class: "long" }, el("div", { class: "scroll" },
    el("div", { class: "long-grid", style: `grid-template-columns:${LABEL}px ${width + 2}px` },
      el("div", { class: "row-names", style: `height:${height}px` }, ...names, ...axis), field)), keys(state));
  return { node, point, rows };
}
