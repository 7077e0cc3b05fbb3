import assert from "node:assert/strict";
import { test } from "node:test";
import * as probabilities from "../../plmlab/labs/shared/probabilities.js";
import * as sentences from "../../plmlab/labs/world/sentences.js";
import * as probability from "../../plmlab/labs/world/probability.js";
import * as entity from "../../plmlab/labs/world/entity.js";
import * as question from "../../plmlab/labs/world/question.js";
import * as worldLab from "../../plmlab/labs/world/lab.js";

const w = { ...probabilities, ...sentences, ...probability, ...entity, ...question, ...worldLab };

test("a sentence of n nats comes up once in e^n", () => {
  assert.equal(w.rarity(Math.log(71)), "one in 71");
  assert.equal(w.rarity(Math.log(12345)), "one in 12,345");
  assert.equal(w.rarity(Math.log(2.5e6)), "one in 2.5 million");
  assert.equal(w.rarity(Math.log(1e20)), "one in 10^20");
});

test("the word that stands there is always among the bars", () => {
  const belief = { likeliest: [["a", 0.5], ["b", 0.3]], own: 0.01 };
  assert.deepEqual(w.rowsOf(belief, "b").map((row) => [row.word, row.own]), [["a", false], ["b", true]]);
  assert.deepEqual(w.rowsOf(belief, "z").at(-1), { word: "z", p: 0.01, own: true });
  assert.equal(w.rowsOf(belief, null).length, 2);
});

test("prose puts spaces where a reader expects them, and keeps mentions whole", () => {
  const mentions = [{ start: 2, end: 4, key: "cafe:Blue Tulip" }];
  const found = w.pieces(["at", "the", "Blue", "Tulip", ",", "then", "."], mentions);
  assert.equal(found.map(({ text, space }) => (space ? " " : "") + text).join(""), "at the Blue Tulip, then.");
  assert.deepEqual(found.filter(({ mention }) => mention).map(({ text }) => text), ["Blue Tulip"]);
});

test("bars are in proportion to their nats, and none stands for none", () => {
  const [a, b, c] = w.heights([6, 3, null]);
  assert.equal(a, 2 * b);
  assert.equal(c, 0);
  assert.equal(w.heights([1])[0] * 4, w.heights([4])[0], "few nats do not fill the height");
});

const belief = (own, choices, likeliest = [["is", 1]]) => ({ own, choices, likeliest });

test("the verdict on a hidden word", () => {
  assert.match(w.verdict({ word: "bat", left: belief(0.1, 5), both: belief(0.5, 3) }), /10 %.*50 %.*5 times as likely/);
  assert.match(w.verdict({ word: "bat", left: belief(0.001, 5), both: belief(0.5, 3) }), /500 times/);
  assert.match(w.verdict({ word: "the", left: belief(0.5, 5), both: belief(0.5, 3) }), /adds nothing/);
  assert.match(w.verdict({ word: "the", left: belief(0.5, 5), both: belief(0.2, 3) }), /less likely/);
  assert.match(w.verdict({ word: "are", left: belief(0, 5), both: belief(0, 1) }), /'are' is impossible here.* must be 'is'/);
  assert.match(w.verdict({ word: "are", left: belief(0, 5), both: belief(0, 4) }), /one of 4 others/);
  assert.match(w.verdict({ word: "are", left: belief(0.1, 5), both: null }), /another error/);
  assert.match(w.verdict({ word: "are", left: null, both: null }), /left the grammar/);
});

test("the sum that is shown is a sum", () => {
  const said = w.sumText({ words: [{ nats: 1.25 }, { nats: 2 }], end: { nats: 0.5 }, nats: 3.75 });
  assert.match(said, /^1\.25 \+ 2\.00 \+ 0\.50 = 3\.75 nats/);
  assert.match(said, /3 predictions/);
});

test("an agreement arc says what stands between", () => {
  const words = ["the", "keys", "by", "the", "door", "are"];
  const link = { subject: 1, verb: 5, number: "pl", attractors: 1, distance: 3 };
  assert.equal(w.arcText(link, words), "keys … are: both plural; 3 words between, 1 attractor");
  assert.equal(w.arcText({ subject: 1, verb: 2, number: "sg", attractors: 0, distance: 0 }, words),
    "keys … by: both singular; side by side");
  assert.equal(w.arcPath(10, 90, 26).split(/[MC ]/).at(-2), "90");
});

test("a search looks at names and kinds, names that begin so first", () => {
  const all = [["The Silver Harbor", "film"], ["Harbor Lane", "town"], ["Anna Bell", "person"], ["Blue Café", "cafe"]]
    .map(([name, kind]) => ({ key: name, name, kind }));
  assert.deepEqual(w.found(all, "harbor").map(({ name }) => name), ["Harbor Lane", "The Silver Harbor"]);
  assert.deepEqual(w.found(all, "harbor film").map(({ name }) => name), ["The Silver Harbor"]);
  assert.deepEqual(w.found(all, "café").map(({ name }) => name), ["Blue Café"]);
  assert.equal(w.found(all, "").length, 4);
  assert.equal(w.found(all, "<b>").length, 0);
});

test("a hop is said in the direction in which it is walked", () => {
  assert.equal(w.hopText({ relation: "director", backward: false, name: "Anna" }, "The Harbor"),
    "The Harbor's director: Anna");
  assert.equal(w.hopText({ relation: "director", backward: true, name: "The Harbor" }, "Anna"),
    "whose director is Anna? The Harbor");
});

test("the guess is judged", () => {
  assert.equal(w.judged(null, "Milton"), "The answer: Milton.");
  assert.match(w.judged("Milton", "Milton"), /Your guess was correct/);
  assert.match(w.judged("Lune", "Milton"), /Your guess was Lune/);
});

test("tabs go round by arrow keys", () => {
  assert.deepEqual(["ArrowRight", "ArrowLeft", "Home", "End", "x"].map((key) => w.tabAfter(key, 3, 4)), [0, 2, 0, 3, null]);
  assert.equal(w.tabAfter("ArrowLeft", 0, 4), 3);
});
