// Part A and Part B: both positions, the targets, and the attention mask.

import { partsOf, positionSaid, VERBS } from "./messages.js";
import { clamp, el, ruler } from "../shared/dom.js";
import { labelled, layout, tableRow } from "../shared/grid.js";
import { written } from "../shared/lab.js";
import { fillOf, layersOf, sentence } from "../shared/masks.js";

/** The initial cell: the [START] of the second blank and a word of the first; with one blank, its [START] and the next
    token; without any, the first token. */
export function firstCell({ read, sizes }) {
  if (!sizes.length) return { q: 0, k: 0 };
  if (sizes.length === 1) return { q: read, k: Math.min(read + 1, read + sizes[0] - 1) };
  return { q: read + sizes[0], k: read + Math.min(1, sizes[0] - 1) };
}

/** The legend's lines, [{ fill, text }], for what occurs in the mask. */
export function legendOf({ rules, rule_ids }) {
  const open = rules.map((text, i) => ({ fill: fillOf(i + 1), text, cause: i + 1 })).filter(({ cause }) => rule_ids.includes(cause));
  return [...open.map(({ fill, text }) => ({ fill, text })), ...(rule_ids.some((c) => c < 0) ? [{ fill: "blocked", text: "blocked" }] : [])];
}

function head(state, at) {
  const cell = (className, text) => el("div", { class: className }, el("bdi", {}, text));
  const tall = at.turned ? "tall" : "";
  const parts = partsOf(state).map(({ name, first, end }) =>
    el("div", { class: "half", style: `grid-column:span ${end - first}`, title: name },
      at.turned ? name.replace("Part ", "") : name));
  const kind = (position) => (state.inputs[position] === "[MASK]" ? "mask" : ["[START]", "[UNK]"].includes(state.inputs[position]) ? "special" : "word");
  return [
    tableRow("", parts, "halves"),
    tableRow("position 1", state.position_ids[0].map((place) => cell("number", place))),
    tableRow("position 2", state.position_ids[1].map((place) => cell("number", place))),
    tableRow("target", state.targets.map((word) => cell(word === null ? "target none" : "target", word ?? "·")), tall),
    tableRow("input", state.inputs.map((token, position) => el("div", { class: `chip ${kind(position)}`, "data-position": position,
      title: state.names[position] }, el("bdi", {}, token))), `reads ${tall}`),
  ];
}

/** The square in `room` px; `font` is a node with its font. `point(cell)` moves the crosshair to { q, k }, and `at()`
    returns its position. */
export function square({ state, room, font, ask }) {
  const count = state.inputs.length;
  const width = ruler(font, "600 13px");
  const words = state.inputs.map((token, position) => Math.max(width(token), width(state.targets[position] ?? "")));
  const label = clamp(Math.ceil(Math.max(...state.inputs.map(width))) + 12, 84, 150);
  const at = layout(words, label, room);
  const why = el("div", { class: "why", role: "status", "aria-live": "polite" });
  let now = firstCell(state);

  const point = (cell) => {
    now = cell;
    const pieces = sentence(state.mask, state.mask.rule_ids[cell.q * count + cell.k], state.names, cell, VERBS);
    why.replaceChildren(el("p", {}, ...written(pieces)), el("p", { class: "position-said" }, positionSaid(state, cell.k)));
    grid.point(cell, `${pieces.map(({ text }) => text).join("")} ${positionSaid(state, cell.k)}`);
  };
  const grid = labelled({ at, head: head(state, at), queries: state.inputs, seam: state.sizes.length ? state.read : 0,
    onCell: (cell) => point(cell), onAct: () => {} });
  grid.table.querySelector(".cross").dataset.at = "cross";
  grid.table.addEventListener("pointerover", (event) => {
    const { table } = grid;
    const row = event.target.closest(".row");
    const column = row && !row.matches(".halves") ? [...row.children].indexOf(event.target.closest(".row > :not(.name)")) - 1 : -1;
    const query = event.target.closest(".query-name");
    if (column >= 0 && table.contains(row)) point({ ...now, k: column });
    else if (query) point({ ...now, q: Number(query.dataset.position) });
  });
  grid.paint(layersOf(state.mask.rule_ids, count));
  const legend = el("ul", { class: "legend" }, ...legendOf(state.mask).map(({ fill, text }) => el("li", {},
    el("span", { class: `swatch ${fill}`, "aria-hidden": "true" }), text)));
  const node = el("div", { class: `stage${at.beside ? "" : " stacked"}` },
    why, el("div", { class: "scroll", style: `max-width:${label + at.width + 16}px` }, grid.table),
    el("div", { class: "notes" }, el("div", {}, el("p", { class: "axes" }, el("b", { class: "query" }, "query"),
      " ↓ can attend to ", el("b", { class: "key" }, "key"), " →"), legend), ask));
  return { node, point, at: () => now };
}
