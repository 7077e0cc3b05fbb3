// How RAG generates an answer, as the Retrieval Lab draws it: the mixtures of both forms, and what is said of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { formsOf, formsSaid, mostDifferent, tokenSaid } from "../../plmlab/labs/retrieval/forms.js";
import { cellsOf } from "../../plmlab/labs/retrieval/layout.js";
import { answerSaid, changedSaid, documentSaid } from "../../plmlab/labs/retrieval/messages.js";

const near = (one, other) => assert.ok(Math.abs(one - other) < 1e-9, `${one} is not ${other}`);
const plain = (text) => text.replaceAll("\u00a0", " ");
/** Two documents with p(z|x) = ½. "x y": A predicts .8 and .1, B .2 and .9, and both [END] with 1. By hand, RAG-Sequence
    ½·.08 + ½·.18 = .13, RAG-Token .5·.5 = .25. "x": A .8·.5, B .2·.1; [END] after it. */
const weighted = [[0.5, 0.5], [0.8, 0.2], [0.08 / 0.26, 0.18 / 0.26]];
const tokens = (texts, predictions) => texts.map((text, i) => ({ text, predictions: predictions[i], weights: weighted[i] }));
const state = {
  documents: [{ number: 4, title: "Ada", prior: 0.5, likelihoods: [0.08, 0.4], pulls: [-0.19, 0.45] },
    { number: 7, title: "Bo", prior: 0.5, likelihoods: [0.18, 0.02], pulls: [0.19, -0.45] }],
  letters: { 4: "A", 7: "B" }, before: null, kind: "generated",
  answers: [{ text: "x y", p: 0.13, before: null }, { text: "x", p: 0.21, before: null }],
  generated: [{ p: 0.25, before: null, tokens: tokens(["x", "y", "[END]"], [[0.8, 0.2], [0.1, 0.9], [1, 1]]) },
    { p: 0.15, before: null, tokens: tokens(["x", "[END]"], [[0.8, 0.2], [0.5, 0.1]]) }],
};

test("the bars of a token add up to its probability, and the tokens multiply to p(y|x)", () => {
  for (const a of [0, 1]) {
    for (const { p, tokens: all } of formsOf(state, a)) {
      near(all.reduce((product, token) => product * token.p, 1), p);
      for (const { weights, predictions, parts, p: one } of all) {
        near(weights.reduce((sum, weight) => sum + weight, 0), 1);
        near(cellsOf({ likelihoods: parts }).reduce((sum, { height }) => sum + height, 0), one);
        parts.forEach((part, z) => near(part, weights[z] * predictions[z]));
      }
    }
  }
  const [sequence, token] = formsOf(state, 0);
  near(sequence.tokens[1].p, 0.8 * 0.1 + 0.2 * 0.9);
  near(token.tokens[1].p, 0.5);
  assert.deepEqual([sequence.best, token.best], [[1, 0.21], [0, 0.25]]);
});

test("the token that is shown first is the one on which the forms differ most", () => {
  assert.equal(mostDifferent(formsOf(state, 0)), 1);
  const never = { tokens: [{ p: 0 }, { p: 0.5 }] };
  assert.equal(mostDifferent([never, never]), 0);
});

test("what is said of both forms and of a token", () => {
  const forms = formsOf(state, 0);
  assert.equal(plain(formsSaid(state, 0, forms)), "“x y” has p(y|x) = 13 % under RAG-Sequence and 25 % under RAG-Token. " +
    "The most probable answer is “x” (21 %) under RAG-Sequence and “x y” (25 %) under RAG-Token.");
  const agreed = { ...state, answers: [{ ...state.answers[0], p: 0.3 }, state.answers[1]] };
  assert.match(formsSaid(agreed, 0, formsOf(agreed, 0)), /The most probable answer is “x y” under both\.$/);
  assert.match(plain(tokenSaid(state, forms, 0)), /^Token 1, “x”: p = 50 % under RAG-Sequence, 50 % .* no token has been generated yet/);
  assert.equal(plain(tokenSaid(state, forms, 1)), "Token 2, “y”: p = 26 % under RAG-Sequence, 50 % under RAG-Token. After “x”, " +
    "RAG-Sequence’s weight of A, Ada is 80 % instead of 50 %: this document predicts these tokens with a higher probability " +
    "than the documents on average. RAG-Token still uses p(z|x).");
  assert.match(plain(tokenSaid(state, forms, 2)), /After “x y”, .* of A, Ada is 31 % instead of 50 %: .* a lower probability/);
  const even = { tokens: [{ text: "x", p: 1 }, { text: "y", p: 1, weights: [0.5, 0.5] }] };
  assert.match(tokenSaid(state, [even, even], 1), /After “x”, RAG-Sequence’s weights are still close to p\(z\|x\)/);
});

test("an answer that is generated is not said to be a masked span", () => {
  assert.equal(plain(answerSaid(state, 1)), "The selected answer is “x” with p(y|x) = 21 % under RAG-Sequence. 95.2 % of this comes from A, Ada.");
  assert.match(documentSaid(state, state.documents[0], 1), /given this document, the generator predicts “x”/);
  const edited = { ...state, answers: state.answers.map((one) => ({ ...one, before: 0.1 + one.p / 10 })),
    generated: state.generated.map((one, i) => ({ ...one, before: [0.1, 0.4][i] })), before: [{ ...state.documents[0], likelihoods: [0.9, 0.1] }] };
  assert.match(plain(changedSaid(edited, 0)), /^RAG-Sequence: “x”: 12 → 21 %\. RAG-Token: It was “x” \(40 %\); now it is “x y” \(25 %\)\. /);
  assert.match(changedSaid(edited, 0), /the generator’s prediction has changed, not the retrieval/);
});
