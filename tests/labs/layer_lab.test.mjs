import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { remembered } from "../../plmlab/labs/layer/history.js";
import * as maths from "../../plmlab/labs/layer/maths.js";
import { placesAfter } from "../../plmlab/labs/layer/sentences.js";
import { columnsOf, readOf } from "../../plmlab/labs/layer/spelling.js";
import * as told from "../../plmlab/labs/layer/messages.js";
import { moved, placeOf, sharesAt } from "../../plmlab/labs/layer/triangle.js";

const fixture = JSON.parse(readFileSync(new URL("layer_fixtures.json", import.meta.url), "utf8"));
const store = maths.storeOf(fixture.store);
const near = (one, other, by = 2e-6) => assert.ok(Math.abs(one - other) < by, `${one} is not ${other}`);
const allNear = (found, expected, by) => {
  assert.equal(found.length, expected.length);
  expected.forEach((value, i) => near(found[i], value, by));
};
const made = fixture.sentences.map(({ vectors }) => maths.vectorsOf(vectors, store.half));

test("the cosines of the two words are those of loops over the model's own vectors, layer by layer and side by side", () => {
  const [one, other] = fixture.places;
  const found = maths.cosines(made[0], one, made[1], other);
  allNear(found.flat(), fixture.cosines.flat());
  found[0].forEach((value) => near(value, 1));
});

test("under any mix the cosines with stored uses, and of strangers, are those of the loops", () => {
  for (const { shares, near: expected, strangers } of fixture.mixes) {
    allNear(maths.nearness(store.known, maths.mixed(store.asked, 0, shares), shares), expected);
    near(maths.strangersAt(store.known, shares), strangers);
  }
});

test("the four shares are those of the loops, and Python's at each of its points", () => {
  const pairs = maths.pairsOf(store);
  while (!pairs.step(3));
  const questions = maths.questionsOf(store);
  for (const { shares, scores, counted } of fixture.mixes) {
    const found = maths.scoresAt(pairs, questions, shares);
    for (const name of maths.SCORES) {
      near(found[name], scores[name], 1e-9);
      assert.equal(questions[name].filter(Boolean).length, counted[name]);
      assert.equal(store.counted[name], counted[name]);
    }
  }
  for (const point of store.points) {
    const found = maths.scoresAt(pairs, questions, point.shares);
    for (const name of maths.SCORES) near(found[name], point[name], 1e-9);
  }
  assert.equal(store.points.length, 28);
});

test("strangers layer by layer are Python's", () => {
  [0, 1, 2].forEach((layer) =>
    near(maths.strangersAt(store.known, [0, 1, 2].map((other) => Number(other === layer))), store.strangers[layer][2]));
});

test("each kind of sentence is listed once, by its nearest, with how many stand behind it; the sentence itself is not", () => {
  const { rows } = store.known;
  const scores = rows.map((_, i) => (i * 7) % rows.length);
  const found = maths.nearestKinds(store, scores, rows[3].words, 100);
  const kinds = new Set(rows.filter((_, i) => i !== 3).map(({ pattern }) => pattern));
  assert.equal(found.length, kinds.size);
  assert.equal(found.reduce((sum, { more }) => sum + 1 + more, 0), rows.length - 1);
  for (const { row, score, more } of found) {
    const mine = [...rows.keys()].filter((i) => i !== 3 && rows[i].pattern === rows[row].pattern);
    assert.equal(score, Math.max(...mine.map((i) => scores[i])));
    assert.equal(more, mine.length - 1);
  }
  assert.deepEqual(found.map(({ score }) => score), found.map(({ score }) => score).sort((a, b) => b - a));
  assert.equal(maths.nearestKinds(store, scores, [], 2).length, 2);
});

test("uses of the same sense are taken from other kinds of sentences, those of another sense from all", () => {
  const [place] = fixture.places;
  const sense = store.senses.indexOf("bank.money");
  const pattern = store.patterns.indexOf("bank.money.right1");
  const found = maths.bySense(store, made[0], place, { word: "bank", sense, pattern, text: "" });
  const rows = store.known.rows.filter(({ word }) => word === "bank");
  assert.equal(found.same.count, rows.filter((row) => row.sense === sense && row.pattern !== pattern).length);
  assert.equal(found.another.count, rows.filter((row) => row.sense !== sense).length);
  near(found.same.cosines[0], 1);
  assert.equal(maths.bySense(store, made[0], place, { word: "star", sense: 0, pattern, text: "" }).same, null);
});

test("a place in the triangle leads to its mix and back, and from outside to an edge", () => {
  for (const { shares } of store.points) allNear(sharesAt(...placeOf(shares)), shares, 1e-9);
  for (const place of [[-50, -50], [500, 100], [160, 900], [160, -300]]) {
    const shares = sharesAt(...place);
    near(shares.reduce((sum, share) => sum + share), 1, 1e-9);
    assert.ok(shares.every((share) => share >= 0) && shares.includes(0));
  }
});

test("arrow keys move a mix by a twentieth, and stop at the edges", () => {
  allNear(moved([0.5, 0.5, 0], "ArrowLeft"), [0.55, 0.45, 0], 1e-9);
  allNear(moved([0.5, 0.4, 0.1], "ArrowUp"), [0.475, 0.375, 0.15], 1e-9);
  allNear(moved([1, 0, 0], "ArrowLeft"), [1, 0, 0], 1e-9);
  assert.equal(moved([1, 0, 0], "a"), null);
  let shares = [1 / 3, 1 / 3, 1 / 3];
  for (let i = 0; i < 40; i++) shares = moved(shares, "ArrowUp");
  allNear(shares, [0, 0, 1], 1e-6);
});

test("a word that is chosen in one sentence is found in the other, where it stands there", () => {
  const sentences = [{ words: ["the", "bank", "closed"] }, { words: ["on", "the", "bank"] }];
  assert.deepEqual(placesAfter(sentences, [1, 2], 0, 0), [0, 1]);
  assert.deepEqual(placesAfter(sentences, [1, 2], 0, 2), [2, 2]);
  assert.deepEqual(placesAfter(sentences, [1, 2], 1, 0), [1, 0]);
});

test("the history keeps five states, each once, the last in front", () => {
  const state = (i) => ({ texts: [`a${i}`, "b"], places: [0, 0] });
  let history = [];
  for (const i of [1, 2, 3, 1, 4, 5, 6]) history = remembered(history, state(i));
  assert.deepEqual(history.map(({ texts }) => texts[0]), ["a6", "a5", "a4", "a1", "a3"]);
  assert.equal(remembered(history, { ...state(6), places: [0, 1] }).length, 5);
});

test("what a filter reads is shown as characters, begin and end included", () => {
  const characters = [["a", 1], ["猫", 3], ["b", 1]];
  const columns = columnsOf({ characters, filters: [{ start: 5, width: 4 }] });
  assert.deepEqual(columns.map(({ sign, first, count }) => [sign, first, count]),
    [["‹", 0, 1], ["a", 1, 1], ["猫", 2, 3], ["b", 5, 1], ["›", 6, 1], ["·", 7, 1], ["·", 8, 1]]);
  assert.equal(readOf(columns, { start: 5, width: 4 }), "b›··");
  assert.equal(readOf(columns, { start: 0, width: 2 }), "‹a");
  assert.equal(readOf(columns, { start: 3, width: 1 }), "猫");
  assert.equal(told.codesSaid({ characters }), "The model's input is UTF-8 bytes: “猫” takes 3.");
  assert.equal(told.codesSaid({ characters: [["a", 1]] }), "Each character is one byte.");
});

const flat = (left, right, both) => [[1, 1, 1], [left, right, both], [left, right, both]];

test("the finding is that of the numbers", () => {
  assert.equal(told.contextFinding("bank", "bank", flat(0.4, 0.65, 0.51)),
    "At layer 0 the two occurrences of “bank” have the same vector; with both directions, the cosine is 0.51 at layer 1 and 0.51 at " +
    "layer 2");
  assert.match(told.contextFinding("bank", "bank", flat(1, 0.65, 0.8)),
    /in the forward LSTM they stay identical; in the backward LSTM they diverge, to cosine 0\.65 at layer 2$/);
  assert.match(told.contextFinding("bank", "bank", flat(0.2, 1, 0.8)),
    /in the backward LSTM they stay identical; in the forward LSTM they diverge, to cosine 0\.20/);
  assert.match(told.contextFinding("bank", "bank", flat(1, 1, 1)), /the sentences are the same$/);
  assert.match(told.contextFinding("bank", "shore", flat(0.2, 0.1, 0.1)), /^At layer 0 “bank” and “shore” have cosine 1\.00;/);
});

test("where the pair is farthest apart is held against strangers", () => {
  const strangers = [[0.5, 0.5, 0.5], [0, 0, 0], [0.2, 0.6, 0.3]];
  const found = [[1, 1, 1], [0.5, 0.5, 0.5], [0.6, 0.7, 0.6]];
  assert.equal(told.restSaid("bank", "bank", found, strangers), "The two occurrences of “bank” differ most at layer 2, " +
    "backward LSTM, where their cosine distance is 75 % of the average for two different words (hatched).");
  assert.match(told.restSaid("bank", "bank", flat(1, 1, 1), strangers), /^The two occurrences of “bank” do not differ\.$/);
  assert.match(told.cosineSaid("bank", "bank", 1, 0, 1, 0.4), /This direction has seen the same words in both sentences\.$/);
  assert.match(told.cosineSaid("bank", "bank", 2, 2, -0.2, 0.4), 
    /cosine −0\.20; two different words have 0\.40 there on average\. Their cosine distance is 200 % of the average for two different words\.$/);
});

test("the answer says which stand nearer, as the numbers have it", () => {
  const side = (last) => ({ count: 3, cosines: [1, 0.7, last] });
  const strangers = [[0, 0, 0.5], [0, 0, 0.4], [0, 0, 0.3]];
  assert.match(told.senseAnswer({ same: side(0.6), another: side(0.4) }, strangers), /^Those of the same sense are nearer\. .* Same sense, 3 occ/);
  assert.match(told.senseAnswer({ same: side(0.4), another: side(0.6) }, strangers), /^Those of another sense are nearer: a layer encodes/);
  assert.match(told.senseAnswer({ same: side(0.4), another: side(0.41) }, strangers), /^Neither: .*Two different words: 0\.40 at layer 1 and 0\.30 at layer 2\.$/);
});

test("mixes, dots and neighbours in words", () => {
  assert.equal(told.mixSaid([0, 1, 0]), "layer 1 alone");
  assert.equal(told.mixSaid([0.2, 0.5, 0.3]), "20 % layer 0, 50 % layer 1 and 30 % layer 2");
  const scores = { sense: 1, "sense elsewhere": 0.26 };
  assert.match(told.mixFinding([1 / 3, 1 / 3, 1 / 3], scores, { sense: 0.55, "sense elsewhere": 0.68 }),
    /^With the mean of the layers, .* in 100 % of cases \(chance 55 %\); .* patterns, in 26 % of cases \(chance 68 %\)$/);
  assert.match(told.mixRest(scores, { "sense elsewhere": 0.68 }), /larger norms\. An accuracy below chance is worse/);
  assert.match(told.mixRest(scores, { "sense elsewhere": 0.2 }), /larger norms\.$/);
  assert.match(told.pointSaid({ shares: [1, 0, 0], form: 0.5 }, "form"), /^With layer 0 alone: 50 %\. The nearest occurrence of any word/);
  const one = { word: "bat", sense: "bat.club", score: 0.5, rank: 2, more: 1, strangers: 0.4 };
  assert.match(told.neighbourSaid(one, { word: "bat", sense: "bat.animal" }), /the same word form, another sense \(club\)\. 1 more stored sentence of this pattern is/);
  assert.match(told.neighbourSaid({ ...one, more: 0 }, { word: "the", sense: null }), /another word, “bat”, sense unknown\.$/);
});
