import assert from "node:assert/strict";
import { test } from "node:test";
import { readings } from "../../plmlab/labs/gates/lab.js";
import { scaleOf, scoreText, stretches } from "../../plmlab/labs/gates/map.js";
import {
  cellSaid, covers, finding, holdText, holdsWith, nextSaid, scored, yardsticks,
} from "../../plmlab/labs/gates/messages.js";

const told = (cell) => cellSaid(cell).map(({ text }) => text).join("");
const unit = { layer: 1, unit: 17 };
const at = { memory: 0.5, before: 0.8, input: 0.25, forget: 0.5, output: 0.9, candidate: 0.4 };

test("a score has two decimals, or as many as keep it from looking perfect", () => {
  assert.deepEqual([0.954, 0.9991, 0.99996, 1, -0.2].map(scored), ["0.95", "0.999", "0.999", "1.00", "−0.20"]);
});

test("a cell is told with the sum that made it", () => {
  const said = told({ unit, step: 3, name: "keys", drawn: "memory", at, holds: [] });
  assert.equal(said, "Layer 1, unit 17: its cell state is 0.50 after “keys”. It keeps 50 % of its previous state " +
    "0.80 (forget gate 0.50) and adds 25 % of the candidate 0.40 (input gate 0.25), i.e. 0.10. It outputs 90 % of " +
    "tanh c (output gate 0.90).");
  const gate = told({ unit, step: 3, name: "keys", drawn: "forget", at, holds: [] });
  assert.match(gate, /^Layer 1, unit 17: its forget gate is 0\.50 after “keys”\..*which gives a cell state of 0\.50\./);
  assert.match(told({ unit, step: 0, name: "a", drawn: "memory", at, holds: [] }), /It starts from 0 and adds/);
});

test("what the reader's word is keeps a piece of its own", () => {
  const pieces = cellSaid({ unit, step: 1, name: "<b>", drawn: "memory", at, holds: [] });
  assert.deepEqual(pieces.filter(({ role }) => role), [{ text: "<b>", role: "word" }]);
});

test("what is held is told where it acts, and what would be without it", () => {
  const forget = { point: "forget", layer: 1, unit: 17, value: 0, start: 3 };
  const written = { point: "memory", layer: 1, unit: 17, value: 3, start: 3 };
  const say = (step, holds, was) => told({ unit, step, name: "keys", drawn: "memory", at: { ...at, was }, holds });
  assert.match(say(3, [forget], 0.9),
    /forget gate 0\.50, clamped\).*Without clamping, its cell state would be 0\.90\.$/);
  assert.doesNotMatch(say(2, [forget], 0.5), /clamped|Without/);
  assert.match(say(3, [written]), /is 0\.50 \(clamped\) after “keys”\. This cell state was set/);
  assert.doesNotMatch(say(4, [written]), /set by hand/);
  assert.deepEqual([2, 3, 4].map((step) => covers(forget, step)), [false, true, true]);
  assert.deepEqual([2, 3, 4].map((step) => covers(written, step)), [false, true, false]);
});

test("a hold more takes the place of one of the same gate, and of no other", () => {
  const shut = { point: "forget", layer: 0, unit: 2, value: 0, start: 3 };
  const open = { ...shut, value: 1, start: 1 };
  const other = { ...shut, unit: 4 };
  assert.deepEqual(holdsWith([shut, other], open), [other, open]);
  const write = { point: "memory", layer: 0, unit: 2, value: 3, start: 2 };
  const later = { ...write, start: 4 };
  assert.deepEqual(holdsWith([write], later), [write, later]);
  assert.deepEqual(holdsWith([write, later], { ...write, value: -3 }), [later, { ...write, value: -3 }]);
  assert.deepEqual(holdsWith([shut], write), [shut, write]);
});

test("holds in words", () => {
  const names = ["[START]", "the", "keys"];
  const text = (more) => holdText({ point: "forget", layer: 0, unit: 2, value: 0, start: 2, ...more }, names);
  assert.equal(text({}), "layer 0, unit 2: forget gate closed from “keys” on");
  assert.equal(text({ value: 1, start: 0 }), "layer 0, unit 2: forget gate open throughout");
  assert.equal(text({ value: 0.25, point: "input" }), "layer 0, unit 2: input gate at 0.25 from “keys” on");
  assert.equal(text({ point: "memory", value: -3 }), "layer 0, unit 2: cell state set to −3.00 after “keys”");
  assert.equal(text({ start: 9 }), "layer 0, unit 2: forget gate closed from step 9 on");
});

const figures = (best, untrained, shuffled, baseline) =>
  ({ number: { measure: "AUC", best, untrained, shuffled, baseline, by: "the last noun" } });

test("the finding says what the figures do", () => {
  assert.equal(finding("number", figures(0.95, 0.7, 0.5, 0.88)),
    "One unit encodes the number of the subject better than the last noun does: AUC 0.95 against 0.88");
  assert.match(finding("number", figures(0.85, 0.7, 0.5, 0.88)), /^Some units encode .* none as well as the last noun:/);
  assert.match(finding("number", figures(0.72, 0.7, 0.5, 0.6)), /^No unit encodes .* AUC 0\.72 against 0\.70$/);
  assert.match(finding("number", figures(0.72, 0.5, 0.7, 0.6)), /^No unit encodes/);
  assert.match(finding("moving", {}), /varies most/);
  const { rows, note } = yardsticks("number", figures(0.95, 0.7, 0.5, 0.88));
  assert.deepEqual(rows.map(([, figure]) => figure), [0.95, 0.7, 0.5, 0.88]);
  assert.match(rows[3][0], /no network: the last noun/);
  assert.match(note, /0\.5 is chance level.*↑ higher means plural, ↓ higher means singular/);
});

const next = (rows, verbs, control) => ({ rows, moved: { verbs, control },
  groups: { singular: [0.9, 0.4, 1], plural: [0.05, 0.5, 0], control: [0.05, 0.1, 0] } });

test("the next word: first without holds, then what moved, and whether it was the verb", () => {
  const still = [["is", 0.9, 0.9, 1], ["are", 0.05, 0.05, 0]];
  assert.equal(nextSaid(next(still, 0, 0), "chairs", false),
    "After “chairs” the top prediction is “is”, with probability 0.90.");
  assert.match(nextSaid(next(still, 0.001, 0.002), "chairs", true), /^No group changes/);
  const moved = [["is", 0.9, 0.4, 1], ["are", 0.05, 0.5, 0]];
  const said = nextSaid(next(moved, 0.48, 0.02), "chairs", true);
  assert.match(said,
    /^p\(“is”\) falls from 0\.90 to 0\.40, and “are” is now the top prediction\. Total .* 0\.48 .* 0\.02 among the co/);
  assert.match(said, /affects the verb and little else\.$/);
  assert.match(nextSaid(next(moved, 0.2, 0.1), "chairs", true), /and other words too\.$/);
  assert.match(nextSaid(next(moved, 0.1, 0.2), "chairs", true), /other words more than the verb\.$/);
});

test("stretches of labels, with nothing where there is no label", () => {
  assert.deepEqual(stretches([null, "sg", "sg", "pl", null, "pl"]), [{ from: 1, to: 3, label: "sg" },
    { from: 3, to: 4, label: "pl" }, { from: 5, to: 6, label: "pl" }]);
  assert.deepEqual(stretches([false, true, true]), [{ from: 1, to: 3, label: true }]);
  assert.deepEqual(stretches([null, false]), []);
});

test("scales and scores", () => {
  assert.deepEqual(["memory", "candidate", "forget"].map((drawn) => scaleOf(drawn, [0.5, -1]).low), [-2, -1, 0]);
  assert.deepEqual(scaleOf("memory", [1, -2, 0, 9]).marks, ["−2 or less", "0", "2 or more"]);
  assert.equal(scaleOf("memory", [1, -4, 9, -10]).high, 10);
  assert.equal(scaleOf("memory", [1, -3, 2, -10]).high, 3);
  assert.equal(scaleOf("memory", [99, 99]).high, 50);
  assert.equal(scoreText({ scores: { number: [0.954, true] } }, "number"), "0.95 ↑");
  assert.equal(scoreText({ scores: { number: [0.7, false] } }, "number"), "0.70 ↓");
  assert.equal(scoreText({ scores: {} }, "moving", 3.214), "3.21");
});

test("what Python sends is read by unit and position; how far a memory moves does not hang on what is held", () => {
  const sent = (numbers) => new DataView(Float32Array.from(numbers).buffer);
  const points = ["memory", "input", "forget", "output", "candidate"];
  const values = Object.fromEntries(points.map((point, i) => [point, sent([0, 1, 2, 3, 4, 5].map((x) => x + 10 * i))]));
  const state = { tokens: ["a", "b", "c"], values, before: null };
  const read = readings(state);
  assert.equal(read.at("memory", 1, 0), 3);
  assert.equal(read.at("candidate", 1, 2), 45);
  assert.equal(read.was(1, 0), undefined);
  assert.equal(read.range(1), 2);
  const held = readings({ ...state, before: sent([0, 0, 9, 1, 1, 1]) });
  assert.deepEqual([held.was(0, 2), held.range(0), held.range(1)], [9, 9, 0]);
});
