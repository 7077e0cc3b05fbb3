// How near a word's two vectors are: three layers, each read from the left, from the right and both together.

import { DIRECTIONS, LAYERS } from "./maths.js";
import { SIDES, cosineSaid } from "./told.js";
import { clamp, el } from "../shared/dom.js";
import { walk } from "../shared/heat.js";
import { decimal } from "../shared/words.js";

const width = (value) => `${100 * clamp(value, 0, 1)}%`;

/** The table, the highest layer on top, as they stand in the model. `strangers` are the cosines of different words;
    `say(text)` hears what the pointer is on. */
export function cosinesOf({ one, other, found, strangers, say }) {
  const cells = [...LAYERS].reverse().map((layer) => DIRECTIONS.map((_, side) => {
    const value = found[layer][side];
    const said = cosineSaid(one, other, layer, side, value, strangers[layer][side]);
    return { said, node: el("td", { tabindex: "-1", "aria-label": said },
      el("span", { class: "number" }, decimal(value)),
      el("span", { class: "track" }, el("i", { class: "near", style: `width:${width(value)}` }),
        el("i", { class: "strangers", style: `width:${width(strangers[layer][side])}` }))) };
  }));
  const table = el("table", { class: "cosines" },
    el("thead", {}, el("tr", {}, el("th"), ...DIRECTIONS.map((side) => el("th", { scope: "col" }, SIDES[side])))),
    el("tbody", {}, ...cells.map((row, i) => el("tr", {}, el("th", { scope: "row" }, `layer ${2 - i}`),
      ...row.map(({ node }) => node)))));
  const flat = cells.flat();
  const at = (event) => flat.findIndex(({ node }) => node === event.target.closest("td"));
  const point = (event) => { if (at(event) >= 0) say(flat[at(event)].said); };
  flat[0].node.tabIndex = 0;
  table.addEventListener("pointerover", point);
  table.addEventListener("focusin", point);
  table.addEventListener("pointerleave", () => say(""));
  table.addEventListener("keydown", (event) => {
    const here = at(event);
    const to = here < 0 ? null : walk(event.key, { row: Math.floor(here / 3), column: here % 3 }, 3, 3, event.ctrlKey);
    if (!to) return;
    flat.forEach(({ node }) => { node.tabIndex = -1; });
    const { node } = cells[to.row][to.column];
    node.tabIndex = 0;
    node.focus();
    event.preventDefault();
    event.stopPropagation();
  });
  return table;
}
