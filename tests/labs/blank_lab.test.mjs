// The Blank Lab's pure functions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { buttonName } from "../../plmlab/labs/blank/chips.js";
import { partASaid, rowSaid, typedCells } from "../../plmlab/labs/blank/exercise.js";
import { lastStep, saidAt } from "../../plmlab/labs/blank/filling.js";
import { acted, marked, range, spanAt, unmarked } from "../../plmlab/labs/blank/spans.js";
import { firstCell, legendOf } from "../../plmlab/labs/blank/square.js";
import {
  lengthRows, lengthsSaid, nllSaid, partsOf, restOf, positionSaid, stepSaid, textAt, turnOf,
} from "../../plmlab/labs/blank/messages.js";

const plain = (text) => text.replaceAll("\u00a0", " ");
/** x1 … x6, of which x3 and x5 x6 are hidden; x5 x6 is filled first. */
const state = {
  tokens: ["x1", "x2", "x3", "x4", "x5", "x6"], spans: [[2, 3], [4, 6]], order: [1, 0], read: 5, sizes: [3, 2],
  inputs: ["x1", "x2", "[MASK]", "x4", "[MASK]", "[START]", "x5", "x6", "[START]", "x3"],
  names: ["x1", "x2", "[MASK]", "x4", "[MASK]", "[START]", "x5", "x6", "[START]", "x3"],
  position_ids: [[1, 2, 3, 4, 5, 5, 5, 5, 3, 3], [0, 0, 0, 0, 0, 1, 2, 3, 1, 2]],
  targets: [null, null, null, null, null, "x5", "x6", "[END]", "x3", "[END]"],
  steps: [["x5", []], ["[END]", ["x5"]], ["x9", []], [null, ["x9"]]].map(([said, written], i) => ({ said, written,
    blank: i < 2 ? 1 : 0, model: true, exact: i < 2, rows: [{ word: "[END]", p: 0.25, best: i < 2 ? 0 : null }] })),
  nll: { model: 3.5, exact: 2.25 },
};

test("spans are marked, replaced and taken away, and their order is kept", () => {
  const none = { spans: [], order: [] };
  const one = marked(none, [4, 6]);
  assert.deepEqual(one, { spans: [[4, 6]], order: [0] });
  const two = marked(one, [1, 2]);
  assert.deepEqual(two, { spans: [[1, 2], [4, 6]], order: [1, 0] });
  assert.deepEqual(marked(two, [7, 8]), { spans: [[1, 2], [4, 6], [7, 8]], order: [1, 0, 2] });
  assert.deepEqual(marked(two, [5, 7]), { spans: [[1, 2], [5, 7]], order: [0, 1] });
  assert.deepEqual(marked(two, [2, 4]), { spans: [[1, 2], [2, 4], [4, 6]], order: [2, 0, 1] });
  assert.deepEqual(unmarked(two, 1), { spans: [[1, 2]], order: [0] });
  assert.deepEqual(unmarked(two, 0), { spans: [[4, 6]], order: [0] });
});

test("one word of a blank opens it; a stretch, or a word in sight, becomes one", () => {
  const two = { spans: [[1, 2], [4, 6]], order: [1, 0] };
  assert.deepEqual(acted(two, 5, 5), { spans: [[1, 2]], order: [0] });
  assert.deepEqual(acted(two, 3, 3).spans, [[1, 2], [3, 4], [4, 6]]);
  assert.deepEqual(acted(two, 6, 5).spans, [[1, 2], [5, 7]]);
  assert.deepEqual([range(3, 1), range(2, 2)], [[1, 4], [2, 3]]);
  assert.deepEqual([0, 1, 5, 6].map((place) => spanAt(two.spans, place)), [-1, 0, 1, -1]);
  assert.equal(buttonName("cat", "word", -1), "cat, visible");
  assert.equal(buttonName("?", "unknown", 1), "?, not in the vocabulary, in the blank that is filled 2nd");
});

test("each position tells its positions and its target", () => {
  assert.deepEqual([0, 4, 5, 7, 8, 9].map((position) => turnOf(state, position)), [-1, -1, 0, 0, 1, 1]);
  assert.deepEqual(partsOf(state).map(({ first, end }) => [first, end]), [[0, 5], [5, 8], [8, 10]]);
  assert.match(positionSaid(state, 1), /^Position 1 of x2 is 2: .* Position 2 is 0, .*It has no target\.$/);
  assert.match(positionSaid(state, 2), /whatever its length/);
  assert.match(positionSaid(state, 6), /is 5: the position of its \[MASK\].*filled 1st\. Position 2 is 2.*“x6”, the next word/);
  assert.match(positionSaid(state, 9), /is 3: .*filled 2nd\. Position 2 is 2.*\[END\], the end of the blank/);
});

test("the crosshair begins where one blank sees another, and the legend has what is there", () => {
  assert.deepEqual(firstCell(state), { q: 8, k: 6 });
  assert.deepEqual(firstCell({ read: 2, sizes: [2] }), { q: 2, k: 3 });
  assert.deepEqual(firstCell({ read: 2, sizes: [] }), { q: 0, k: 0 });
  assert.deepEqual(legendOf({ rules: ["a", "b"], rule_ids: [1, -3] }).map(({ text }) => text), ["a", "blocked"]);
});

test("the text at a step", () => {
  const shown = (step) => textAt(state, step).map(({ word, now }) => `${word}${now ? "|" : ""}`);
  assert.deepEqual(shown(0), ["x1", "x2", "null", "x4", "null|"]);
  assert.deepEqual(shown(1), ["x1", "x2", "null", "x4", "x5|"]);
  assert.deepEqual(shown(2), ["x1", "x2", "null|", "x4", "x5"]);
  assert.deepEqual(shown(3), ["x1", "x2", "x9|", "x4", "x5"]);
  assert.deepEqual(textAt({ ...state, steps: [{ said: "[END]", blank: 1 }] }, 1)[4], { word: "", blank: 1, now: false });
});

test("what is said of a step, of the price and of lengths", () => {
  assert.match(plain(stepSaid(state, 0)), /filled 1st: empty so far\. Probability of \[END\]: 25 % \(model\), 0 % \(exact\)\.$/);
  assert.match(plain(stepSaid(state, 3)), /filled 2nd: “x9” so far\. Probability of \[END\]: 25 % \(model\)\.$/);
  assert.equal(stepSaid(state, 4), "All blanks are filled.");
  assert.match(nllSaid(state), /3\.50 nats \(model\), 2\.25 nats \(exact\)\.$/);
  assert.equal(nllSaid({ nll: { model: null, exact: null }, steps: [1] }), "");
  const lengths = { model: [[1, 0.75], [3, 0.25]], exact: [[1, 1]], true: 2 };
  assert.deepEqual(lengthRows(lengths).map(({ words, p, best, own }) => [words, p, best, own]),
    [[1, 0.75, 1, false], [2, 0, 0, true], [3, 0.25, 0, false]]);
  assert.deepEqual(lengthRows({ ...lengths, model: [] })[0].p, null);
  assert.match(lengthsSaid({ ...lengths, exact: [] }, 200, true), /^It held 2 words\. .*200 sampled fillings.*no sentence of the Small World fits\.$/);
  assert.match(lengthsSaid({ ...lengths, exact: [] }, 200, false), /200 sampled fillings\. No world was given, so there is no exact posterior\.$/);
});

test("what the rows of a step leave out, of either reader", () => {
  const rows = [{ p: 0.5, best: 0.1 }, { p: 0.125, best: 0.2 }, { p: 0.25, best: 0.7 }];
  assert.deepEqual(restOf({ rows, model: true, exact: true }), { p: 0.125, best: 0 });
  assert.deepEqual(restOf({ rows: [{ p: null, best: 0.75 }], model: false, exact: true }), { p: null, best: 0.25 });
  assert.deepEqual(restOf({ rows: [{ p: 1, best: null }], model: true, exact: false }), { p: 0, best: null });
});

test("another word leaves what was said before it", () => {
  assert.deepEqual(saidAt(state.steps, 2, "x3"), ["x5", "[END]", "x3"]);
  assert.deepEqual([lastStep(state.steps), lastStep(state.steps.slice(0, 2)), lastStep([])], [3, 2, 0]);
});

test("Part A is right, a mistake with a name, or wrong at a token", () => {
  const part = { right: "x1 [MASK] x4", mistakes: [{ text: "x1 [MASK] [MASK] x4", said: "BERT" }] };
  assert.equal(partASaid(part, "  x1  [MASK] x4 ").right, true);
  assert.deepEqual(partASaid(part, "x1 [MASK] [MASK] x4"), { right: false, said: "BERT" });
  assert.match(partASaid(part, "x1 [MASK] x5").said, /“x5”, token 3/);
  assert.match(partASaid(part, "x1 [MASK]").said, /differs at its end/);
  assert.match(partASaid(part, " ").said, /^Type Part A/);
});

test("a row is right, a mistake with a name in either part, or wrong at a position", () => {
  const row = { name: "position 1", right: [1, 2, 2, 2], mistakes: [{ part: "A", values: [0, 1], said: "zero" },
    { part: "B", values: [3, 4], said: "goes on" }] };
  const inputs = ["a", "[MASK]", "[START]", "b"];
  const told = (cells) => rowSaid(row, 2, cells, inputs);
  assert.deepEqual(told([1, 2, 2, 2]), { right: true, said: ["Correct."], wrong: -1 });
  assert.deepEqual(told([1, 2, 3, 4]).said, ["Part A is correct.", "goes on"]);
  assert.deepEqual(told([0, 1, 3, 4]).said, ["zero", "goes on"]);
  assert.deepEqual(told([1, 2, 2, 9]).said, ["Part A is correct.", "Part B is not correct yet. Check “b”, token 4 from the left."]);
  assert.deepEqual(told([1, null, 2, 2]), { right: false, said: ["A position id is missing: every token needs one."], wrong: 1 });
  assert.deepEqual(typedCells("position 1", [" 3", "", "x", "-1"]), [3, null, NaN, NaN]);
  assert.deepEqual(typedCells("target", ["cat ", "", "·"]), ["cat", null, null]);
});
