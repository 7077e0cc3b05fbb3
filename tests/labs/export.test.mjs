import assert from "node:assert/strict";
import { test } from "node:test";
import { drawable, magnified, writable } from "../../plmlab/labs/shared/export.js";

test("what XML cannot hold goes, all else stays", () => {
  assert.equal(writable("a\u0000b\u0008c\u001fd\ufffee\ud800f\udc00"), "abcdef");
  const kept = "tab\t line\n <b>&amp; \u00e9 \u6211 \u05e9\u05dc \u{1F98A} \ufffd";
  assert.equal(writable(kept), kept);
});

test("a picture is twice as fine, and never longer than a canvas may be", () => {
  assert.equal(magnified(960, 600), 2);
  assert.equal(magnified(960, 20_000) * 20_000, 16_000);
});

test("the system's font, which a drawing does not know, is named otherwise", () => {
  assert.equal(drawable("system-ui, sans-serif"), '"Segoe UI", sans-serif');
  assert.equal(drawable("serif"), "serif");
});
