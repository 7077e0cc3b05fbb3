// Line breaks in a field of one line, from which the browser drops them: the field shows ↵ and stands for the text.

const BREAK = "↵";

/** A text as a field of one line shows it: as many characters, each line break visible. */
export const inOneLine = (text) => text.replace(/[\n\r]/g, BREAK);

/** The text that a field stands for after an edit, when it stood for `text` before and shows `value` now. What was
    not edited is kept character by character; in what was typed, ↵ is a line break. */
export function edited(text, value) {
  const was = inOneLine(text);
  const most = Math.min(was.length, value.length);
  let start = 0;
  while (start < most && was[start] === value[start]) start++;
  let end = 0;
  while (end < most - start && was.at(-1 - end) === value.at(-1 - end)) end++;
  return text.slice(0, start) + value.slice(start, value.length - end).replaceAll(BREAK, "\n") +
    text.slice(text.length - end);
}

/** Give a field of one line the property `text`, to be read and set instead of `value`, and let it keep the line breaks
    of what is pasted. */
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
