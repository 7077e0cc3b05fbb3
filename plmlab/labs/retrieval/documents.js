// The documents in full, the answers marked where they stand; each can be edited, deleted, left out and brought back.

import { NULL } from "./told.js";
import { el, settled } from "../shared/dom.js";
import { keepLines } from "../shared/lines.js";

/** Documents as they are now: number → { title, text, kind }; `kind` is "", "edited", "added" or "removed". */
export function shelfOf(documents, next, { added, replaced, removed }) {
  const shelf = new Map(documents.map(({ number, title, text }) => [number, { title, text, kind: "" }]));
  added.forEach(([title, text], i) => shelf.set(next + i, { title, text, kind: "added" }));
  for (const [number, [title, text]] of Object.entries(replaced)) {
    const kind = Number(number) >= next ? "added" : "edited";
    shelf.set(Number(number), { title, text, kind });
  }
  for (const number of removed) shelf.set(number, { ...shelf.get(number), kind: "removed" });
  return shelf;
}

/** The documents that are listed: in sight, then what was touched and is not in sight, then what was opened. */
export function listedOf(state, { removed, replaced, excluded, added }, next, opened) {
  const sight = state.documents.map(({ number }) => number);
  const touched = [...added.map((_, i) => next + i), ...Object.keys(replaced).map(Number), ...excluded, ...removed];
  return [...new Set([...sight, ...touched, ...(opened === null ? [] : [opened])])];
}

/** A document replaced, deleted, left out or brought back: the traits that say so. */
export const written = ({ replaced }, number, title, text) => ({ replaced: { ...replaced, [number]: [title, text] } });
export const deleted = ({ removed }, number) => ({ removed: [...removed, number] });
export const leftOut = ({ excluded }, number) => ({ excluded: excluded.includes(number)
  ? excluded.filter((one) => one !== number) : [...excluded, number] });
export function asItWas({ replaced, removed }, number) {
  const { [number]: _, ...others } = replaced;
  return { replaced: others, removed: removed.filter((one) => one !== number) };
}

const TAGS = { "": "", edited: "edited", added: "added", removed: "deleted" };

const button = (text, at, press, more = {}) => el("button", { type: "button", class: "act", "data-at": at,
  on: { click: press }, ...more }, text);

/** Fields for a title and a text; `send(title, text)` hears what is typed. */
function fields(title, text, send) {
  const name = keepLines(el("input", { type: "text", class: "title-field", "aria-label": "the document’s title",
    dir: "auto" }));
  const body = el("textarea", { class: "text-field", rows: 3, "aria-label": "the document’s text", dir: "auto", spellcheck: "false" });
  [name.text, body.value] = [title, text];
  const heard = settled(() => send(name.text, body.value), 150);
  for (const field of [name, body]) field.addEventListener("input", heard);
  return { name, body };
}

/** A document that is being edited; it stays while all else is drawn anew. */
export function editorOf({ number, letter, title, text, send, done }) {
  const { name, body } = fields(title, text, send);
  const node = el("li", { class: "card editing", "data-doc": number },
    el("div", { class: "card-head" }, el("b", { class: "badge" }, letter), name,
      button("Done", `done ${number}`, done)), body);
  return { node, number, focus: () => body.focus({ preventScroll: true }) };
}

/** A form for a new document; `take(title, text)` hears of it. */
export function formOf({ take, cancel }) {
  const { name, body } = fields("", "", () => { add.disabled = !body.value.trim(); });
  const add = button("Add it", "take", () => take(name.text, body.value), { disabled: true });
  name.placeholder = "title";
  body.placeholder = "text, words and marks with spaces between them: Flora Farrow was born in Norvik .";
  return { node: el("div", { class: "card editing form" }, el("div", { class: "card-head" }, name, add,
    button("Cancel", "cancel", cancel)), body), focus: () => name.focus({ preventScroll: true }) };
}

/** A text with its answers marked. */
export const markedText = (pieces, answers, chosen) => pieces.map(([text, answer]) => (answer < 0 ? text
  : el("mark", { class: `fill-${answer}${answer === chosen ? " chosen" : ""}`, title: `the answer “${answers[answer].text}”` },
    el("span", {}, text))));

/** One document. */
function card({ number, state, shelf, excluded, a, opened, disabled, act }) {
  const letter = state.letters[number] ?? "·";
  if (number === NULL) {
    return el("li", { class: "card null", "data-doc": number }, el("div", { class: "card-head" },
      el("b", { class: "badge" }, letter), el("span", { class: "tag" }, "the null document")),
    el("p", {}, "Nothing stands in it: what is said with it comes from the weights alone."));
  }
  const { title, text, kind } = shelf.get(number);
  const shown = state.documents.find((one) => one.number === number);
  const out = excluded.includes(number);
  const gone = kind === "removed";
  const tags = [TAGS[kind], ...(out ? ["left out"] : []), ...(shown || out || gone ? [] : ["not in sight"])].filter(Boolean);
  const of = (name) => `${name} ${number}`;
  const press = (text_, name, more = {}) => button(text_, of(name), () => act[name](number), { disabled, ...more });
  return el("li", { class: ["card", ...(gone ? ["gone"] : []), ...(out ? ["out"] : []), ...(opened === number ? ["open"] : [])].join(" "),
    "data-doc": number },
  el("div", { class: "card-head" }, el("b", { class: "badge" }, letter), el("bdi", { class: "card-title" }, title || "untitled"),
    el("span", { class: "tag" }, tags.join(" · ")),
    el("span", { class: "acts" },
      ...(gone ? [press("Bring it back", "restore")] : [press("Edit", "edit"), press("Delete", "remove"),
        press("Leave out", "leave", { "aria-pressed": String(out), title: "as if the statement came from this document" }),
        ...(kind === "edited" ? [press("As it was", "restore")] : [])]))),
  el("p", { dir: "auto" }, ...(shown ? markedText(shown.pieces, state.answers, a) : [text])));
}

/** All of them. `editor` is the one in hand, or null. */
export function cardsOf({ numbers, editor, ...given }) {
  return el("ol", { class: "cards" }, ...numbers.map((number) =>
    (editor?.number === number ? editor.node : card({ number, ...given }))));
}
