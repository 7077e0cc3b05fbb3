// A word's characters, what the strongest filters read of them, and the words near which it lands.

import { filterSaid } from "./told.js";
import { clamp, el } from "../shared/dom.js";
import { decimal } from "../shared/words.js";

const [BEGIN, END, FILLER] = ["‹", "›", "·"];
const [LEAST, MOST, ROOM] = [11, 21, 400];

/** The signs under which codes stand, from the begin of the word to the last code that a filter reads: where each
    begins (`first`), how many codes it is (`count`), and whether it stands `around` the word. */
export function columnsOf({ characters, filters }) {
  const found = [{ sign: BEGIN, first: 0, count: 1, around: true }];
  const next = () => found.at(-1).first + found.at(-1).count;
  for (const [sign, count] of characters) found.push({ sign, first: next(), count, around: false });
  found.push({ sign: END, first: next(), count: 1, around: true });
  const last = Math.max(0, ...filters.map(({ start, width }) => start + width));
  while (next() < last) found.push({ sign: FILLER, first: next(), count: 1, around: true });
  return found;
}

/** What a filter reads, as signs. */
export const readOf = (columns, { start, width }) => columns.filter(({ first, count }) =>
  first < start + width && first + count > start).map(({ sign }) => sign).join("");

const note = (text) => el("span", { class: "note" }, text);

/** The section's drawing. `say(text)` hears what the pointer is on. */
export function spellingOf(told, say) {
  const columns = columnsOf(told);
  const codes = columns.at(-1).first + columns.at(-1).count;
  const pitch = clamp(Math.floor(ROOM / codes), LEAST, MOST);
  const signs = columns.map(({ sign, first, count, around }) => el("span", {
    class: around ? "sign around" : "sign", style: `grid-column:${first + 1} / span ${count}`,
  }, el("bdi", {}, sign), ...(count > 1 ? [el("small", {}, `${count} codes`)] : [])));
  const rows = told.filters.map((filter, i) => {
    const said = filterSaid(filter, readOf(columns, filter), told.all);
    const bar = el("span", { class: "reads-at", style: `grid-column:${filter.start + 1} / span ${filter.width}` });
    const like = filter.like.flatMap(({ parts: [before, read, after] }, n) => [n ? " " : "",
      el("bdi", {}, before, el("mark", {}, read), after)]);
    return { said, node: el("div", { class: "filter", tabindex: i ? -1 : 0, "aria-label": said, role: "listitem" },
      el("span", { class: "codes" }, bar), note(String(filter.width)),
      note(`${filter.found.toFixed(1)} (${filter.mean.toFixed(1)})`), el("span", { class: "like" }, ...like)) };
  });
  const list = el("div", { class: "filters", role: "list", "aria-label": "the strongest filters" },
    ...rows.map(({ node }) => node));
  const at = (event) => rows.findIndex(({ node }) => node === event.target.closest(".filter"));
  const point = (event) => { if (at(event) >= 0) say(rows[at(event)].said); };
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
  const near = el("ol", { class: "lands" }, ...told.near.map(([word, cosine]) => el("li", {}, el("bdi", {}, word),
    el("span", { class: "track" }, el("i", { class: "near", style: `width:${100 * clamp(cosine, 0, 1)}%` }),
      el("i", { class: "strangers", style: `width:${100 * clamp(told.chance, 0, 1)}%` })),
    el("span", { class: "number" }, decimal(cosine)))));
  return el("div", { class: "spelling", style: `--codes:${codes};--pitch:${pitch}px` },
    el("div", { class: "scroll" },
      el("div", { class: "filter heads" }, el("span", { class: "codes" }, ...signs), note("codes"),
        note("found (mean)"), note("where the filter finds most in the vocabulary")),
      list),
    el("div", {}, el("h5", {}, "Nearest words, by layer 0"), near,
      el("p", { class: "note" }, `Hatched: two words of the vocabulary, ${decimal(told.chance)} in the mean.`)));
}
