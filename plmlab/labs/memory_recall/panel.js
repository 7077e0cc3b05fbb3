// The selected block, which can be held, excluded and rewritten; the memory as text; and the cost of attention.

import { costRows, prose } from "./messages.js";
import { el } from "../shared/dom.js";
import { pieces } from "../shared/probabilities.js";
import { number, plural } from "../shared/words.js";

/** The lists after a block is held, excluded or freed. */
export function setTo({ held, excluded }, what, n) {
  const without = (list) => list.filter((other) => other !== n);
  return { held: what === "hold" ? [...without(held), n] : without(held),
    excluded: what === "exclude" ? [...without(excluded), n] : without(excluded) };
}

/** The edits after block `n` has this text; null restores the original. */
export function edited(edits, n, text) {
  const { [n]: _, ...others } = edits;
  return text === null ? others : { ...others, [n]: text };
}

/** The panel of the selected block. It keeps what was typed into each block until it is applied or restored.
    `set(what, n)` is called to hold, exclude or free a block, `write(n, text)` to rewrite it, or restore it with null. */
export function blockPanel({ disabled, set, write }) {
  const drafts = new Map();
  let at = 0;
  const buttons = Object.fromEntries([["free", "Free (f)"], ["hold", "Hold (h)"], ["exclude", "Exclude (x)"]].map(
    ([what, text]) => [what, el("button", { type: "button", class: "act", disabled, on: { click: () => set(what, at) } }, text)]));
  const head = el("h4", {});
  const area = el("textarea", { rows: 4, dir: "auto", spellcheck: "false", disabled, "aria-label": "the text of the block" });
  const apply = el("button", { type: "button", class: "act", disabled,
    on: { click: () => write(at, area.value) } }, "Apply (Ctrl+Enter)");
  const restore = el("button", { type: "button", class: "act", disabled, on: { click: () => {
    drafts.delete(at);
    write(at, null);
  } } }, "Restore");
  const problem = el("p", { class: "problem" });
  area.addEventListener("input", () => drafts.set(at, area.value));
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.stopPropagation();
    write(at, area.value);
  });
  const node = el("section", { class: "block-panel", "aria-label": "the selected block" }, head,
    el("div", { class: "bar acts" }, ...Object.values(buttons)), area,
    el("div", { class: "bar acts" }, apply, restore), problem,
    el("p", { class: "note" }, "Put spaces around words and punctuation marks."));
  return { node, forget: () => drafts.clear(), show(state, n, message) {
    at = n;
    const { text, tokens } = state.blocks[n];
    if (drafts.get(n) === text) drafts.delete(n);
    head.textContent = `Block ${number(n + 1)} of ${number(state.blocks.length)}, ${plural(tokens.length, "token")}`;
    const value = drafts.get(n) ?? text;
    if (area.value !== value) area.value = value;
    const now = state.held.includes(n) ? "hold" : state.excluded.includes(n) ? "exclude" : "free";
    for (const [what, button] of Object.entries(buttons)) button.setAttribute("aria-pressed", String(what === now));
    problem.textContent = drafts.has(n) ? message : "";
  } };
}

/** Tokens as running text, with those from `start` to `end` highlighted. */
const marked = (tokens, answer) => pieces(tokens, answer ? [answer] : []).flatMap(({ text, mention, space }) =>
  [space ? " " : "", mention ? el("mark", {}, text) : text]);

/** The memory after a step: the query and the blocks in the order of the text, with the answer highlighted. */
export function memoryOf(state, step) {
  const { kind, memory, size } = state.steps[step];
  const answerOf = (n) => (kind === "answer" && state.answer.position === n ? state.answer : null);
  return el("section", { class: "memory-text", "aria-label": "the memory" },
    el("h4", {}, `The memory after this step: ${size} of at most ${state.capacity} tokens`),
    el("ul", {}, el("li", {}, el("b", {}, "query"), el("bdi", {}, prose(state.question))),
      ...memory.map((n) => el("li", {}, el("b", {}, number(n + 1)),
        el("bdi", {}, ...marked(state.blocks[n].tokens, answerOf(n)))))));
}

/** The number of attention scores, as a table with bars. */
export function costOf(state) {
  const rows = costRows(state);
  const most = Math.max(...rows.map(([, pairs]) => pairs));
  return el("table", { class: "cost" },
    el("caption", {}, "Attention scores (query–key pairs) per head and layer"),
    el("tbody", {}, ...rows.map(([label, pairs]) => el("tr", {}, el("th", { scope: "row" }, label),
      el("td", { class: "track" }, el("i", { style: `width:${100 * pairs / most}%` })),
      el("td", { class: "amount" }, number(pairs))))),
    el("tfoot", {}, el("tr", {}, el("td", { colspan: 3 }, "Full attention grows with the square of the length of the " +
      "text. The number of windows grows in proportion to the length, and no window has more than " +
      `${state.capacity} tokens.`))));
}
