// Line breaks in a single-line input, where the browser would drop them: the field shows ↵ instead.

const BREAK = "↵";

/** A text as a single-line field shows it: the same number of characters, with visible line breaks. */
export const inOneLine = (text) => text.replace(/[\n\r]/g, BREAK);

/** The text of a field after an edit, given the `text` before and the `value` displayed now. Unedited characters are
    kept exactly; in the typed part, ↵ is a line break. */
export function edited(text, value) {
  const was = inOneLine(text);
  const limit = Math.min(was.length, value.length);
  let start = 0;
  while (start < limit && was[start] === value[start]) start++;
  let end = 0;
  while (end < limit - start && was.at(-1 - end) === value.at(-1 - end)) end++;
  return text.slice(0, start) + value.slice(start, value.length - end).replaceAll(BREAK, "\n") +
    text.slice(text.length - end);
}

/** Add a property `text` to a single-line input, to be read and set instead of `value`, and preserve the line breaks of
    pasted text. */
export function keepLines(input) {
  let held = "";
  Object.defineProperty(input, "text", {
    get: () => (held = edited(held, input.value)),
    set: (text) => { [held, input.value] = [text, inOneLine(text)]; },
  });
  input.addEventListener("paste", (event) => {
    const pasted = event.clipboardData.getData("text/plain").replace(/\r\n?/g, "\n");
    if (!pasted.includes("\n")) return;
    event.preventDefault();
    input.setRangeText(inOneLine(pasted), input.selectionStart, input.selectionEnd, "end");
    input.dispatchEvent(new InputEvent("input", { bubbles: true }));
  });
  return input;
}
