import assert from "node:assert/strict";
import { test } from "node:test";
import { rowsOf, shade } from "../../plmlab/labs/memory/map.js";
import { MEAN, MOST, looked, runs, scoreScale, waterfall } from "../../plmlab/labs/memory/numbers.js";
import { bandTitle } from "../../plmlab/labs/memory/ribbon.js";
import {
  answerSaid, changeSaid, cutsWith, effectOf, isChanged, isCut, reachSaid, reasonSaid, tallySaid, way, weightSaid,
} from "../../plmlab/labs/memory/messages.js";

const text = (pieces) => pieces.map((piece) => piece.text).join("");
const answer = (p, first, rank = first === "crane" ? 1 : 7) => ({ p, rank, likeliest: [[first, 0.5], ["boat", 0.1]] });
const state = {
  tokens: ["was", "crane", ".", "she", "left", "what", "?", "crane"],
  names: ["was", "crane (position 1)", ".", "she", "left", "what", "?", "crane (position 7)"],
  position: 6, oldest: 2, segment_start: 4, segment: 2, word: "crane", given: true, fact: 1, without: "",
  zones: ["forgotten", "forgotten", "memory", "memory", "segment", "segment", "segment", "later"],
  rule_ids: [-2000, -2000, 3, 3, 2, 2, 2, -1],
  sentences: { "-2000": "{key} was read too long ago.", 3: "{key} is remembered {steps} positions later by {query}.",
    2: "{key} was read before.", "-1": "{key} comes later." },
  cut: [false, false, false, false, false],
  reach: { level: [2, 2, 1, 1, 1, 1, 0, -1], via: [2, 3, 6, 6, 6, 6, -1, -1], cut: [2, 2, 1, 1, 1, 1, 0, -1] },
  effects: { positions: [[2, 3, 0.9], [3, 5, 0.2], [5, 6, 0.8]], segments: [[2, 4, 0.1]] },
  answers: [answer(0.93, "crane"), answer(0.93, "crane")],
};

test("a way leads from a position to the asked one, or nowhere", () => {
  assert.deepEqual(way(state, 1), [1, 3, 6]);
  assert.deepEqual(way(state, 6), [6]);
  assert.deepEqual(way(state, 7), []);
});

test("what a layer can have heard is told with the way that it took", () => {
  assert.equal(text(reachSaid(state, 1, 1)), "“crane (position 1)” can reach layer 1 of “?”: “?” attends to “she” " +
    "in layer 1, where “she” attended to “crane (position 1)” in layer 0.");
  assert.equal(text(reachSaid(state, 1, 3)), "“she” can reach layer 1 of “?”: “?” attends to “she” in layer 0.");
  assert.match(text(reachSaid(state, 0, 1)),
    / cannot reach layer 0 .*no path of 1 layer.*layer 1 is the first that it can reach\.$/);
  assert.match(text(reachSaid(state, 0, 6)), /^Layer 0 of “\?” has its own word in its input/);
  assert.match(text(reachSaid(state, 1, 7)), /comes later: it is not in the receptive field of any layer/);
  const closed = { ...state, reach: { ...state.reach, cut: [-1, -1, 2, 1, 1, 1, 0, -1] } };
  assert.match(text(reachSaid(closed, 1, 1)), /Your masking blocks every path\.$/);
  assert.match(text(reachSaid(closed, 1, 2)), /Your masking leaves a longer path, to layer 1\.$/);
});

test("why a position may be looked at, in the words of the mask", () => {
  assert.equal(text(reasonSaid(state, 3)), "“she” is remembered 3 positions later by “?”. It is 3 positions back.");
  assert.equal(text(reasonSaid(state, 7)), "“crane (position 7)” comes later.");
  assert.equal(text(reasonSaid(state, 6)), "“?” is the query position: the next word of the text is “crane”.");
  assert.match(text(reasonSaid({ ...state, given: false }, 6)),
    /nothing follows it in the text, and the model’s most probable word is “crane”\.$/);
  const cut = { ...state, cut: [false, true, false, false, true] };
  assert.match(text(reasonSaid(cut, 3)), /You masked it out: no position of this segment attends to it\.$/);
  assert.deepEqual([3, 2, 6, 0].map((position) => isCut(cut, position)), [true, false, false, false]);
  assert.deepEqual([cut, state, { ...state, without: "content" }].map(isChanged), [true, false, true]);
});

test("a word of the reader's stays a piece of its own", () => {
  const rude = { ...state, names: state.names.map((name, i) => (i === 3 ? "{query}<img>" : name)) };
  const pieces = reasonSaid(rude, 3);
  assert.deepEqual(pieces.filter(({ role }) => role).map((piece) => piece.text), ["“{query}<img>”", "“?”"]);
});

test("beside a weight stands what its loss does", () => {
  assert.equal(text(weightSaid(state, 2, [[0, 0.25], [1, 0]], "head 3")), " Attention weight: 0.25 in " +
    "layer 0, 0.00 in layer 1 (head 3). Masking it out changes p(“crane”) from 0.93 to 0.90.");
  assert.match(text(weightSaid(state, 4, [[0, 0.1]], "mean")), /Masking positions 3 to 4 \(as a group\) out .* 0\.20/);
  assert.deepEqual(weightSaid(state, 0, [[0, 0]], "mean"), []);
  assert.equal(effectOf(state, 6), undefined);
});

test("which answer fails", () => {
  const said = (now, then, more = { without: "content" }) => answerSaid({ ...state, answers: [now, then], ...more });
  assert.equal(answerSaid(state), "The model assigns “crane” probability 0.93 (rank 1).");
  assert.equal(said(answer(0.01, "boat"), answer(0.01, "boat"), {}),
    "The model assigns “crane” probability 0.010 (rank 7); its top prediction is “boat”.");
  assert.equal(said(answer(0.93, "crane"), answer(0.02, "boat")),
    "The answer is lost: p(“crane”) falls from 0.93 to 0.020; the model predicts “boat” instead.");
  const still = said(answer(0.93, "crane"), answer(0.91, "crane"));
  assert.equal(still, "Little changes: p(“crane”) goes from 0.93 to 0.91.");
  assert.match(said(answer(0.2, "boat"), answer(0.6, "crane")), /rises from 0\.20 to 0\.60; it is the top prediction/);
  assert.match(said(answer(0.3, "crane"), answer(0.1, "boat")), /falls from 0\.30 to 0\.10; the top prediction is “b/);
});

test("a click cuts, and another mends", () => {
  assert.deepEqual(cutsWith([], "before", 5, 2), [[0, 5]]);
  assert.deepEqual(cutsWith([[0, 5], [7, 8]], "before", 3, 2), [[7, 8], [0, 3]]);
  assert.deepEqual(cutsWith([[0, 5]], "before", 5, 2), []);
  assert.deepEqual(cutsWith([], "before", 0, 2), []);
  assert.deepEqual(cutsWith([[0, 1]], "position", 4, 2), [[0, 1], [4, 5]]);
  assert.deepEqual(cutsWith([[0, 1]], "before", 4, 2), [[0, 1], [0, 4]]);
  assert.deepEqual(cutsWith([[4, 6]], "segment", 5, 2), []);
  assert.equal(changeSaid({ ...state, without: "unshifted" }, [[0, 5], [1, 2], [2, 4]]),
    "all before position 5 masked out; “crane (position 1)” masked out; positions 2 to 3 masked out; " +
    "distances not shifted by the memory");
});

test("the tally is told, and what is not counted is not", () => {
  const tally = { places: { segment: [0, 0], memory: [90, 100], beyond: [3, 50] }, cut: [45, 2, 50] };
  assert.equal(tallySaid(tally), "One text proves nothing. Over all questions of the given texts, the correct word " +
    "is the top prediction for 90 of 100 questions with the fact in the memory, 3 of 50 questions with the fact " +
    "beyond it. Among 50 questions within one segment and with the fact in the memory, 45 are answered correctly, and 2 once every " +
    "occurrence of the word is masked out.");
  assert.match(tallySaid({ ...tally, cut: [45, 30, 50] }),
    /Positions in the memory that attended to the word also carry the information\.$/);
  assert.equal(tallySaid({}), "");
});

test("numbers are read by way, layer, head, position and term", () => {
  const numbers = (count) => new DataView(Float32Array.from({ length: count }, (_, i) => i / 64).buffer);
  const sent = { ...state, position: 3, weights: numbers(2 * 2 * 2 * 2), terms: numbers(2 * 2 * 2 * 2 * 4) };
  const read = looked(sent, 2, 2);
  assert.equal(read.weight(1, 0, 1, 3), 11 / 64);
  assert.equal(read.weight(0, 1, MEAN, 2), (4 + 6) / 2 / 64);
  assert.deepEqual([read.weight(0, 0, 0, 1), read.weight(0, 0, 0, 4)], [0, 0]);
  assert.deepEqual(read.terms(1, 0, 1, 3), [44, 45, 46, 47].map((i) => i / 64));
  assert.equal(read.terms(0, 0, 0, 1), null);
  assert.deepEqual(read.most(MOST, MEAN, 2), { layer: 1, head: 1, weight: 6 / 64 });
  assert.deepEqual(read.most(0, MEAN, 3), { layer: 0, head: 1, weight: 3 / 64 });
  assert.deepEqual(read.most(0, 0, 3), { layer: 0, head: 0, weight: 1 / 64 });
});

test("four terms stand one upon the other, on one scale for all keys", () => {
  assert.deepEqual(waterfall([1, -3, 0.5, 2]), { sum: 0.5,
    steps: [{ from: 0, to: 1 }, { from: 1, to: -2 }, { from: -2, to: -1.5 }, { from: -1.5, to: 0.5 }] });
  assert.equal(scoreScale([[1, -3, 0.5, 2], [-40, 1, 1, 1], [2, 2.2, -1, 0]]), 5);
  assert.equal(scoreScale([[-4, 0, 0, 0]]), 1);
});

test("rows, stretches, shades and bands", () => {
  const kinds = rowsOf(2, false).rows.map(({ kind, layer }) => `${kind}${layer ?? ""}`);
  assert.deepEqual(kinds, ["heard1", "heard0", "zone", "looked1", "looked0", "effect"]);
  assert.equal(rowsOf(2, true).rows.filter(({ kind }) => kind === "looked").length, 4);
  assert.deepEqual(runs(["a", "a", "b"]), [{ from: 0, to: 2, value: "a" }, { from: 2, to: 3, value: "b" }]);
  assert.deepEqual([0, 0.25, 1, 1.0001].map(shade), [0, 0.5, 1, 1]);
  assert.deepEqual([["memory", "memory"], ["forgotten", "memory"], ["later"], ["segment", "later"], ["forgotten"]]
    .map(bandTitle), ["in the memory", "partly in the memory", "later", "current segment", "forgotten"]);
});
