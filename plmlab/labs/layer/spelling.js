// A word's characters, the strongest filters on them, and the nearest words by layer 0.

import { filterSaid } from "./messages.js";
import { clamp, el } from "../shared/dom.js";
import { decimal } from "../shared/words.js";

const [BEGIN, END, FILLER] = ["‹", "›", "·"];
const [LEAST, MOST, ROOM] = [11, 21, 400];

/** The symbols above the codes, from the begin marker to the last code under a filter: the first code of each (`first`),
    its number of codes (`count`), and whether it is `around` the word (a marker or padding). */
export function columnsOf({ characters, filters }) {
  const columns = [{ sign: BEGIN, first: 0, count: 1, around: true }];
  const next = () => columns.at(-1).first + columns.at(-1).count;
  for (const [sign, count] of characters) columns.push({ sign, first: next(), count, around: false });
  columns.push({ sign: END, first: next(), count: 1, around: true });
  const last = Math.max(0, ...filters.map(({ start, width }) => start + width));
  while (next() < last) columns.push({ sign: FILLER, first: next(), count: 1, around: true });
  return columns;
}

/** The symbols under a filter. */
export const readOf = (columns, { start, width }) => columns.filter(({ first, count }) =>
  first < start + width && first + count > start).map(({ sign }) => sign).join("");

const note = (text) => el("span", { class: "note" }, text);

/** The figure of this section. `say(text)` is called with the description of the filter under the pointer. */
export function spellingOf(analysis, say) {
  const columns = columnsOf(analysis);
  const codes = columns.at(-1).first + columns.at(-1).count;
  const pitch = clamp(Math.floor(ROOM / codes), LEAST, MOST);
  const signs = columns.map(({ sign, first, count, around }) => el("span", {
    class: around ? "sign around" : "sign", style: `grid-column:${first + 1} / span ${count}`,
  }, el("bdi", {}, sign), ...(count > 1 ? [el("small", {}, `${count} bytes`)] : [])));
  const rows = analysis.filters.map((filter, i) => {
    const text = filterSaid(filter, readOf(columns, filter), analysis.all);
    const bar = el("span", { class: "reads-at", style: `grid-column:${filter.start + 1} / span ${filter.width}` });
    const like = filter.like.flatMap(({ parts: [before, read, after] }, n) => [n ? " " : "",
      el("bdi", {}, before, el("mark", {}, read), after)]);
    return { text, node: el("div", { class: "filter", tabindex: i ? -1 : 0, "aria-label": text, role: "listitem" },
      el("span", { class: "codes" }, bar), note(String(filter.width)),
      note(`${filter.found.toFixed(1)} (${filter.mean.toFixed(1)})`), el("span", { class: "like" }, ...like)) };
  });
  const list = el("div", { class: "filters", role: "list", "aria-label": "the strongest filters" },
    ...rows.map(({ node }) => node));
  const at = (event) => rows.findIndex(({ node }) => node === event.target.closest(".filter"));
  const point = (event) => { if (at(event) >= 0) say(rows[at(event)].text); };
  list.addEventListener("pointerover", point);
  list.addEventListener("focusin", point);
  list.addEventListener("pointerleave", () => say(""));
  list.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1, Home: -rows.length, End: rows.length }[event.key];
    if (!by || !rows.length) return;
    const next = clamp(at(event) + by, 0, rows.length - 1);
    rows.forEach(({ node }, i) => { node.tabIndex = i === next ? 0 : -1; });
    rows[next].node.focus();
    event.preventDefault();
    event.stopPropagation();
  });
  const near = el("ol", { class: "lands" }, ...analysis.near.map(([word, cosine]) => el("li", {}, el("bdi", {}, word),
    el("span", { class: "track" }, el("i", { class: "near", style: `width:${100 * clamp(cosine, 0, 1)}%` }),
      el("i", { class: "strangers", style: `width:${100 * clamp(analysis.chance, 0, 1)}%` })),
    el("span", { class: "number" }, decimal(cosine)))));
  return el("div", { class: "spelling", style: `--codes:${codes};--pitch:${pitch}px` },
    el("div", { class: "scroll" },
      el("div", { class: "filter heads" }, el("span", { class: "codes" }, ...signs), note("width"),
        note("max (mean)"), note("highest activations in the vocabulary")),
      list),
    el("div", {}, el("h5", {}, "Nearest words in layer 0"), near,
      el("p", { class: "note" }, `Hatched: mean cosine of two words of the vocabulary, ${decimal(analysis.chance)}.`)));
}
