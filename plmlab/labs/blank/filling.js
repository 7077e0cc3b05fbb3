// The blanks filled word by word: the next-token distributions of the model and of the exact posterior, and the reader's choice.

import { lengthRows, lengthsSaid, nllSaid, restOf, stepSaid, textAt } from "./messages.js";
import { amount, bar } from "../shared/beliefs.js";
import { clamp, el, walked } from "../shared/dom.js";
import { guess } from "../shared/lab.js";
import { placeAfter } from "../shared/order.js";

const END = "[END]";
const BY = { you: "your choice", "the model": "the model's choice", "the exact posterior": "the most likely choice" };
const LENGTH = "How many words fill this blank? How certain can the model be of this before it generates the first one?";

/** The path through the blanks after choosing a word at a step; earlier choices are kept. */
export const saidAt = (steps, step, word) => [...steps.slice(0, step).map(({ said }) => said), word];

/** The last step that can be shown: after the last [END] all blanks are filled. */
export const lastStep = (steps) => steps.length - (steps.at(-1)?.said === null ? 1 : 0);

/** The cells of both distributions, bar and number; a missing one has none. */
function cells(p, best, columns) {
  return [
    el("td", { class: "track" }, ...(columns.model ? [bar(p, "model")] : []), ...(columns.exact ? [bar(best, "best")] : [])),
    ...(columns.model ? [el("td", { class: "amount model" }, amount(p))] : []),
    ...(columns.exact ? [el("td", { class: "amount best" }, amount(best))] : []),
  ];
}

function table(caption, first, columns, rows) {
  const heads = [...(columns.model ? [["model", "model"]] : []), ...(columns.exact ? [["best", "exact"]] : [])];
  return el("table", { class: "beliefs" }, el("caption", {}, caption),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, first), el("td", {}),
      ...heads.map(([role, text]) => el("th", { scope: "col", class: `amount ${role}` }, text)))),
    el("tbody", {}, ...rows));
}

/** The next-token distribution: one row per word, [END] first; a word is a button that chooses it. The last row sums up the rest. */
function beliefs(step, { disabled, say }) {
  const { rows, model, exact, said } = step;
  const columns = { model, exact };
  const rest = restOf(step);
  const made = rows.map(({ word, p, best, own }) => el("tr", { class: `${own ? "own" : ""}${word === END ? " the-end" : ""}` },
    el("th", { scope: "row", title: word }, el("button", { type: "button", class: `said${word === said ? " next" : ""}`,
      disabled, "data-at": `say-${word}`, "aria-label": `${word}${word === said ? ", next on this path" : ""}: choose it`,
      on: { click: () => say(word) } }, el("bdi", {}, word)),
    own ? el("span", { class: "mark" }, " ◂ true") : ""), ...cells(p, best, columns)));
  const node = el("div", { class: "reader" }, table("Next token", "word", columns, [...made,
    ...(rest.p || rest.best ? [el("tr", { class: "rest" }, el("th", { scope: "row" }, "all others"),
      ...cells(rest.p, rest.best, columns))] : [])]));
  walked(node, (key, place, count) => ({ ArrowUp: clamp(place - 1, 0, count - 1), ArrowDown: clamp(place + 1, 0, count - 1) }[key] ?? null));
  return node;
}

/** The distributions of the length of a blank, as a table. */
function lengthTable(lengths) {
  const columns = { model: lengths.model.length > 0, exact: lengths.exact.length > 0 };
  return el("span", { class: "reader lengths" }, table("", "words", columns, lengthRows(lengths).map(({ words, p, best, own }) =>
    el("tr", { class: own ? "own" : "" }, el("th", { scope: "row" }, String(words), own ? el("span", { class: "mark" }, " ◂ true") : ""),
      ...cells(p, best, columns)))));
}

/** The text with the words filled in so far. */
const prose = (state, step) => el("p", { class: "prose", dir: "auto" }, ...textAt(state, step).flatMap(({ word, blank, now }) => [
  blank < 0 ? el("bdi", {}, word)
    : el("span", { class: `gap${now ? " now" : ""}${word === null ? " open" : ""}` },
      el("bdi", {}, word === null ? "[MASK]" : word || (now ? "" : "(nothing)")), now ? el("span", { class: "caret" }, " ▏") : ""), " "]));

/**
 * The panel. `view.open` keeps which question is open. Calls `go(step)` and `say(word)` on the reader's actions, `again()`
 * to restart.
 */
export function fillingPanel({ state, step, view, disabled, draws, world, go, say, again }) {
  const { steps, lengths } = state;
  const last = lastStep(steps);
  const here = steps[step];
  const button = (text, at, onClick, off) => el("button", { type: "button", class: "preset", "data-at": at, disabled: off,
    on: { click: onClick } }, text);
  const way = el("span", { class: "way", role: "group", "aria-label": "the generated tokens, step by step" },
    ...steps.map(({ said, by }, i) => el("button", { type: "button",
      class: `chip${said === END ? " special" : ""}${by === "you" ? " yours" : ""}${i >= step ? " later" : ""}`, "data-at": `step-${i}`,
      "aria-current": i === step ? "step" : null, title: BY[by] ?? "",
      "aria-label": `step ${i + 1}: ${said ?? "open"}${by ? `, ${BY[by]}` : ""}`, on: { click: () => go(i) } },
    el("bdi", {}, said ?? "?"))));
  way.addEventListener("keydown", (event) => {
    const to = placeAfter(event.key, step, last + 1);
    if (to === null) return;
    go(to, true);
    event.preventDefault();
    event.stopPropagation();
  });
  const other = el("input", { type: "text", class: "other", dir: "auto", spellcheck: "false", autocomplete: "off", disabled,
    "aria-label": "another word", placeholder: "another word, then Enter", "data-at": "other" });
  other.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && other.value.trim()) say(other.value.trim());
  });
  const turn = here ? lengths.findIndex(({ blank }) => blank === here.blank) : -1;
  const legend = el("p", { class: "legend-line" },
    ...(state.nll.model === null ? [] : [el("span", {}, el("i", { class: "model" }), "the model")]),
    ...(world ? [el("span", {}, el("i", { class: "best" }), "exact posterior: from the grammar, given the visible words")] : []));
  const node = el("section", { class: "filling", "aria-label": "fill the blanks" },
    el("h4", {}, "Fill the blanks, word by word"), legend,
    el("div", { class: "bar quiet" }, button("‹ back", "back", () => go(step - 1), step <= 0),
      button("one step ›", "next", () => go(step + 1), step >= last),
      button("restart", "again", again, disabled || !steps.some(({ by }) => by === "you")), way),
    prose(state, step),
    el("p", { class: "step-said", role: "status", "aria-live": "polite" }, stepSaid(state, step)),
    el("div", { class: "two" },
      el("div", {}, ...(here ? [beliefs(here, { disabled, say }), el("div", { class: "bar quiet" }, el("label", { class: "say" }, "choose ", other))] : []),
        ...(here?.why ? [el("p", { class: "why-not" }, `The exact distribution is not shown. ${here.why}`)] : []),
        ...(here && here.said === null && !here.why ? [el("p", { class: "why-not" }, "This blank has reached the maximum number of words. Choose [END].")] : [])),
      el("div", {}, ...(turn < 0 ? [] : [guess(view, LENGTH, [lengthTable(lengths[turn]), lengthsSaid(lengths[turn], draws, world)],
        JSON.stringify([state.tokens, state.spans, here.blank]))]),
      el("p", { class: "nll" }, nllSaid(state)),
      el("p", { class: "nll note" }, ...(state.nll.model !== null && state.nll.exact !== null
        ? ["A trained model also knows the distribution of span lengths; this exact posterior ignores it."] : [])))));
  return node;
}
