// The Four-mask Lab's pure functions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { firstPair, widthsOf } from "../../plmlab/labs/four_masks/lab.js";
import { squareOf } from "../../plmlab/labs/four_masks/panels.js";
import {
  inSight, paidText, reason, sightOf, positionsOf, verdicts,
} from "../../plmlab/labs/four_masks/messages.js";
import { buttonName } from "../../plmlab/labs/four_masks/words.js";
import { placeAfter } from "../../plmlab/labs/shared/order.js";

/** A panel of three words, the middle one hidden; `sees(q, k)` says who may look at whom. */
const panel = (name, places, sees) => ({
  name, places, position: places.indexOf(1), names: places.map((place) => (place === 1 ? "[MASK]" : `w${place}`)),
  mask: { sentences: { 1: "{key} is read.", "-1": "{key} is not." },
    rule_ids: places.flatMap((_, q) => places.map((__, k) => (sees(q, k) ? 1 : -1))) },
});
const one = ["begin", 0, 1, 2, "end"];
const panels = [
  panel("both", one, () => true),
  panel("two", ["begin", 0, "cut", 1, 2, "end"], (q, k) => k < 3 || (q > 2 && k <= q)),
  panel("left", one, (q, k) => k <= q), panel("right", one, (q, k) => k >= q),
];

test("a pair of places has its positions under each mask, or none", () => {
  assert.deepEqual(panels.map((p) => positionsOf(p, { q: 1, k: 2 })),
    [{ q: 2, k: 3 }, { q: 3, k: 4 }, { q: 2, k: 3 }, { q: 2, k: 3 }]);
  assert.deepEqual(panels.map((p) => positionsOf(p, { q: "cut", k: 0 })?.q ?? null), [null, 2, null, null]);
});

test("why a pair is open or closed, and under which masks", () => {
  const said = (p, pair) => reason(p, pair)?.map(({ text }) => text).join("") ?? null;
  assert.equal(said(panels[2], { q: 1, k: 2 }), "[MASK] cannot attend to w2: w2 is not.");
  assert.equal(said(panels[1], { q: 1, k: "cut" }), "[MASK] can attend to wcut: wcut is read.");
  assert.equal(said(panels[0], { q: 1, k: "cut" }), null);
  assert.equal(verdicts(panels, { q: 1, k: 2 }), "The same pair is allowed under “both” and “right”, and blocked under “two” and “left”.");
  assert.equal(verdicts(panels, { q: 1, k: 1 }), "The same pair is allowed under every mask in which it exists.");
  assert.equal(verdicts(panels.slice(1, 3), { q: 0, k: 2 }), "The same pair is blocked under every mask in which it exists.");
  assert.equal(verdicts(panels, { q: "cut", k: 0 }), "This pair exists only under “two”.");
});

test("what the gap sees is counted", () => {
  assert.deepEqual(panels.map((p) => inSight(p).filter(Boolean).length), [5, 4, 3, 3]);
  assert.deepEqual(panels.map((p) => sightOf(p, 1, 3)), [
    "The masked word sees 1 of 1 word before it, 1 of 1 after it, and the end.",
    "The masked word sees 1 of 1 word before it, 0 of 1 after it, but not the end.",
    "The masked word sees 1 of 1 word before it, 0 of 1 after it, but not the end.",
    "The masked word sees 0 of 1 word before it, 1 of 1 after it, and the end."]);
  const alone = panel("left", ["begin", 1, "end"], (q, k) => k <= q);
  assert.equal(sightOf({ ...alone, places: ["begin", 0, "end"] }, 0, 1), "The masked word does not see the end.");
});

test("what the word costs, in nats", () => {
  const own = { nats: 0.5, best: Math.exp(-0.25) };
  assert.equal(paidText({ own }), "−log p: model 0.50, Bayes-optimal 0.25 nats");
  assert.equal(paidText({ own: { ...own, best: 1 } }), "−log p: model 0.50, Bayes-optimal 0.00 nats");
  assert.equal(paidText({ own: { ...own, best: null } }), "−log p: model 0.50 nats");
  assert.match(paidText({ own: { ...own, best: 0 } }), /Bayes-optimal ∞: the word is impossible here/);
  assert.match(paidText({ own: null }), /the true word is unknown/);
});

test("the pair that is marked first is the gap and the word behind it", () => {
  const tokens = ["a", "b", "c"];
  assert.deepEqual([0, 2].map((hidden) => firstPair({ tokens, hidden })), [{ q: 0, k: 1 }, { q: 2, k: 1 }]);
  assert.deepEqual(firstPair({ tokens: ["a"], hidden: 0 }), { q: 0, k: "end" });
});

test("squares keep within their room, with names where these can be read", () => {
  for (const [count, named] of [[8, true], [13, true], [35, false]]) {
    const at = squareOf(count, 240, 70);
    assert.equal(at.named, named);
    assert.ok(count * at.height + (named ? 70 : 0) <= 240, `${count}`);
  }
  assert.deepEqual([widthsOf(938).beside, widthsOf(600).beside], [true, false]);
});

test("arrow keys walk the words, and each says what it does", () => {
  assert.deepEqual(["ArrowLeft", "ArrowRight", "Home", "End", "x"].map((key) => placeAfter(key, 0, 3)), [0, 1, 0, 2, null]);
  assert.equal(buttonName("cat", "word", false), "cat, mask it");
  assert.equal(buttonName("[UNK]", "unknown", true), "[UNK], not in the vocabulary, masked");
  assert.equal(buttonName("[MASK]", "typed", true), "[MASK], as you typed it");
});
