// One panel per mask: the context of the masked word, the attention mask, and the prediction.

import { inSight, paidText, reason, sightOf, positionsOf } from "./messages.js";
import { beliefTable } from "../shared/beliefs.js";
import { clamp, el, ruler } from "../shared/dom.js";
import { labelled, tableRow } from "../shared/grid.js";
import { layersOf } from "../shared/masks.js";

const NAMED = 11; // px: below this, a row is too low for its name

/** The height of the cells of a square of `count` positions in px, and whether there is room for names; `side` is the whole
    width, `label` that of the names. */
export function squareOf(count, side, label) {
  const share = (taken) => clamp(Math.floor((side - taken) / count), 5, 18);
  const named = share(label) >= NAMED;
  return { named, height: share(named ? label : 0) };
}

/** The layout of a square's cells. */
const placed = (count, height) => ({ columns: Array(count).fill(height), rows: count, height, width: count * height,
  tall: count * height, x: Array.from({ length: count + 1 }, (_, i) => i * height) });

function sight(panel, gap, onPoint) {
  const sees = inSight(panel);
  return el("div", { class: "seen" }, ...panel.tokens.map((token, position) => {
    const place = panel.places[position];
    const kind = position === panel.position ? "mask" : `${Number.isInteger(place) ? "" : "special "}${sees[position] ? "open" : "closed"}`;
    return el("span", { class: `chip ${kind}`, title: panel.names[position],
      on: { pointerenter: () => onPoint({ q: gap, k: place }) } }, el("bdi", {}, token));
  }));
}

/**
 * One panel, as wide as `positions` columns in all panels; `side` is the room for its square, `font` a node with its font.
 * Calls `onPoint(pair)` when the reader moves to a pair of places; `point(pair)` marks one.
 */
export function panelOf({ panel, state, side, positions, font, index, onPoint }) {
  const measure = ruler(font, "600 11.5px");
  const label = clamp(Math.ceil(Math.max(...panel.tokens.map(measure))) + 12, 40, 84);
  const { named, height } = squareOf(positions, side, label);
  const names = panel.tokens.map((token) => (named ? token : ""));
  const cells = names.map((token) => el("div", { class: "column-name" }, el("bdi", {}, token)));
  const grid = labelled({
    at: { ...placed(names.length, height), label: named ? label : 0, turned: true },
    head: named ? [tableRow("", cells, "tall")] : [], queries: names, label: `${panel.name}: attention mask`,
    onCell: ({ q, k }) => onPoint({ q: panel.places[q], k: panel.places[k] }), onAct: () => {},
  });
  grid.table.querySelector(".cross").dataset.at = `cross-${index}`;
  grid.node.append(el("div", { class: "gap-row", "aria-hidden": "true",
    style: `top:${panel.position * height}px;width:${names.length * height}px;height:${height}px` }));
  grid.paint(layersOf(panel.mask.rule_ids, names.length));
  const point = (pair) => {
    const here = positionsOf(panel, pair);
    grid.table.classList.toggle("elsewhere", !here);
    if (here) grid.point(here, `${panel.name}: ${reason(panel, pair).map(({ text }) => text).join("")}`);
  };
  const node = el("section", { class: "panel", "aria-label": panel.name },
    el("h4", {}, panel.name), el("p", { class: "sight" }, sightOf(panel, state.hidden, state.tokens.length)),
    sight(panel, state.hidden, onPoint),
    el("div", { class: "inside" }, el("div", { class: "scroll" }, grid.table),
      el("div", { class: "reader" }, beliefTable("", panel.belief))),
    el("p", { class: "paid" }, paidText(panel.belief)));
  return { node, point };
}
