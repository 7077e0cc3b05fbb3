// The Memory Recall Lab's pure functions, on states that Python made.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { firstOf } from "../../plmlab/labs/memory_recall/lab.js";
import {
  blockSaid, guessOf, marksOf, pairSaid, stepSaid, titleOf, verdictOf,
} from "../../plmlab/labs/memory_recall/messages.js";
import { edited, setTo } from "../../plmlab/labs/memory_recall/panel.js";
import { blockAfter, rowsOf, widthsOf } from "../../plmlab/labs/memory_recall/strip.js";
import { ramp, sequential, shaded } from "../../plmlab/labs/shared/heat.js";

const [film, hills, changed] = JSON.parse(readFileSync(new URL("memory_recall_fixtures.json", import.meta.url), "utf8"));
const source = readFileSync(new URL("../../plmlab/labs/memory_recall/state.py", import.meta.url), "utf8");
const signs = (state, step, n, needed = false) => marksOf(state, step, n, needed).map(([sign]) => sign).join("");

/** The keys of a TypedDict, with those that it inherits. */
function keysOf(name) {
  const [, parent, body] = source.match(new RegExp(`class ${name}\\((\\w+)\\):([\\s\\S]*?)(?=\\nclass |$)`));
  const own = [...body.matchAll(/^ {4}(\w+): /gm)].map(([, key]) => key);
  return [...(parent === "TypedDict" ? [] : keysOf(parent)), ...own].sort();
}

test("states have the keys of their types", () => {
  for (const state of [film, hills, changed]) {
    assert.deepEqual(Object.keys(state).sort(), keysOf("State"));
    for (const step of state.steps) assert.deepEqual(Object.keys(step).sort(), keysOf("Step"));
    for (const block of state.blocks) assert.deepEqual(Object.keys(block).sort(), keysOf("Block"));
    assert.deepEqual(Object.keys(state.answer).sort(), keysOf("Answer"));
    assert.deepEqual(Object.keys(state.cost).sort(), keysOf("Cost"));
  }
});

test("each step says what happened", () => {
  assert.deepEqual(film.steps.map(titleOf), ["Round 1: retrieval competition", "Round 1: rehearsal and decay",
    "Round 2: retrieval competition", "Round 2: rehearsal and decay", "Answer"]);
  assert.deepEqual([0, 1, 4].map((i) => stepSaid(film, i)), [
    "The judge scored 8 blocks in 3 windows, each with the query. Blocks 3 (0.63), 6 (0.50) and 1 (0.44) entered the " +
      "memory. The next, block 5 (0.43), did not fit.",
    "The judge scored 3 blocks of the memory together, in one window. The memory keeps blocks 3 (0.75) and 6 (0.50); " +
      "block 1 (0.44) decayed.",
    "The reasoner read the query and blocks 3, 5 and 6 (33 of at most 40 tokens) and predicted “Bern”, in block 6.",
  ]);
  const full = { ...film, steps: [{ ...film.steps[2], windows: 0, entered: [], memory: [2, 5], ended: null }] };
  assert.equal(stepSaid(full, 0), "No block competed, because none fits next to blocks 3 and 6 in the memory.");
});

test("each block has its score, its rank and its marks", () => {
  assert.equal(blockSaid(film, 0, 2), "Block 3: relevance score 0.63 in the retrieval competition of round 1, rank 1 of 8; " +
    "entered the memory");
  assert.equal(blockSaid(film, 1, 0), "Block 1: relevance score 0.44 in the rehearsal of round 1, rank 3 of 3; decayed");
  assert.equal(blockSaid(film, 1, 3), "Block 4: not scored, because it is not in the memory");
  assert.match(blockSaid(film, 2, 2), /because it was already in the memory; in the memory$/);
  assert.match(blockSaid(changed, 0, 5), /because it is excluded; excluded by you$/);
  const small = { ...film, steps: [{ ...film.steps[2], scores: film.steps[2].scores.map(() => null) }] };
  assert.match(blockSaid(small, 0, 1), /because it is longer than the room left in the memory$/);
  assert.deepEqual([0, 1, 2, 3].map((n) => signs(film, 1, n, true)), ["−★", "", "●★", ""]);
  assert.deepEqual([0, 2, 3, 5].map((n) => signs(changed, 4, n)), ["●■", "●✓", "●✎", "×"]);
  assert.equal(signs(film, 0, 2), "+");
});

test("the answers without and with changes, and whether they are correct", () => {
  assert.equal(pairSaid(film), "");
  assert.equal(pairSaid(changed), "Without your changes: “Bern” (block 6); with your changes: “Oslo” (block 3).");
  assert.deepEqual(verdictOf(film), { good: false, text: "✗ the correct answer is “Oslo”" });
  assert.deepEqual(verdictOf({ correct: "a , b", answer: { text: "a, b" } }), { good: true, text: "✓ correct" });
  assert.equal(verdictOf(hills), null);
});

test("the question to the reader", () => {
  const [question, answer] = guessOf(film);
  assert.equal(question, "Which blocks must be in the memory to answer this question?");
  assert.match(answer, /^Blocks 1 and 3\. “Nightfall is.*Block 1 is missing from the final memory\.$/);
  assert.match(guessOf(hills)[1], /^This is unknown/);
  assert.match(guessOf({ ...film, steps: [{ memory: [0, 2] }] })[1], /All of them are in the final memory\.$/);
  assert.equal(firstOf(film), 2);
  assert.equal(firstOf({ steps: [{ entered: [], memory: [4] }] }), 4);
});

test("holding, excluding and freeing a block, and rewriting one", () => {
  const lists = { held: [1], excluded: [2] };
  assert.deepEqual(setTo(lists, "hold", 2), { held: [1, 2], excluded: [] });
  assert.deepEqual(setTo(lists, "exclude", 1), { held: [], excluded: [2, 1] });
  assert.deepEqual(setTo(lists, "free", 1), { held: [], excluded: [2] });
  assert.deepEqual(edited({ 1: "a" }, 2, "b"), { 1: "a", 2: "b" });
  assert.deepEqual(edited({ 1: "a", 2: "b" }, 1, null), { 2: "b" });
});

test("rows hold every block once, in order, and no row is wider than the room", () => {
  const blocks = Array.from({ length: 210 }, (_, n) => ({ tokens: Array(1 + (n * 7) % 23) }));
  for (const room of [300, 640, 1080]) for (const uniform of [false, true]) {
    const rows = rowsOf(widthsOf(blocks, uniform), room);
    assert.deepEqual(rows.flat().map(({ n }) => n), blocks.map((_, n) => n));
    for (const row of rows) {
      assert.ok(row.at(-1).left + row.at(-1).width <= room);
      row.slice(1).forEach((cell, i) => assert.ok(cell.left > row[i].left + row[i].width));
    }
  }
  const widths = widthsOf(blocks, false);
  assert.ok(widths[3] > widths[1] && new Set(widthsOf(blocks, true)).size === 1);
});

test("keys lead to the next block and to the nearest one in the next row", () => {
  const rows = rowsOf([40, 40, 40, 90, 40, 40], 130);
  assert.deepEqual(rows.map((row) => row.map(({ n }) => n)), [[0, 1, 2], [3], [4, 5]]);
  const keys = (at) => ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].map((key) => blockAfter(key, rows, at));
  assert.deepEqual(keys(0), [0, 1, 0, 3, 0, 5]);
  assert.deepEqual(keys(3), [2, 4, 1, 5, 0, 5]);
  assert.deepEqual(keys(5), [4, 5, 3, 5, 0, 5]);
  assert.equal(blockAfter("a", rows, 2), null);
});

test("the scale is fixed, from dark to light, and numbers on it can be read", () => {
  const shade = (score) => shaded(score, ramp(sequential()));
  assert.deepEqual([0, 1].map(shade), [{ paper: "rgb(0, 34, 78)", ink: "#fff" }, { paper: "rgb(254, 232, 56)", ink: "#000" }]);
  const inks = Array.from({ length: 101 }, (_, i) => shade(i / 100).ink);
  assert.equal(inks.lastIndexOf("#fff") + 1, inks.indexOf("#000"));
});
