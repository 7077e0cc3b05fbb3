// The Cloze Lab's pure functions.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as gaps from "../../plmlab/labs/cloze/gaps.js";
import * as pairs from "../../plmlab/labs/cloze/pairs.js";
import * as clozeLab from "../../plmlab/labs/cloze/lab.js";
import * as beliefs from "../../plmlab/labs/shared/beliefs.js";

const c = { ...beliefs, ...gaps, ...pairs, ...clozeLab };
const plain = (text) => text.replaceAll("\u00a0", " ");

test("a click hides a word, and shows it again", () => {
  assert.deepEqual(c.toggled([6], 2), [2, 6]);
  assert.deepEqual(c.toggled([2, 6], 2), [6]);
  assert.deepEqual(c.toggled([2, 12], 6), [2, 6, 12], "in the order of the sentence");
});

test("arrow keys walk the words and stop at the ends", () => {
  assert.deepEqual(["ArrowLeft", "ArrowRight", "Home", "End", "x"].map((key) => c.wordAfter(key, 2, 4)),
    [1, 3, 0, 3, null]);
  assert.equal(c.wordAfter("ArrowLeft", 0, 4), null);
  assert.equal(c.wordAfter("ArrowRight", 3, 4), null);
});

test("a chip says what a press does", () => {
  assert.equal(c.chipName("bat", "word", false), "bat, mask it");
  assert.equal(c.chipName("bat", "word", true), "bat, masked; unmask it");
  assert.match(c.chipName("[UNK]", "unknown", false), /not in the vocabulary/);
});

const own = (p, rank, best) => ({ own: { p, rank, nats: -Math.log(p), of: 1870, best } });

test("the true word is told with rank, probability and surprisal", () => {
  assert.equal(plain(c.ownText(own(0.5, 1, null), "bat")), "“bat” is the top prediction: 50 %, surprisal 0.69 nats.");
  assert.match(plain(c.ownText(own(0.01, 1204, 0.25), "bat")), /has rank 1,204 of 1,870: 1\.0 %, surprisal 4\.61 nats\. Bayes-optimal predictor: 25 %/);
  assert.match(c.ownText(own(0.5, 1, 0), "bat"), /rules it out/);
  assert.match(c.ownText({ own: null }, null), /no true token/);
});

test("nats and probabilities are not pretended to be nothing", () => {
  assert.equal(plain(c.nats(0.001)), "< 0.01 nats");
  assert.equal(plain(c.nats(0)), "0.00 nats");
  assert.equal(c.amount(1e-7), "< 0.01 %");
  assert.equal(c.amount(0), "0 %");
  assert.match(plain(c.lossText(0.001)), /^KL\(optimal ‖ model\) < 0\.01 nats: almost/);
  assert.match(plain(c.lossText(2)), /= 2\.00 nats: far/);
  assert.equal(c.lossText(null), "");
});

test("what the right side is worth", () => {
  const gap = (left, both) => ({ word: "bat", left, both });
  const none = { known: undefined, cut: false };
  assert.equal(c.gainText(gap(own(0.1, 3, null), own(0.5, 1, null)), none), "The right context makes “bat” 5 times as likely.");
  assert.equal(c.gainText(gap(own(0.1, 3, 0.25), own(0.5, 1, 1)), none),
    "For the Bayes-optimal predictor, the right context makes “bat” 4 times as likely.");
  assert.match(c.gainText(gap(own(0.5, 3, null), own(0.5, 1, null)), none), /does not change the probability of/);
  assert.match(c.gainText(gap(own(0.5, 3, null), own(0.2, 1, null)), none), /makes “bat” less likely/);
  assert.equal(c.gainText(gap(own(0.1, 3, null), own(0.5, 1, null)), { cut: true }), "", "a cut reader is no fair rival");
  assert.match(c.gainText(gap(own(0.1, 3, null), own(0.5, 1, null)), { known: "keys" }), /contains the original word “keys”/);
  assert.equal(c.gainText(gap(null, own(0.5, 1, null)), none), "");
});

const pair = {
  kind: "world", rows: ["cups", "cup"], columns: ["is", "are"], product: [[0.21, 0.13], [0.12, 0.004]],
  together: [[0, 0.5], [0.5, 0]], worst: { words: ["cups", "is"], product: 0.21, together: 0 },
  impossible: 0.56, unavoidable: 0.5, information: Math.LN2,
};

test("both tables have one scale, on which small ones can be told apart", () => {
  assert.equal(c.topOf(pair), 0.5);
  assert.equal(c.shade(0.5, 0.5), 1);
  assert.equal(c.shade(0.125, 0.5), 0.5);
  assert.deepEqual([0.21, 0.004, 0].map(c.cellText), ["21", "", ""]);
});

test("a pair is told from both tables", () => {
  assert.equal(c.pairText(pair, { row: 0, column: 0 }), "“cups … is”: p(cups) · p(is) = 21 %; joint probability 0 %: no sentence has both words.");
  assert.equal(c.pairText(pair, { row: 0, column: 1 }), "“cups … are”: p(cups) · p(are) = 13 %; joint probability 50 %.");
  assert.match(c.pairText({ ...pair, kind: "chained" }, { row: 0, column: 1 }), /one after the other, 50 %/);
});

test("the verdict names the impossible pair, the total and the information", () => {
  const [first, second] = c.verdictText(pair).map(plain);
  assert.match(first, /“cups … is” the most likely, 21 %. All impossible pairs together: 56 %/);
  assert.match(second, /0\.69 nats.*its product assigns 50 % to impossible pairs/);
  assert.match(c.verdictText({ ...pair, worst: null })[0], /can be filled independently/);
  const chained = { ...pair, kind: "chained", worst: { words: ["cups", "is"], product: 0.21, together: 0.02 } };
  assert.match(c.verdictText(chained)[0], /21 %, compared with 2\.0 % if “cups” is filled in first/);
  assert.match(c.verdictText({ ...chained, worst: null })[0], /hardly differ/);
});

test("the crosshair begins at the pair that is spoken of", () => {
  assert.deepEqual(c.firstCell(pair), { row: 0, column: 0 });
  assert.deepEqual(c.firstCell({ ...pair, worst: { words: ["cup", "are"] } }), { row: 1, column: 1 });
  assert.deepEqual(c.firstCell({ ...pair, worst: { words: ["x", "are"] } }), { row: 0, column: 0 });
  assert.deepEqual(c.firstCell({ ...pair, worst: null }), { row: 0, column: 0 });
});

test("two maps stand side by side while cells keep their width", () => {
  const widths = { rows: 60, columns: Array(8).fill(40) };
  const wide = c.mapSize(900, widths);
  assert.equal(wide.stacked, false);
  assert.ok(2 * (60 + 8 * wide.cell) + 36 <= 900);
  const narrow = c.mapSize(420, widths);
  assert.equal(narrow.stacked, true);
  assert.ok(60 + 8 * narrow.cell <= 420);
  assert.equal(c.mapSize(900, { rows: 60, columns: [200, 30] }).turned, true);
});
