import assert from "node:assert/strict";
import { test } from "node:test";
import { edited, inOneLine } from "../../plmlab/labs/shared/lines.js";

test("a field shows each line break, and as many characters as the text has", () => {
  assert.equal(inOneLine("Anna:\nThe\r\n🦊\tboat"), "Anna:↵The↵↵🦊\tboat");
  assert.equal(inOneLine("one line"), "one line");
});

test("what was not edited is kept, a ↵ of the text's own beside line breaks", () => {
  const text = "a ↵ b\nc\rd\n\ne";
  const shown = inOneLine(text);
  assert.equal(edited(text, shown), text);
  for (let i = 0; i <= shown.length; i++) {
    assert.equal(edited(text, `${shown.slice(0, i)}x${shown.slice(i)}`), `${text.slice(0, i)}x${text.slice(i)}`);
  }
  assert.equal(edited(text, `${shown}↵`), `${text}\n`);
  assert.equal(edited(text, ""), "");
  assert.equal(edited("", "x↵y"), "x\ny");
  assert.equal(edited("a\n\nb", "a↵b"), "a\nb");
});
