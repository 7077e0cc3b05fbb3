// The Permutation Lab's pure functions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { columnsOf, markOf, placeAt } from "../../plmlab/labs/permutation/chips.js";
import { causesOf, reason, positionsOf } from "../../plmlab/labs/permutation/squares.js";
import { axisOf, dotAfter, nearest, stacked } from "../../plmlab/labs/permutation/strip.js";
import {
  leakSaid, orderSaid, ordersSaid, spreadOf, stepSaid, tallySaid, tellingStep,
} from "../../plmlab/labs/permutation/messages.js";
import { moved, placeAfter } from "../../plmlab/labs/shared/order.js";

const plain = (text) => text.replaceAll("\u00a0", " ");
const state = {
  tokens: ["she", "sang", ".", "[SEP]", "[CLS]"], names: ["she", "sang", ".", "[SEP]", "[CLS]"], order: [2, 0, 1],
  leak: false, exact: 2, why_not: "",
  steps: [{ position: 2, left: [], right: [], sums: [1, 1] }, { position: 0, left: [], right: [2], sums: [2, 1.5] },
    { position: 1, left: [0], right: [2], sums: [2.5, 2] }],
  masks: [0, 1].map((stream) => ({ sentences: { 1: "{key} comes before {query}.", "-1": "{key} does not." },
    rule_ids: [0, 1, 2, 3, 4].flatMap((q) => [0, 1, 2, 3, 4].map((k) => {
      const rank = [3, 4, 2, 0, 1];
      return rank[k] <= rank[q] - stream ? 1 : -1;
    })) })),
  orders: { complete: true, here: 4, leaking: null, model: [2.5, 3, 2.25, 2.75, 2.5, 2.6],
    listed: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] },
};

test("a word moves to another place, and the others close up", () => {
  assert.deepEqual(moved([4, 5, 6, 7], 0, 2), [5, 6, 4, 7]);
  assert.deepEqual(moved([4, 5, 6, 7], 3, 0), [7, 4, 5, 6]);
  assert.deepEqual(moved([4, 5], 1, 1), [4, 5]);
});

test("keys move a word by one place, or to an end", () => {
  assert.deepEqual(["ArrowLeft", "ArrowRight", "Home", "End", "x"].map((key) => placeAfter(key, 2, 5)),
    [1, 3, 0, 4, null]);
  assert.deepEqual([placeAfter("ArrowLeft", 0, 5), placeAfter("ArrowRight", 4, 5)], [0, 4]);
  assert.deepEqual([-20, 0, 49, 50, 999].map((x) => placeAt(x, 50, 4)), [0, 0, 0, 1, 3]);
});

test("what a word is at a step", () => {
  assert.deepEqual([0, 1, 2].map((position) => markOf([2, 0, 1], 2, position)), ["asked", "unseen", "seen"]);
});

test("columns share the room, within bounds", () => {
  const wide = columnsOf(924, 7);
  assert.ok(wide.label + 7 * wide.pitch + 92 <= 924 && wide.pitch > 80);
  assert.equal(columnsOf(380, 14).pitch, 46, "then the panel scrolls");
  assert.ok(columnsOf(380, 7).label < wide.label);
});

test("a step names its target and its context on either side", () => {
  assert.equal(stepSaid(state, 1), "Step 1 of 3: the target is “.”. Its context has no word yet, only [SEP] and " +
    "[CLS], which indicate where the sentence ends.");
  assert.equal(stepSaid(state, 2), "Step 2 of 3: the target is “she”. Its context is “.” on its right.");
  assert.equal(stepSaid({ ...state, leak: true }, 3), "Step 3 of 3: the target is “sang”. Its context is “she” on its " +
    "left, and “.” on its right. With the switch on, the query stream also sees the target itself.");
  assert.deepEqual([tellingStep(state.steps), tellingStep(state.steps.slice(0, 2))], [3, 2]);
});

test("all orders are told with the mean, the cheapest and the dearest, and the one exact value", () => {
  assert.deepEqual(spreadOf([2, 5, 1, 4]), { mean: 3, least: 2, most: 1, spread: 4 });
  const [model, best] = ordersSaid(state).map(plain);
  assert.equal(model, "In all 6 orders the loss of the model is 2.60 nats on average, from 2.25 nats (sang → she → .) " +
    "to 3.00 nats (she → . → sang). The spread of 0.75 nats shows that its predictions are inconsistent.");
  assert.match(best, /^The Bayes-optimal predictor has a loss of 2\.00 nats in every order: by the chain rule, .*\.$/);
  const same = { ...state, orders: { ...state.orders, model: Array(6).fill(2) } };
  assert.equal(plain(ordersSaid(same)[0]),
    "In all 6 orders the loss of the model is 2.00 nats, the same in every order: its predictions are consistent.");
  const drawn = { ...state, exact: null, why_not: "No.", orders: { ...state.orders, complete: false } };
  assert.match(ordersSaid(drawn)[0], /^In 120 random orders and yours, the loss of the model/);
  assert.equal(ordersSaid(drawn)[1], "No.");
  const one = { ...state, orders: { ...state.orders, model: [2], listed: [[0]] } };
  assert.equal(plain(ordersSaid(one)[0]), "In the only order the loss of the model is 2.00 nats.");
  const leaking = { ...state, leak: true, orders: { ...state.orders, leaking: [0.1, 0.2, 0.1, 0.1, 0.1, 0.1] } };
  assert.match(plain(ordersSaid(leaking)[0]), /the loss of the leaking model is 0\.12 nats on average.*sang\)\.$/);
  assert.equal(orderSaid(state.tokens, [2, 0]), ". → she");
});

test("a leak is told with its proof, and only what is below is called so", () => {
  const proof = { tried: 20, model: 0.4, leaking: 19.3 };
  const leaking = { ...state, leak: true, proof };
  assert.equal(plain(leakSaid(leaking)[0]), "The leaking model's loss on this sentence is 2.50 nats, compared with " +
    "2.00 nats for the Bayes-optimal predictor.");
  const below = { ...leaking, exact: 3 };
  assert.match(plain(leakSaid(below)[0]), /with 3\.00 nats for the .*: it is below the floor\.$/);
  assert.match(leakSaid(below)[1], /“\.”, the first target.*for 20 words substituted.*add up to 19\.30.*up to 0\.40/);
  assert.equal(plain(leakSaid({ ...leaking, exact: null })[0]),
    "The leaking model's loss on this sentence is 2.50 nats.");
});

test("many sentences are told beside the one", () => {
  const model = { nats: 4, error: 0.12, below: 7 };
  const tally = { sentences: 100, exact: 3.5, model, leaking: { nats: 0.02, error: 0.1, below: 100 } };
  const said = plain(tallySaid(tally, false));
  assert.match(said, /Over 100 sentences.* 3\.50 nats per sentence; that of the model is 4\.00 nats \(0\.50 ± 0\.12 higher\), and lower on 7 of/);
  assert.ok(!said.includes("leaking"));
  assert.match(plain(tallySaid(tally, true)), /the leaking model is 0\.02 nats \(3\.48 ± 0\.10 lower\), and lower on 100 of/);
  assert.equal(tallySaid(null, false), "");
});

test("masks stand as the sentence does, or as the order; then they are triangles", () => {
  assert.deepEqual(positionsOf(state, 0, false), { rows: [0, 1, 2, 3, 4], columns: [0, 1, 2, 3, 4] });
  assert.deepEqual(positionsOf(state, 1, true), { rows: [2, 0, 1], columns: [3, 4, 2, 0, 1] });
  for (const stream of [0, 1]) {
    const { rows, columns } = positionsOf(state, stream, true);
    const seen = causesOf(state.masks[stream], rows, columns, 5).map((cause) => cause > 0);
    const ahead = columns.length - rows.length;
    rows.forEach((_, q) => columns.forEach((_, k) =>
      assert.equal(seen[q * columns.length + k], k <= q + ahead - stream, `${stream} ${q} ${k}`)));
  }
});

test("a pair has its reason in either stream, and only words have a query", () => {
  const said = (stream, q, k) => reason(state, stream, { q, k })?.map(({ text }) => text).join("");
  assert.equal(said(0, 1, 1), "sang can attend to sang: sang comes before sang.");
  assert.equal(said(1, 1, 1), "sang cannot attend to sang: sang does not.");
  assert.equal(said(1, 1, 3), "sang can attend to [SEP]: [SEP] comes before sang.");
  assert.equal(said(1, 3, 3), undefined);
});

test("the axis shows all, is never too fine and never below nothing", () => {
  const wide = axisOf([2, 10]);
  assert.ok(wide.low < 2 && wide.low > 1 && wide.high > 10);
  const fine = axisOf([3, 3.0001]);
  assert.ok(fine.high - fine.low >= 0.5 && fine.low < 3 && fine.high > 3.0001);
  assert.equal(axisOf([0, 0.001]).low, 0);
});

test("dots stand upon each other, none hides another, and all within the height", () => {
  const x = (cost) => 100 * cost;
  const dots = stacked([1, 1.01, 1, 2], x, 3, 60);
  assert.deepEqual(dots.map((dot) => dot.y), [3, 9, 15, 3].map((y, i) => (i === 3 ? 3 : y)));
  assert.ok(dots.slice(0, 3).every((dot) => dot.x === dots[0].x) && Math.abs(dots[3].x - 200) <= 3);
  const many = stacked(Array(120).fill(1), x, 3, 60);
  assert.ok(Math.max(...many.map((dot) => dot.y)) <= 60 && new Set(many.map((dot) => dot.y)).size === 120);
});

test("the nearest dot is found, and keys walk them from the cheapest to the dearest", () => {
  const dots = [{ x: 10, y: 10 }, { x: 20, y: 10 }];
  assert.deepEqual([nearest(dots, 11, 12), nearest(dots, 16, 9), nearest(dots, 100, 100)], [0, 1, -1]);
  assert.deepEqual(["ArrowLeft", "ArrowRight", "PageUp", "Home", "End", "Tab"].map((key) => dotAfter(key, 5, 12)),
    [4, 6, 11, 0, 11, null]);
});
