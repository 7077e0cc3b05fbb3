// The full documents with the answers highlighted; each can be edited, deleted, excluded and restored.

import { NULL } from "./messages.js";
import { el, settled } from "../shared/dom.js";
import { keepLines } from "../shared/lines.js";
import { wordsOf } from "./wording.js";

/** The current documents: number → { title, text, kind }; `kind` is "", "edited", "added" or "removed". */
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

/** The documents to list: retrieved ones, then changed ones that are not retrieved, then the opened one. */
export function listedOf(state, { removed, replaced, excluded, added }, next, opened) {
  const sight = state.documents.map(({ number }) => number);
  const touched = [...added.map((_, i) => next + i), ...Object.keys(replaced).map(Number), ...excluded, ...removed];
  return [...new Set([...sight, ...touched, ...(opened === null ? [] : [opened])])];
}

/** The traits after a document is replaced, deleted, excluded or restored. */
export const written = ({ replaced }, number, title, text) => ({ replaced: { ...replaced, [number]: [title, text] } });
export const deleted = ({ removed }, number) => ({ removed: [...removed, number] });
export const leftOut = ({ excluded }, number) => ({ excluded: excluded.includes(number)
  ? excluded.filter((other) => other !== number) : [...excluded, number] });
export function asItWas({ replaced, removed }, number) {
  const { [number]: _, ...others } = replaced;
  return { replaced: others, removed: removed.filter((other) => other !== number) };
}

const TAGS = { "": "", edited: "edited", added: "added", removed: "deleted" };

const button = (text, at, press, more = {}) => el("button", { type: "button", class: "act", "data-at": at,
  on: { click: press }, ...more }, text);

/** Fields for a title and a text; `send(title, text)` is called when the typing pauses. */
function fields({ one, added }, title, text, send) {
  const name = keepLines(el("input", { type: "text", class: "title-field", "aria-label": `the ${one}’s ${added}`,
    dir: "auto" }));
  const body = el("textarea", { class: "text-field", rows: 3, "aria-label": `the ${one}’s text`, dir: "auto", spellcheck: "false" });
  [name.text, body.value] = [title, text];
  const typed = settled(() => send(name.text, body.value), 150);
  for (const field of [name, body]) field.addEventListener("input", typed);
  return { name, body };
}

/** The editor of a document; it persists while everything else is redrawn. */
export function editorOf({ words, number, letter, title, text, send, done }) {
  const { name, body } = fields(words, title, text, send);
  const node = el("li", { class: "card editing", "data-doc": number },
    el("div", { class: "card-head" }, el("b", { class: "badge" }, letter), name,
      button("Done", `done ${number}`, done)), body);
  return { node, number, focus: () => body.focus({ preventScroll: true }) };
}

/** The form for a new document; `take(title, text)` is called when it is submitted. */
export function formOf({ words, take, cancel }) {
  const { name, body } = fields(words, "", "", () => { add.disabled = !body.value.trim(); });
  const add = button("Add", "take", () => take(name.text, body.value), { disabled: true });
  [name.placeholder, body.placeholder] = [words.added, words.sample];
  return { node: el("div", { class: "card editing form" }, el("div", { class: "card-head" }, name, add,
    button("Cancel", "cancel", cancel)), body), focus: () => name.focus({ preventScroll: true }) };
}

/** A text with its answers highlighted. */
export const markedText = (pieces, answers, chosen) => pieces.map(([text, answer]) => (answer < 0 ? text
  : el("mark", { class: `fill-${answer}${answer === chosen ? " chosen" : ""}`, title: `the answer “${answers[answer].text}”` },
    el("span", {}, text))));

/** One document. */
function card({ number, state, shelf, excluded, a, opened, disabled, act }) {
  const letter = state.letters[number] ?? "·";
  const words = wordsOf(state);
  if (number === NULL) {
    return el("li", { class: "card null", "data-doc": number }, el("div", { class: "card-head" },
      el("b", { class: "badge" }, letter), el("span", { class: "tag" }, words.nothing)),
    el("p", {}, words.empty));
  }
  const { title, text, kind } = shelf.get(number);
  const shown = state.documents.find((document) => document.number === number);
  const out = excluded.includes(number);
  const gone = kind === "removed";
  const tags = [TAGS[kind], ...(out ? ["excluded"] : []), ...(shown || out || gone ? [] : ["not retrieved"])].filter(Boolean);
  const of = (name) => `${name} ${number}`;
  const press = (text_, name, more = {}) => button(text_, of(name), () => act[name](number), { disabled, ...more });
  return el("li", { class: ["card", ...(gone ? ["gone"] : []), ...(out ? ["out"] : []), ...(opened === number ? ["open"] : [])].join(" "),
    "data-doc": number },
  el("div", { class: "card-head" }, el("b", { class: "badge" }, letter), el("bdi", { class: "card-title" }, title || "untitled"),
    el("span", { class: "tag" }, tags.join(" · ")),
    el("span", { class: "acts" },
      ...(gone ? [press("Restore", "restore")] : [...(words.edited ? [press("Edit", "edit")] : []), press("Delete", "remove"),
        ...(words.exclude ? [press("Exclude", "leave", { "aria-pressed": String(out), title: words.exclude })] : []),
        ...(kind === "edited" ? [press("Revert", "restore")] : [])]))),
  el("p", { dir: "auto" }, ...(shown ? markedText(shown.pieces, state.answers, a) : [text])));
}

/** All document cards. `editor` is the open editor, or null. */
export function cardsOf({ numbers, editor, ...given }) {
  return el("ol", { class: "cards" }, ...numbers.map((number) =>
    (editor?.number === number ? editor.node : card({ number, ...given }))));
}
