// The Shape X-ray: draws every line's tensor as a block of cells, and follows one token's numbers through them.

import { ROLES, cellOf, countOf, feedsOf, linesOf, marksOf, walk } from "./lines.js";
import { cellSentence, countSentence, finding } from "./words.js";
import { clamp, el, resized, svg } from "../shared/dom.js";
import { guess, lab, observe, tell, textField, written } from "../shared/lab.js";

const BETWEEN = { heads: 8, tensors: 20 };
const HEADING = 17;
const NUMBERED = 12; // px a cell: from there on a slot's number fits into it

/** How large a cell is, and whether code and drawing stand side by side: `label` and `room` in px. */
export function cellSize(lines, label, room) {
  const gaps = (slabs) => slabs.reduce((sum, slab, i) => sum + (i && gapBefore(slabs, i)), 0);
  const fitting = (space) => Math.min(...lines.map(({ slabs }) => {
    const columns = slabs.reduce((sum, { numbers }) => sum + numbers[0].length, 0);
    return Math.floor((space - label - gaps(slabs)) / columns);
  }));
  const beside = fitting(room - 450);
  return beside >= NUMBERED ? { cell: Math.min(beside, 15), beside: true }
    : { cell: clamp(fitting(room - 40), 7, 15), beside: false };
}

const gapBefore = (slabs, i) => (slabs[i].of === slabs[i - 1].of ? BETWEEN.heads : BETWEEN.tensors);

/** Where the slabs of a line begin, in px from the left, and where the last one ends. */
export function placesOf(slabs, cell) {
  let edge = 0;
  const starts = slabs.map((slab, i) => {
    const start = edge + (i && gapBefore(slabs, i));
    edge = start + slab.numbers[0].length * cell;
    return start;
  });
  return { starts, width: edge };
}

let xrays = 0;

/** One line's drawing. `paint(marks)` colours it, `ring(cells)` rings cells, `point(…)` moves the crosshair. */
function blockOf(line, { cell, names, label, onCell, onFollow, onKey }) {
  const { starts, width } = placesOf(line.slabs, cell);
  const [time, paired] = [names.length, line.kind === "score" || line.kind === "weight"];
  const top = HEADING + (paired ? 13 : 0);
  const hatch = `plm-xray-${xrays++}`;
  const box = (slab, row, column, height = cell - 1) =>
    `M${starts[slab] + column * cell} ${top + (row + 1) * cell - 1 - height}h${cell - 1}v${height}h${1 - cell}z`;
  const [layers, digits] = [svg("g"), svg("g", { class: "digits" })];
  const ring = svg("path", { class: "feeds" });
  const headings = line.slabs.map(({ title, role }, i) =>
    svg("text", { class: `heading ${role}`, x: starts[i], y: 11 }, title));
  const columns = paired ? line.slabs.flatMap((_, i) => names.map((_, k) =>
    svg("text", { class: "slot", x: starts[i] + (k + 0.5) * cell - 0.5, y: top - 4 }, String(k)))) : [];
  const canvas = svg("svg", { width, height: top + time * cell, "aria-hidden": "true" },
    svg("defs", {}, svg("pattern", { id: hatch, width: 4, height: 4, patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(45)" }, svg("path", { class: "hatching", d: "M0.5 0V4" }))),
    ...headings, ...columns, layers, digits, ring);
  const cross = el("div", { class: "cross", role: "gridcell", tabindex: "-1", hidden: true, on: { keydown: onKey } });
  const made = [...new Set(line.slabs.map(({ of }) => of))].join(", ");
  const grid = el("div", { class: "cells", role: "grid", "aria-label": `the numbers of ${made}` }, canvas,
    el("div", { role: "row" }, cross));
  const labels = names.map((name, slot) => el("div", { title: name, on: { click: () => onFollow(slot) } },
    el("bdi", {}, name), el("span", { class: "slot" }, String(slot))));
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
  const write = (place, slot, mine) => {
    if (place.drawn === `${slot} ${mine}`) return;
    place.drawn = `${slot} ${mine}`;
    place.text.textContent = slot;
    place.text.setAttribute("class", mine ? "mine" : "");
  };

  const bar = line.kind === "weight" || line.kind === "share";
  const paint = (marks) => {
    const paths = new Map();
    const add = (name, path) => paths.set(name, (paths.get(name) ?? "") + path);
    marks.forEach((slab, i) => slab.forEach((cells, row) => cells.forEach(({ slot, fill, level, blocked }, column) => {
      add(blocked ? "blocked" : bar && fill ? `pale ${fill}` : "pale", box(i, row, column));
      if (!blocked && (fill || line.kind === "weight") && level > 0) {
        add(fill || "other", box(i, row, column, bar ? Math.max(1, level * (cell - 1)) : cell - 1));
      }
      if (numbered) write(digit[i][row][column], slot, fill !== "");
    })));
    layers.replaceChildren(...[...paths].map(([name, d]) =>
      svg("path", { class: name, d, style: name === "blocked" ? `fill:url(#${hatch})` : null })));
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
    point: ({ slab, row, column }, said) => {
      cross.hidden = false;
      cross.tabIndex = 0;
      cross.style.cssText = `left:${starts[slab] + column * cell - 1.5}px;top:${top + row * cell - 1.5}px;` +
        `width:${cell + 2}px;height:${cell + 2}px`;
      cross.setAttribute("aria-label", said);
    },
    leave: () => { cross.hidden = true; cross.tabIndex = -1; },
  };
}

let groupsOfChoices = 0;

/** Native radio buttons that look like chips: one Tab stop, arrows inside. */
function choice(legend, options, chosen, send) {
  const name = `plm-xray-choice-${groupsOfChoices++}`;
  const inputs = options.map((_, i) =>
    el("input", { type: "radio", name, checked: i === chosen, on: { change: () => send(i) } }));
  const node = el("div", { class: "choice", role: "radiogroup", "aria-label": legend }, el("span", {}, legend),
    ...options.map((option, i) => el("label", { class: "chip" }, inputs[i], ...option)));
  return { node, show: (i) => inputs.forEach((input, at) => { input.checked = at === i; }) };
}

/** Code with q, k and v in their roles' colours. */
const coloured = (code) => code.split(/\b([qkv])\b/).map((piece, i) =>
  (i % 2 ? el("b", { class: ROLES[piece] }, piece) : piece));

const axesOf = (axes) => axes.flatMap(([name, size], i) => [i ? " × " : "",
  el("span", { class: name === "query" || name === "key" ? name : "" }, name), ` ${size}`]);

const QUESTION = "view(batch, head, time, width) gives the very shape that rearrange gives, and raises no error. " +
  "Where will the word’s numbers be?";
const ANSWER = "Switch to “view alone” and look at line 3. In memory a tensor is one long row of numbers, all of the " +
  "first word’s before all of the second’s. view keeps that row and only cuts it anew: the first words fill head 0, " +
  "those after them head 1, and so on. To give each head a piece of every word, axes must change places: " +
  "view(batch, time, head, width).transpose(1, 2), or rearrange, which says the axes by name.";

export default lab({
  title: "Where is my word in this tensor?",
  lead: "Attention’s forward, line by line, on real numbers. Follow one word; move over a cell or walk with the " +
  "arrow keys.",
}, ({ model, signal, parts }) => {
  parts.node.classList.add("xray");
  const last = () => (model.get("state").tokens?.length ?? 1) - 1;
  const begin = () => tell(model, { followed: Math.min(2, last()), wrong: false });
  const bar = el("div", { class: "bar" }, textField(model, "your sentence", signal),
    el("button", { type: "button", on: { click: begin } }, "reset"));
  const chosen = el("div", { class: "bar quiet choices" });
  parts.controls.prepend(bar, chosen);
  const found = el("p", { class: "found", role: "status", "aria-live": "polite" });
  const why = el("p", { class: "why", role: "status", "aria-live": "polite" });
  const view = { open: null };
  let [cursor, repaint] = [{ line: 5, slab: 1, row: 4, column: 1 }, () => {}];

  const draw = () => {
    const state = model.get("state");
    if (!state.tokens) return parts.body.replaceChildren();
    const first = linesOf(state, false);
    const label = clamp(8 * Math.max(...state.tokens.map((token) => [...token].length)) + 26, 54, 96);
    const { cell, beside } = cellSize(first, label, parts.body.clientWidth);
    const widest = Math.max(...first.map(({ slabs }) => placesOf(slabs, cell).width));
    const walked = parts.body.contains(document.activeElement) && document.activeElement.matches(".cross");
    let lines = first;
    const pass = () => (model.get("wrong") ? state.wrong : state.right);
    const followed = () => clamp(model.get("followed"), 0, last());
    const follow = (slot) => tell(model, { followed: slot });
    const tokens = choice("follow", state.tokens.map((token) => [el("bdi", {}, token)]), followed(), follow);
    const splits = choice("split by", [["rearrange"], ["view alone"]], model.get("wrong") ? 1 : 0,
      (i) => tell(model, { wrong: i === 1 }));
    chosen.replaceChildren(tokens.node, splits.node);

    const go = (to, act = false) => {
      const slabs = lines[to.line].slabs;
      const slab = Math.min(to.slab, slabs.length - 1);
      const columns = slabs[slab].numbers[0].length;
      cursor = { ...to, slab, row: Math.min(to.row, last()), column: Math.min(to.column, columns - 1) };
      const said = cellSentence(state, pass(), lines, cursor, followed());
      why.replaceChildren(...written(said));
      const feeds = feedsOf(state, pass(), cursor);
      steps.forEach(({ block }, i) => {
        block.ring(feeds.filter(({ line }) => line === i));
        if (i === cursor.line) block.point(cursor, said.map(({ text }) => text).join(""));
        else block.leave();
      });
      if (act) {
        const { line, row, column } = cursor;
        follow(cellOf(state, pass(), lines[line], slabs[slab], row, column, followed()).slot);
      }
    };
    const onKey = (event) => {
      const to = walk(event.key, cursor, lines);
      if (to) {
        go(to);
        steps[cursor.line].block.cross.focus({ preventScroll: true });
        steps[cursor.line].block.cross.scrollIntoView({ block: "nearest", inline: "nearest" });
      } else if (event.key === "Enter" || event.key === " ") go(cursor, true);
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    const steps = lines.map((line, i) => {
      const onCell = (at, act) => {
        const same = cursor.line === i && Object.keys(at).every((axis) => at[axis] === cursor[axis]);
        if (act || !same) go({ line: i, ...at }, act);
        if (act) block.cross.focus({ preventScroll: true });
      };
      const block = blockOf(line, { cell, names: state.tokens, label, onCell, onFollow: follow, onKey });
      const [code, note, count] = [el("code"), el("p", { class: "note" }), el("p", { class: "count" })];
      const said = el("div", { class: "line" }, code, el("p", { class: "axes" }, ...axesOf(line.axes)), note, count);
      const node = el("li", {}, said, el("div", { class: "scroll" }, block.node));
      return { node, block, code, count, note };
    });
    repaint = () => {
      lines = linesOf(state, model.get("wrong"));
      tokens.show(followed());
      splits.show(model.get("wrong") ? 1 : 0);
      steps.forEach(({ node, block, code, count, note }, i) => {
        code.replaceChildren(...coloured(lines[i].code));
        note.textContent = lines[i].note;
        node.classList.toggle("wrong", model.get("wrong") && i === 2);
        const marks = marksOf(state, pass(), lines[i], followed());
        count.replaceChildren(...written(countSentence(lines[i].kind, countOf(marks), state.names[followed()])));
        block.paint(marks);
        block.labels.forEach((row, slot) => row.classList.toggle("followed", slot === followed()));
      });
      found.replaceChildren(...written(finding(state, model.get("wrong"), followed())));
      go(cursor);
    };
    parts.body.replaceChildren(
      el("div", { class: "told" }, el("div", {}, found, why),
        guess(view, QUESTION, ANSWER)),
      el("ol", { class: `lines${beside ? "" : " stacked"}`, style: `--drawing:${label + widest + 4}px` },
        ...steps.map(({ node }) => node)));
    repaint();
    if (walked) steps[cursor.line].block.cross.focus({ preventScroll: true });
  };

  observe(model, ["state"], draw, signal);
  observe(model, ["followed", "wrong"], () => repaint(), signal);
  resized(parts.body, draw, signal);
  draw();
});
