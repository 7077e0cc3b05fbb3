import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { entropyOf, softmax } from "../../plmlab/labs/shared/softmax.js";
import { finding, powerText } from "../../plmlab/labs/softmax/lab.js";

const cases = JSON.parse(readFileSync(new URL("softmax_fixtures.json", import.meta.url), "utf8"));

test("shares and entropy are torch's", () => {
  for (const { scores, temperature, shares, entropy } of cases) {
    const found = softmax(scores.map((score) => score / temperature));
    found.forEach((share, i) => assert.ok(Math.abs(share - shares[i]) < 1e-12));
    assert.ok(Math.abs(entropyOf(found) - entropy) < 1e-9);
  }
});

test("scores far beyond what e^s can hold have shares all the same", () => {
  assert.deepEqual(softmax([5000, 5000]), [0.5, 0.5]);
  assert.deepEqual(softmax([5000, 0]), [1, 0]);
});

test("the finding names the two highest and what their difference makes of them", () => {
  assert.equal(finding([["mat", 2], ["rug", 1.5], ["moon", -1]], 1),
    "“mat” has probability 0.60: 1.65 times that of “rug”, which is e to the (2 − 1.5) ÷ 1. The perplexity is 2.18, " +
    "the number of equally likely tokens with the same entropy.");
  assert.match(finding([["a", -3], ["b", -1]], 0.5), /^“b” has probability 0\.98: 54\.6 times .* e to the \(−1 − \(−3\)\) ÷ 0\.5\./);
});

test("powers are numbers while they can be read", () => {
  assert.deepEqual([0, -1, 14, 100].map(powerText), ["1", "0.368", "1,202,604", "e^100"]);
});
