// Input fields for words: a single word with a vector, or several words to highlight.

import { spelledLike } from "./maths.js";
import { unknownSaid } from "./messages.js";
import { el, settled } from "../shared/dom.js";

let lists = 0;

/** The vocabulary as a <datalist> for autocompletion; fields refer to its id. */
export function wordList(words) {
  return el("datalist", { id: `plm-vectors-${lists++}` }, ...words.map((word) => el("option", { value: word })));
}

/** The row of a word as typed, or in lower case; undefined if it has no vector. */
export const rowOf = ({ row }, text) => row.get(text) ?? row.get(text.toLowerCase());

export const missingWord = ({ words }, text) => ({ text, like: spelledLike(text, words) });

/** A field for one word. `choose(row)` is called for a word with a vector, `complain(text)` on entering a word without
    one; `empty`, if given, is called when the field is cleared. */
export function wordBox({ label, list, space, choose, complain, empty = null, kind = "word", placeholder = null }) {
  const input = el("input", { type: "text", class: kind, list, dir: "auto", spellcheck: "false", autocomplete: "off",
    "aria-label": label, placeholder });
  let taken = null;
  const take = (entered) => {
    const text = input.value.trim();
    if (!entered && text === taken) return;
    taken = text;
    const row = entered ? rowOf(space(), text) : space().row.get(text);
    if (!text) {
      if (entered && empty) empty();
      return;
    }
    if (row !== undefined) {
      complain("");
      choose(row);
    } else if (entered) complain(unknownSaid([missingWord(space(), text)]));
  };
  const typed = settled(() => take(false), 200);
  input.addEventListener("input", typed);
  input.addEventListener("change", () => take(true));
  input.addEventListener("focus", () => input.select());
  return { node: input, show(word) {
    if (input === input.ownerDocument.activeElement && input.value) return;
    input.value = taken = word;
  } };
}

/** The rows of the words in a text, and the words without a vector; words are separated by commas or spaces. */
export function spotlit(space, text) {
  const [found, missing] = [new Set(), new Map()];
  for (const part of text.split(/[,，、;\n]+/).map((item) => item.trim()).filter(Boolean)) {
    const whole = rowOf(space, part);
    if (whole !== undefined) found.add(whole);
    else {
      for (const word of part.split(/\s+/)) {
        const row = rowOf(space, word);
        if (row !== undefined) found.add(row);
        else if (!missing.has(word)) missing.set(word, null);
      }
    }
  }
  const shown = [...missing.keys()].map((word, i) => (i < 4 ? missingWord(space, word) : { text: word, like: [] }));
  return { found, missing: shown };
}
