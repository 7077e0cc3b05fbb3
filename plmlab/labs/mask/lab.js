// The Mask Lab: draws an Example and its attention mask, with the reason for each cell.

import { presetButtons, radioGroup, select, slider, textField } from "../shared/controls.js";
import { clamp, el, keepingFocus, resized, ruler } from "../shared/dom.js";
import { labelled, layout, tableRow } from "../shared/grid.js";
import { guess, lab, observe, tell, written } from "../shared/lab.js";
import { EDITED, fillOf, layersOf, sentence } from "../shared/masks.js";

/** The cause of each pair of one mask after the edits, [[which, query, key, look], …]; the last edit counts. */
export function decided(mask, edits, which, count) {
  const rule_ids = mask.rule_ids.slice();
  for (const [of, q, k, look] of edits) if (of === which) rule_ids[q * count + k] = look ? EDITED : -EDITED;
  return rule_ids;
}

/** The edits after a click on one cell: an edited cell is restored, any other is flipped. */
export function turned(edits, which, q, k, mask, count) {
  const others = edits.filter(([of, eq, ek]) => of !== which || eq !== q || ek !== k);
  if (others.length < edits.length) return others;
  return [...edits, [which, q, k, mask.rule_ids[q * count + k] < 0]];
}

/** The initial cell: the middle target position as the query, the next position as the key; if there are two parts, of
    which the second begins at `split`, a query in the second part and the middle of the first as the key. */
export function firstCell(targets, split = 0) {
  const predicted = targets.map((t, i) => (t === null ? -1 : i)).filter((i) => i >= split);
  const q = predicted[Math.floor((predicted.length - 1) / 2)] ?? 0;
  return { q, k: split ? Math.floor((split - 1) / 2) : Math.min(q + 1, targets.length - 1) };
}

/** Whether a cell can be set by hand: only in a mask, and not in a block [query's part, key's part] of `never`. */
export function settable({ q, k }, { by_hand: byHand, split, never }) {
  const part = (position) => Number(split > 0 && position >= split);
  return byHand && !never.some(([row, column]) => row === part(q) && column === part(k));
}

const MARKS = {
  mask: "masked", changed: "replaced by another word", kept: "target, but left unchanged",
  unknown: "not in the vocabulary",
};

/** The legend's lines, [{ fill | chip, text }], for what occurs in the drawing. */
export function legendOf(mask, rule_ids, marks) {
  const fills = mask.rules
    .map((text, i) => ({ fill: fillOf(i + 1), text, cause: i + 1 }))
    .filter(({ cause }) => rule_ids.includes(cause));
  const hand = rule_ids.some((c) => Math.abs(c) === EDITED);
  const blocked = rule_ids.some((c) => c < 0) ? [{ fill: "blocked", text: "blocked" }] : [];
  const chips = Object.entries(MARKS).filter(([mark]) => marks.includes(mark));
  return [
    ...fills.map(({ fill, text }) => ({ fill, text })), ...blocked,
    ...(hand ? [{ fill: "by-hand", text: "set by hand" }] : []),
    ...chips.map(([chip, text]) => ({ chip, text })),
  ];
}

function controls(model, view, signal) {
  const { objectives, networks, presets } = model.get("menu");
  const disabled = model.get("alone");
  const options = (list) => list.map(({ name, title }) => [name, title]);
  const chosen = select({ label: "objective", disabled, options: options(objectives) },
    (objective) => tell(model, { objective, choices: {} }));
  const reader = select({ label: "architecture", lead: "architecture ", disabled, options: options(networks) },
    (network) => tell(model, { network }));
  const second = textField(model, "the second text", signal, { trait: "second", kind: "second" });
  const pair = el("div", { class: "bar" }, second);
  const begin = () => tell(model, disabled ? { edits: [] } : { edits: [], choices: {}, draws: 0 });
  const again = () => tell(model, { draws: model.get("draws") + 1 });
  const sliders = el("span", { class: "sliders" });

  let drawn = null;
  const follow = () => {
    chosen.show(model.get("objective"));
    reader.show(model.get("network"));
    const { objective, choices = [], texts, second: called } = model.get("state");
    pair.hidden = texts !== 2;
    second.placeholder = `${called} (if empty: the same sentence)`;
    second.setAttribute("aria-label", called);
    const wanted = JSON.stringify([objective, choices]);
    if (wanted === drawn || sliders.contains(document.activeElement)) return;
    drawn = wanted;
    sliders.replaceChildren(...choices.map((choice) => slider({ ...choice, disabled },
      (value) => tell(model, { choices: { ...model.get("choices"), [choice.name]: value } })).node));
  };
  observe(model, ["objective", "network", "state"], follow, signal);
  follow();
  return [
    el("div", { class: "bar" }, textField(model, "your sentence", signal), chosen.node,
      el("button", { type: "button", disabled, on: { click: again } }, "draw again"),
      el("button", { type: "button", on: { click: begin } }, "reset")),
    pair,
    el("div", { class: "bar quiet" }, reader.node, sliders, view.streams,
      presetButtons(model, presets, (preset) => ({ choices: {}, ...preset }))),
  ];
}

function header(state, at) {
  const cell = (className, text) => el("div", { class: className }, el("bdi", {}, text));
  const axes = state.position_ids.map((axis, i) =>
    tableRow(state.position_ids.length > 1 ? `position ${i + 1}` : "position", axis.map((p) => cell("number", p))));
  const chips = state.tokens.map((token, i) =>
    el("div", { class: `chip ${state.marks[i]}`, "data-position": i, title: state.names[i] },
      el("bdi", {}, token)));
  const { split, headings } = state;
  const half = (name, first, end) =>
    el("div", { class: "half", style: `grid-column:span ${end - first}` }, name);
  const parts = split
    ? tableRow("", [half(headings[0], 0, split), half(headings[1], split, state.tokens.length)], "halves")
    : tableRow("segment", state.segments.map((s) => cell("number", String.fromCharCode(65 + s))));
  return [
    ...axes,
    parts,
    tableRow("target", state.targets.map((t) => cell(t === null ? "target none" : "target", t ?? "·")),
      at.turned ? "tall" : ""),
    tableRow("input", chips, `reads ${at.turned ? "tall" : ""}`),
  ];
}

export default lab({
  title: "Which positions can attend to which?",
  lead: "One sentence under one objective. Hover over a cell or use the arrow keys to see the reason; click it, or " +
  "press Enter, to allow or block it.",
}, ({ model, signal, parts }) => {
  const view = { which: 0, cell: null, open: null, streams: el("span") };
  parts.controls.prepend(...controls(model, view, signal));
  const why = el("p", { class: "why", role: "status", "aria-live": "polite" });
  const legend = el("ul", { class: "legend" });
  let repaint = () => {};

  const choose = (which) => {
    view.which = which;
    repaint();
  };
  const streams = ({ masks }) => (masks.length < 2 ? [] : [radioGroup({ label: "which mask to draw", kind: "streams",
    value: view.which, options: masks.map(({ title }, i) => [i, title]) }, choose).node]);

  const draw = () => keepingFocus(parts.body, () => {
    const state = model.get("state");
    if (!state.tokens) return parts.body.replaceChildren();
    const count = state.tokens.length;
    const width = ruler(parts.node, "600 13px");
    const words = state.tokens.map((t, i) => Math.max(width(t), width(state.targets[i] ?? "")));
    const label = clamp(Math.ceil(Math.max(...state.tokens.map(width))) + 12, 84, 150);
    const at = layout(words, label, parts.body.clientWidth);
    if (!(view.which < state.masks.length)) view.which = 0;
    if (view.count !== count || view.split !== state.split) Object.assign(view, { count, split: state.split, cell: firstCell(state.targets, state.split) });
    const mask = () => state.masks[view.which];
    const rule_ids = () => decided(mask(), model.get("edits"), view.which, count);

    const go = (cell) => {
      const cause = rule_ids()[cell.q * count + cell.k];
      const pieces = sentence(mask(), cause, state.names, cell, state.verbs);
      view.cell = cell;
      why.replaceChildren(...written(pieces));
      grid.point(cell, pieces.map((piece) => piece.text).join(""));
    };
    const grid = labelled({
      at, head: header(state, at), queries: state.tokens, onCell: go, seam: state.split,
      onAct: (cell) => settable(cell, state) &&
        tell(model, { edits: turned(model.get("edits"), view.which, cell.q, cell.k, mask(), count) }),
    });
    repaint = () => {
      grid.paint(layersOf(rule_ids(), count));
      legend.replaceChildren(...legendOf(mask(), rule_ids(), state.marks).map(({ fill, chip, text }) => el("li", {},
        el("span", { class: fill ? `swatch ${fill}` : `chip ${chip}`, "aria-hidden": "true" }), text)));
      go(view.cell);
    };
    const { table } = grid;
    table.addEventListener("pointerover", (event) => {
      const position = event.target.closest("[data-position]");
      if (position) go({ ...view.cell, [position.classList.contains("chip") ? "k" : "q"]: Number(position.dataset.position) });
    });
    view.streams.replaceChildren(...streams(state));
    parts.body.replaceChildren(el("div", { class: `stage${at.beside ? "" : " stacked"}` },
      why, el("div", { class: "scroll", style: `max-width:${label + at.width + 16}px` }, table),
      el("div", { class: "notes" },
        el("div", {}, el("p", { class: "axes" }, el("b", { class: "query" }, "query"), ` ↓ ${state.axes} `,
          el("b", { class: "key" }, "key"), " →"), legend),
        ...(state.question ? [guess(view, state.question, state.answer)] : []))));
    repaint();
  });

  observe(model, ["state"], draw, signal);
  observe(model, ["edits"], () => repaint(), signal);
  resized(parts.body, draw, signal);
  draw();
});
