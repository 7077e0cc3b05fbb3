import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { decided, turned, firstCell, legendOf, settable } from "../../plmlab/labs/mask/lab.js";
import { fillOf, layersOf, sentence } from "../../plmlab/labs/shared/masks.js";

const fixtures = JSON.parse(readFileSync(new URL("fixtures.json", import.meta.url), "utf8"));

for (const { name, mask, names, count, edits, looks, reasons, verbs } of fixtures) {
  test(`${name}: each cell looks, and says why, as in Python`, () => {
    const rule_ids = decided(mask, edits, 0, count);
    assert.deepEqual(rule_ids.map((c) => Number(c > 0)), looks);
    const said = rule_ids.map((cause, i) =>
      sentence(mask, cause, names, { q: Math.floor(i / count), k: i % count }, verbs).map((p) => p.text).join(""));
    assert.deepEqual(said, reasons);
  });

  test(`${name}: the layers hold each cell once`, () => {
    const cells = layersOf(decided(mask, edits, 0, count), count).filter((l) => !l.dotted).flatMap((l) => l.cells);
    assert.equal(cells.length, count * count);
    assert.equal(new Set(cells.map(String)).size, count * count);
  });
}

const causal = fixtures.find((f) => f.name === "causal");
const blanks = fixtures.find((f) => f.name === "blanks");

test("a click turns a cell over, a second click lets the rules speak again", () => {
  const once = turned([], 0, 0, 3, causal.mask, causal.count);
  assert.deepEqual(once, [[0, 0, 3, true]]);
  assert.deepEqual(turned(once, 0, 0, 3, causal.mask, causal.count), []);
  assert.deepEqual(turned(once, 1, 0, 3, causal.mask, causal.count).length, 2, "another mask's cell is another cell");
  assert.deepEqual(turned([], 0, 3, 0, causal.mask, causal.count), [[0, 3, 0, false]]);
});

test("edits leave the mask that came from Python as it was", () => {
  const before = JSON.stringify(causal.mask);
  decided(causal.mask, [[0, 0, 1, true]], 0, causal.count);
  assert.equal(JSON.stringify(causal.mask), before);
});

test("rules have fills of their own, and the legend names what is to be seen", () => {
  assert.deepEqual([1, 2, 1000, -1, -1000, -2000].map(fillOf),
    ["rule-0", "rule-1", "by-hand", "blocked", "blocked", "blocked"]);
  const all = decided(blanks.mask, blanks.edits, 0, blanks.count);
  assert.deepEqual(legendOf(blanks.mask, all, ["word", "mask"]).map((l) => l.text),
    ["the text", "what was written", "blocked", "set by hand", "masked"]);
  const masked = fixtures.find((f) => f.name === "masked").mask;
  assert.deepEqual(legendOf(masked, masked.rule_ids, ["word"]).map((l) => l.text), ["bidirectional attention"]);
});

test("the crosshair begins at a target", () => {
  assert.deepEqual(firstCell([null, "b", null, "d", null]), { q: 1, k: 2 });
  assert.deepEqual(firstCell([null]), { q: 0, k: 0 });
  assert.deepEqual(firstCell([null, null, null, "d", "e"], 3), { q: 3, k: 1 }, "of a pair: across, to the source");
  assert.deepEqual(firstCell(["b", "c", "d", "c", "b", "a"], 3), { q: 4, k: 1 }, "where both parts have targets too");
});

test("no click opens a block where no path is, nor any cell where there is no mask", () => {
  const open = (state) => [0, 1, 2].map((q) => [0, 1, 2].map((k) => Number(settable({ q, k }, state))));
  assert.deepEqual(open({ by_hand: true, split: 2, never: [[0, 1]] }), [[1, 1, 0], [1, 1, 0], [1, 1, 1]]);
  assert.deepEqual(open({ by_hand: true, split: 1, never: [[0, 1], [1, 0]] }), [[1, 0, 0], [0, 1, 1], [0, 1, 1]]);
  assert.deepEqual(open({ by_hand: true, split: 0, never: [] }).flat(), Array(9).fill(1), "one text has no seam");
  assert.deepEqual(open({ by_hand: false, split: 0, never: [] }).flat(), Array(9).fill(0), "influence is no mask");
});

test("a word that looks like a place in the sentence stays a word", () => {
  const mask = { sentences: { 1: "{key} before {query}" } };
  const said = sentence(mask, 1, ["{key}", "$&"], { q: 0, k: 1 }, ["can attend to", "cannot attend to"]);
  assert.equal(said.map((p) => p.text).join(""), "{key} can attend to $&: $& before {key}");
  assert.deepEqual(said.filter((p) => p.role === "query").map((p) => p.text), ["{key}", "{key}"]);
});
