// Cosines of a word's two vectors: three layers, each for the forward and the backward LSTM and for both together.

import { DIRECTIONS, LAYERS } from "./maths.js";
import { SIDES, cosineSaid } from "./messages.js";
import { clamp, el } from "../shared/dom.js";
import { walk } from "../shared/heat.js";
import { decimal } from "../shared/words.js";

const width = (value) => `${100 * clamp(value, 0, 1)}%`;

/** The table, with the top layer first. `strangers` are the mean cosines of different words; `say(text)` is called with
    the description of the cell under the pointer. */
export function cosinesOf({ one, other, found, strangers, say }) {
  const cells = [...LAYERS].reverse().map((layer) => DIRECTIONS.map((_, side) => {
    const value = found[layer][side];
    const text = cosineSaid(one, other, layer, side, value, strangers[layer][side]);
    return { text, node: el("td", { tabindex: "-1", "aria-label": text },
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
  const point = (event) => { if (at(event) >= 0) say(flat[at(event)].text); };
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
