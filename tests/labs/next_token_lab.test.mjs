import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as softmax from "../../plmlab/labs/shared/softmax.js";
import * as heat from "../../plmlab/labs/shared/heat.js";
import * as maths from "../../plmlab/labs/next_token/maths.js";
import * as bars from "../../plmlab/labs/next_token/bars.js";
import * as logitLens from "../../plmlab/labs/next_token/lens.js";
import * as nextTokenLab from "../../plmlab/labs/next_token/lab.js";

const n = { ...softmax, ...heat, ...maths, ...bars, ...logitLens, ...nextTokenLab };
const cases = JSON.parse(readFileSync(new URL("next_token_fixtures.json", import.meta.url), "utf8"));

const near = (a, b, within = 1e-12) => assert.ok(Math.abs(a - b) <= within, `${a} is not ${b}`);

test("the distribution is that of plmlab.decode", () => {
  for (const { logits, chances, ...settings } of cases) {
    const found = n.distribution(Float32Array.from(logits), settings);
    assert.equal(found.chances.length, chances.length);
    chances.forEach((p, i) => near(found.chances[i], p));
    assert.ok(found.chances.every((p, i) => (p > 0) === (chances[i] > 0)), JSON.stringify(settings));
    assert.ok(found.chances.subarray(found.kept).every((p) => p === 0));
    near(found.uncut.reduce((a, b) => a + b), 1, 1e-9);
  }
});

test("the mass that is kept is that of the likeliest tokens before the cut", () => {
  const logits = [0.5, 0.3, 0.15, 0.05].map(Math.log);
  const { kept, mass, chances, uncut } = n.distribution(logits, { topK: 2 });
  assert.equal(kept, 2);
  near(mass, 0.8);
  near(chances[0], 0.5 / 0.8);
  near(uncut[2], 0.15);
  assert.equal(n.distribution(logits, { topP: 0.79 }).kept, 2);
  assert.equal(n.distribution(logits, { topP: 0.81 }).kept, 3);
  assert.equal(n.distribution(logits).kept, 4);
});

test("entropy, choices and divergence", () => {
  near(n.entropyOf([0.25, 0.25, 0.25, 0.25]), Math.log(4));
  assert.equal(n.entropyOf([1, 0]), 0);
  assert.equal(n.choices(Math.log(4)), "4.00");
  assert.equal(n.choices(Math.log(42)), "42.0");
  assert.equal(n.choices(Math.log(1234)), "1,234");
  near(n.divergence({ p: [0.5, 0.5], places: [2, 0] }, [0.25, 0.5, 0.25]), Math.log(2));
  assert.equal(n.divergence({ p: [1], places: [1] }, [1, 0]), Infinity);
  assert.equal(n.apartText(Infinity), "∞");
  assert.equal(n.apartText(0.0312), "0.031 nats");
  assert.equal(n.apartText(-1e-17), "0 nats");
});

test("a chance is never rounded to what it is not", () => {
  for (const [p, said] of [[0, "0"], [1, "1"], [0.99999, "> 0.999"], [0.9961, "0.996"], [0.5, "0.50"], [0.03, "0.030"],
    [0.00042, "0.00042"], [1e-9, "< 0.0001"]]) assert.equal(n.chance(p), said);
});

test("a scale holds its longest bar", () => {
  for (const [longest, end] of [[0.003, 0.01], [0.05, 0.05], [0.051, 0.1], [0.5, 0.5], [0.51, 1], [1, 1]]) {
    assert.equal(n.scaleEnd(longest), end);
  }
});

test("the question's answer", () => {
  const logits = [0.5, 0.5].map(Math.log);
  assert.match(n.temperatures(logits), /^2\.00 at temperature 2, and 2\.00 at ½\./);
  const said = n.temperatures([2, 0, 0]);
  const [hot, cold] = said.match(/[\d.]+(?= at)/g).map(Number);
  assert.ok(hot > cold && cold > 1);
});

test("the step in words", () => {
  const logits = [0.5, 0.3, 0.15, 0.05].map(Math.log);
  const all = n.stepSaid(n.distribution(logits), "is", 4);
  assert.match(all, /is uncertain: p\(“is”\) = 0\.50, perplexity 3\.1\d\.$/);
  assert.match(n.stepSaid(n.distribution(logits, { topK: 2 }), "is", 4), /Kept: 2 tokens of 4, with 0\.80 of the probability mass/);
  assert.match(n.stepSaid(n.distribution(logits, { topK: 1 }), "is", 4), /nearly certain.*Kept: 1 token of 4/);
});

test("bars: what is cut keeps its length, and the rest is what is left", () => {
  const logits = [0.5, 0.3, 0.15, 0.05].map(Math.log);
  const rows = [{ place: 0 }, { place: 1 }];
  const all = n.shares(rows, n.distribution(logits));
  near(all.rest.p, 0.2);
  assert.equal(all.rest.cut, false);
  const one = n.shares(rows, n.distribution(logits, { topK: 1 }));
  assert.deepEqual(one.shown.map(({ cut }) => cut), [false, true]);
  near(one.shown[0].p, 1);
  near(one.shown[1].p, 0.3);
  assert.ok(one.rest.cut);
  near(one.rest.p, 0.2);
  const three = n.shares(rows, n.distribution(logits, { topK: 3 }));
  assert.equal(three.rest.cut, false);
  near(three.rest.p, 0.15 / 0.95);
});

test("the list of bars by keys", () => {
  assert.deepEqual(["ArrowDown", "ArrowUp", "Home", "End", "x"].map((key) => n.along(key, 3, 12)), [4, 2, 0, 11, null]);
  assert.equal(n.along("ArrowDown", 11, 12), 11);
});

const cell = (token, p, rank, last = 0.1) => ({ likeliest: [[token, p]], rank, p: last });
const lens = {
  layers: ["embedding", "layer 0", "layer 1", "layer 2"], tokens: ["a", "b"], names: ["a", "b"],
  columns: [[cell("a", 0.9, 7), cell("x", 0.4, 2, 0.3), cell("y", 0.5, 1, 0.5), cell("y", 0.8, 1, 0.8)],
    [cell("z", 0.2, 1), cell("y", 0.4, 2), cell("z", 0.5, 1), cell("z", 0.8, 1)]],
};
const said = (row, column) => n.lensSaid(lens, { row, column }).map(({ text }) => text).join("");

test("from which layer on the answer stands", () => {
  assert.deepEqual(lens.columns.map(n.settledAt), [2, 2]);
  assert.equal(n.lensFinding(lens, 0), "After “a” the prediction is “y”: from layer 1 on");
  const flat = { ...lens, columns: [[cell("y", 0.3, 1), cell("y", 0.5, 1)], [cell("x", 0.3, 2), cell("y", 0.5, 1)]],
    layers: ["embedding", "layer 0"] };
  assert.match(n.lensFinding(flat, 0), /already in the embedding$/);
  assert.match(n.lensFinding(flat, 1), /only in the last layer, layer 0$/);
});

test("what a cell says, and what its layer changed", () => {
  assert.match(said(0, 0), /^After a, the embedding would predict a with probability 0\.90: input and output embeddings are tied/);
  assert.match(said(0, 0), /final prediction, y with 0\.80, has rank 7 here, with probability 0\.10\.$/);
  assert.match(said(1, 0), /layer 0 would predict x with probability 0\.40; the embedding still predicted a with 0\.90\./);
  assert.match(said(1, 0), / has rank 2 here \(7 one layer below\), with probability 0\.30\.$/);
  assert.match(said(2, 0), /layer 1 would predict y with probability 0\.50; layer 0 still predicted x .* It stays the top prediction/);
  assert.equal(said(3, 0), "After a, layer 2 predicts y with probability 0.80; so did layer 1, with 0.50. This is the model's prediction.");
  assert.match(said(0, 1), /depends only on the token and its position.*move away from it and then return/);
});

test("text on a shade has a contrast of 4.5 or more", () => {
  const light = (rgb) => {
    const [r, g, b] = rgb.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const colours = n.ramp(n.sequential());
  for (let p = 0; p <= 1; p += 1 / 255) {
    const { paper, ink } = n.shaded(p, colours);
    const [one, other] = [light(paper.match(/\d+/g).map(Number)), ink === "#fff" ? 1 : 0];
    assert.ok((Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05) >= 4.5, paper);
  }
});

test("a slider says what is set", () => {
  assert.equal(n.settingText("top_k", null), "all");
  assert.equal(n.settingText("top_p", 1), "all");
  assert.equal(n.settingText("temperature", 1), "1");
  assert.equal(n.settingText("top_k", 10_000), "10,000");
});
