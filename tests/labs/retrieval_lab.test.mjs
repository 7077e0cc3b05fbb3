// The Retrieval Lab's pure functions: rectangles and their areas, bands, arrows, the map, and what is said.
import assert from "node:assert/strict";
import { test } from "node:test";
import { degrees } from "../../plmlab/labs/retrieval/controls.js";
import { asItWas, deleted, leftOut, listedOf, shelfOf, written } from "../../plmlab/labs/retrieval/documents.js";
import {
  REACH, along, arrowOf, bandsOf, cellsOf, columnsOf, lensOf, lettersAt, nearest, scaleOf,
} from "../../plmlab/labs/retrieval/layout.js";
import { pointsOf } from "../../plmlab/labs/retrieval/map.js";
import {
  answerSaid, changedSaid, chosenOf, documentSaid, guessOf, moved, rankedOf, timesSaid, was,
} from "../../plmlab/labs/retrieval/messages.js";

const near = (one, other) => assert.ok(Math.abs(one - other) < 1e-9, `${one} is not ${other}`);
const plain = (text) => text.replaceAll("\u00a0", " ");
/** p(y|x) of the first answer is .2·.1 + .6·.8 + .2·.25 = .55, of the second .2·.5 + .6·.1 + .2·.5 = .26. */
const documents = [
  { number: -1, title: "nothing", prior: 0.2, likelihoods: [0.1, 0.5], pulls: [-0.1636, 0.1846], pieces: [] },
  { number: 4, title: "Flora", prior: 0.6, likelihoods: [0.8, 0.1], pulls: [0.2727, -0.3692], pieces: [["b", -1]] },
  { number: 7, title: "Vernon", prior: 0.2, likelihoods: [0.25, 0.5], pulls: [-0.1091, 0.1846], pieces: [["c", -1]] },
];
const state = { documents, before: null, letters: { "-1": "∅", 4: "A", 7: "B" }, plane: { ranked: [4, 7, 1], query: [0, 0], written: {} },
  answers: [{ text: "Vernon", p: 0.55, before: null }, { text: "Alder", p: 0.26, before: null }], generated: [], kind: "masked" };

test("the columns' widths add up to one, and no two of them overlap", () => {
  const columns = columnsOf(documents);
  near(columns.reduce((sum, { width }) => sum + width, 0), 1);
  columns.forEach(({ x }, i) => near(x, i ? columns[i - 1].x + columns[i - 1].width : 0));
});

test("an answer's area in a column is p(z|x) p(y|z,x), and in all of them p(y|x)", () => {
  const columns = columnsOf(documents);
  for (const answer of [0, 1]) {
    const areas = documents.map((one, i) => columns[i].width * cellsOf(one)[answer].height);
    near(areas[1], [0.48, 0.06][answer]);
    near(areas.reduce((sum, area) => sum + area, 0), state.answers[answer].p);
  }
  const [low, high] = cellsOf(documents[1]);
  near(low.y + low.height, 1);
  near(high.y + high.height, low.y);
});

test("a band leads from its column to its head, however narrow the column is", () => {
  const columns = columnsOf([{ prior: 1 }, { prior: 0 }]);
  const [wide, thin] = bandsOf(columns, 1000, 20);
  assert.match(wide, /^M0 0H1000C1000 10 497 10 497 20H3C/);
  assert.match(thin, /^M1000 0H1000C1000 10 997 10 997 20H503C/);
});

test("an arrow is as long as its r, up or down, on a scale that all share", () => {
  const ends = (r, full) => [...arrowOf(r, full, 20, 40).matchAll(/L20 ([\d.]+)/g)].map(([, y]) => Number(y));
  assert.deepEqual(ends(0.5, 0.5), [40 - REACH]);
  assert.deepEqual(ends(-0.25, 0.5), [40 + REACH / 2]);
  assert.equal(arrowOf(0.001, 1, 20, 40), "");
  assert.equal(scaleOf([0.02, -0.03]), 0.1);
  assert.equal(scaleOf([0.2, -0.3]), 0.5);
  assert.equal(scaleOf([0.9, -0.9]), 1);
});

test("the map has one scale, and what is outside lies on its rim", () => {
  const lens = lensOf([0, 10, 0, 10], 320, 250);
  const [a, b, c] = [[0, 0], [10, 0], [0, 10]].map(lens);
  near(b.x - a.x, a.y - c.y);
  assert.deepEqual(lens([1000, -1000]), { x: 315, y: 245 });
  assert.equal(nearest([{ number: 1, x: 5, y: 5 }, { number: 2, x: 9, y: 5 }], 8, 5).number, 2);
  assert.equal(nearest([{ number: 1, x: 5, y: 5 }], 100, 5), null);
  const points = [{ x: 50, y: 50 }, { x: 52, y: 50 }, { x: 51, y: 52 }];
  const names = lettersAt(points, []);
  for (const [i, one] of names.entries()) for (const other of names.slice(i + 1)) {
    assert.ok(Math.hypot(one.x - other.x, one.y - other.y) >= 8, "letters stand apart");
  }
});

test("what was written lies where its new vector is, and what was deleted is gone", () => {
  const menu = { box: [0, 10, 0, 10], documents: [{ number: 4, title: "", text: "", at: [0, 0] }, { number: 7, title: "", text: "", at: [5, 5] }] };
  const edits = { added: [["n", "new"]], replaced: { 4: ["F", "other"] }, removed: [7] };
  const shelf = shelfOf(menu.documents, 9, edits);
  const found = pointsOf(menu, { plane: { query: [5, 5], written: { 4: [10, 10], 9: [0, 10] } } }, shelf);
  assert.deepEqual(found.points.map(({ number, moved: new_ }) => [number, new_]), [[4, true], [9, true]]);
  assert.ok(found.points[0].x > found.query.x && found.points[0].y < found.query.y);
});

test("keys lead along a list, and stop at its ends", () => {
  assert.deepEqual(["ArrowRight", "ArrowUp", "Home", "End", "a"].map((key) => along(key, 1, 3)), [2, 0, 0, 2, null]);
  assert.equal(along("ArrowDown", 2, 3), 2);
});

test("edits are told by number, and taken back", () => {
  const none = { added: [], replaced: {}, removed: [], excluded: [] };
  assert.deepEqual(written(none, 4, "t", "x"), { replaced: { 4: ["t", "x"] } });
  assert.deepEqual(asItWas({ ...none, replaced: { 4: ["t", "x"], 5: ["u", "y"] }, removed: [4] }, 4),
    { replaced: { 5: ["u", "y"] }, removed: [] });
  assert.deepEqual(leftOut({ ...none, excluded: [4] }, 4), { excluded: [] });
  assert.deepEqual(leftOut(none, 4), { excluded: [4] });
  assert.deepEqual(deleted(none, 4), { removed: [4] });
  const shelf = shelfOf([{ number: 4, title: "F", text: "f" }], 9, { added: [["n", "new"]], replaced: { 9: ["m", "newer"] }, removed: [4] });
  assert.deepEqual([...shelf], [[4, { title: "F", text: "f", kind: "removed" }], [9, { title: "m", text: "newer", kind: "added" }]]);
  assert.deepEqual(listedOf(state, { ...none, replaced: { 1: ["a", "b"] }, removed: [4] }, 9, 3), [-1, 4, 7, 1, 3]);
});

test("what is said of answers, documents and pulls", () => {
  assert.deepEqual(rankedOf(state), [0, 1]);
  assert.equal(chosenOf(state, "Alder"), 1);
  assert.equal(chosenOf(state, "gone"), 0);
  assert.equal(plain(answerSaid(state, 0)), "The masked span is “Vernon” with p(y|x) = 55 %. 87 % of this comes from A, Flora.");
  assert.equal(plain(documentSaid(state, documents[1], 0)), "A, Flora: p(z|x) = 60 %; given this document, the reader predicts " +
    "“Vernon” with 80 %. That is 1.5 times p(y|x); with the target “Vernon”, training would raise its score (r = +0.27).");
  assert.match(plain(documentSaid(state, documents[0], 0)), /^The null document: .* without a document, .* 0\.18 times .* would lower its score \(r = −0\.16\)/);
  assert.equal(timesSaid(1.001), "equal to");
  assert.equal(timesSaid(0.001), "less than a hundredth of");
  assert.equal(plain(moved(0.48, 0.47)), "48 → 47 %");
  assert.equal(plain(moved(0.481, 0.482)), "48 %");
  assert.equal(plain(was(0.2, 0.3)), "was 20 %");
  assert.equal(was(null, 0.3), "");
  assert.match(plain(guessOf(state)[1]), /^Without a document it predicts “Alder” with 50 %.* the prediction is “Vernon”, with 55 %/);
  assert.equal(guessOf({ ...state, documents: documents.slice(1) }), null);
  assert.deepEqual([-2, 0, 0.25, 2].map(degrees), ["0.25", "1", "1.2", "4"]);
});

test("what an edit moved: the width or the height", () => {
  assert.equal(changedSaid(state, 0), "");
  const to = (prior, likelihoods) => ({ ...state, before: [documents[0], { ...documents[1], prior, likelihoods }, { ...documents[2], number: 8, title: "Old" }],
    letters: { ...state.letters, 8: "C" }, answers: [{ text: "Vernon", p: 0.55, before: 0.1 }, { text: "Alder", p: 0.26, before: 0.7 }] });
  assert.equal(plain(changedSaid(to(0.61, [0.05, 0.9]), 0)), "It was “Alder” (70 %); now it is “Vernon” (55 %). For A, Flora, p(z|x) is " +
    "61 → 60 %, and p(y|z,x) of “Vernon” is 5.0 → 80 %: the reader’s prediction has changed, not the retrieval. " +
    "No longer retrieved: C, Old. Newly retrieved: B, Vernon.");
  assert.match(changedSaid(to(0.1, [0.79, 0.1]), 0), /the retrieval has changed, not/);
  assert.match(changedSaid(to(0.1, [0.3, 0.1]), 0), /both have changed/);
  assert.match(changedSaid(to(0.6, [0.8, 0.1]), 0), /neither has changed much/);
});

test("a memory mixes vectors: what is said of it adds no areas up", () => {
  const facts = { ...state, kind: "facts" };
  assert.equal(plain(answerSaid(facts, 0)), "The masked mention is “Vernon” with p(y|x) = 55 %. 60 % of the retrieval weight is on A, Flora.");
  assert.match(plain(documentSaid(facts, documents[1], 0)), /^A, Flora: p\(z\|x\) = 60 %; with only this fact, the model predicts “Vernon” with 80 %/);
  assert.match(plain(documentSaid(facts, documents[0], 0)), /^The null fact: .* from the context alone, the model predicts/);
  const entities = { ...facts, kind: "entities", documents: [{ ...documents[0], prior: 0 }, ...documents.slice(1)] };
  assert.match(plain(documentSaid(entities, entities.documents[0], 0)), /^No vector: p\(z\|x\) = 0 %; without a vector, /);
  assert.match(plain(guessOf(entities)[1]), /^Without a vector it predicts “Alder” with 50 %. With the entities the prediction is “Vernon”, with 55 %/);
});
