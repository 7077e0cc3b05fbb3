// The Cognitive Graph Lab's pure functions, on what Python says of small graphs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { rowsOf } from "../../plmlab/labs/cognitive_graph/choice.js";
import { marksOf } from "../../plmlab/labs/cognitive_graph/details.js";
import { pairSaid, tagsOf, widthOf } from "../../plmlab/labs/cognitive_graph/graph.js";
import { carried, withOne } from "../../plmlab/labs/cognitive_graph/lab.js";
import { HIGH, drawn, layoutOf, lineOf, nodeAfter } from "../../plmlab/labs/cognitive_graph/layout.js";
import {
  answerSaid, comparedSaid, edgeSaid, effectSaid, goldCounts, goldSaid, guessOf, nodeSaid, stepSaid,
  verdictOf,
} from "../../plmlab/labs/cognitive_graph/messages.js";
import { shortPercent } from "../../plmlab/labs/shared/words.js";

const cases = JSON.parse(readFileSync(new URL("cognitive_graph_fixtures.json", import.meta.url), "utf8"));
const [film, owner, which, yes, cut] = cases.map(({ state }) => state);
const of = (state, name) => state.nodes.findIndex((node) => node.name === name);
const plain = (text) => text.replaceAll("\u00a0", " ");
const line = (state, from, to) => state.edges.find(({ source, target }) => source === of(state, from) && target === of(state, to));

/** Three columns of six, and every edge that there can be. */
const full = Array.from({ length: 18 }, (_, n) => ({ column: Math.floor(n / 6), row: n % 6 }));

/** Points along a path of M, C, H and V. */
function pointsOf(d) {
  const found = [];
  let [x, y] = [0, 0];
  for (const [, letter, rest] of d.matchAll(/([MCHV])([^MCHV]*)/g)) {
    const numbers = rest.trim().split(/\s+/).map(Number);
    const ends = { M: () => [numbers], H: () => [[x, y], [numbers[0], y]], V: () => [[x, y], [x, numbers[0]]],
      C: () => [[x, y], numbers.slice(0, 2), numbers.slice(2, 4), numbers.slice(4)] }[letter]();
    for (let i = 0; i <= 50; i++) {
      const t = i / 50;
      let level = ends;
      while (level.length > 1) level = level.slice(1).map((p, j) => [0, 1].map((k) => (1 - t) * level[j][k] + t * p[k]));
      found.push(level[0]);
    }
    [x, y] = ends.at(-1);
  }
  return found;
}

test("no node lies on another, and no line runs through one", () => {
  for (const room of [380, 700, 1080]) {
    const layout = layoutOf(full, room);
    const boxes = layout.places.map(({ x, y }) => ({ x, y, right: x + layout.across, low: y + HIGH }));
    for (const [a, one] of boxes.entries()) {
      assert.ok(one.right <= layout.width && one.low <= layout.height && one.x >= 0 && one.y >= 0);
      for (const other of boxes.slice(a + 1)) {
        assert.ok(one.right < other.x || other.right < one.x || one.low < other.y || other.low < one.y);
      }
    }
    for (let source = 0; source < 18; source++) for (let target = 0; target < 18; target++) {
      if (source === target) continue;
      const points = pointsOf(lineOf(layout, full, { source, target }).d);
      const [[x0, y0], [x1, y1]] = [points[0], points.at(-1)];
      const touches = (box, x, y, near) => x >= box.x - near && x <= box.right + near && y >= box.y - near && y <= box.low + near;
      assert.ok(touches(boxes[source], x0, y0, 0) && touches(boxes[target], x1, y1, 12), `${source} to ${target}`);
      for (const [x, y] of points) for (const box of boxes) {
        assert.ok(!(x > box.x && x < box.right && y > box.y && y < box.low), `${source} to ${target}, at ${x}, ${y}`);
      }
    }
  }
});

test("what is not found yet has its place already, and is not drawn", () => {
  assert.deepEqual([0, 1, 2, 3].map((step) => film.nodes.filter((node) => drawn(node, step, false)).length), [1, 3, 4, 5]);
  const milton = owner.nodes.at(-1);
  assert.deepEqual([drawn(milton, 4, false), drawn(milton, 0, true)], [false, true]);
});

test("keys lead from every node to every other", () => {
  const some = [0, 1, 3, 7, 8, 14, 17];
  for (const among of [some, full.map((_, n) => n)]) {
    for (const start of among) {
      const reached = new Set([start]);
      for (const at of reached) {
        for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]) {
          const to = nodeAfter(key, full, among, at);
          if (to !== null) reached.add(to);
        }
      }
      assert.equal(reached.size, among.length);
    }
  }
  assert.deepEqual(["ArrowRight", "ArrowDown", "ArrowUp", "ArrowLeft", "Home", "End", "x"].map((key) => nodeAfter(key, full, some, 1)),
    [7, 3, 0, null, 0, 17, null]);
  assert.equal(nodeAfter("ArrowRight", full, [0, 14], 0), 14, "past a column with none");
});

test("the gold graph is counted as Python counts it", () => {
  let seen = 0;
  for (const { state, counts } of cases) {
    for (const [step, expected] of (counts ?? []).entries()) {
      const { nodes, edges, missed } = goldCounts(state, step);
      assert.deepEqual([nodes.found, nodes.of, nodes.extra.map(({ name }) => name).sort()], expected.nodes);
      assert.deepEqual([edges.found, edges.of], expected.edges);
      assert.deepEqual(missed.toSorted(), expected.missed);
      seen += 1;
    }
  }
  assert.ok(seen > 12);
  assert.equal(goldSaid(owner, 4), "2 of 3 gold nodes, 1 of 2 gold edges; 3 extra: Dusk, Adam and 1974; missed: Milton.");
  assert.equal(goldSaid(film, 1), "2 of 3 gold nodes, 1 of 2 gold edges so far; 1 extra: Eva.");
});

test("each step is told", () => {
  assert.equal(stepSaid(film, 0), "No node has been visited. The question names Roma. Next: Roma.");
  assert.equal(stepSaid(film, 2), "Step 2 of 4: visited Dusk and Eva; new: Adam. Next: Adam and Dusk.");
  assert.equal(stepSaid(film, 4), "Step 4 of 4: visited 1974; nothing new. The frontier is empty.");
  assert.match(stepSaid({ ...film, named: [] }, 0), /excluded, so the graph has no start node/);
});

test("a node tells how it was found, what was made of it, and what System 2 gives it", () => {
  const dusk = of(film, "Dusk");
  assert.equal(nodeSaid(film, 1, dusk), "Dusk was found in step 1 on the page of Roma. It is visited next.");
  const again = nodeSaid(film, 2, dusk);
  assert.match(again, /on the page of Roma and Eva\. It was visited with 1 clue\. System 1 predicts “Adam” as an answer \(.*%\)\. It has a new clue/);
  const [alone, together] = film.steps[2].chances[dusk];
  assert.ok(again.endsWith(`System 2 gives it a probability of ${shortPercent(together)}; without edges, ${shortPercent(alone)}.`));
  assert.match(nodeSaid(film, 3, dusk), /visited with 2 clues\. System 1 predicts “1974”/);
  assert.match(nodeSaid(film, 4, of(film, "1974")), /^1974 was found in step 3 on the page of Dusk, and has no page\./);
  assert.match(nodeSaid(film, 1, of(film, "Roma")), /^Roma is named in the question\. It was visited with no clue\. .*“Dusk” as a next hop/);
  assert.doesNotMatch(nodeSaid(which, 3, of(which, "Adam")), /System 2/);
});

test("a missed node tells why", () => {
  const milton = of(owner, "Milton");
  assert.match(nodeSaid(owner, 1, milton), /^Milton is missed: .* It would be found from Eva, which has not been visited\.$/);
  assert.match(nodeSaid(owner, 4, milton), /Eva was visited, but System 1 did not predict Milton\.$/);
  assert.match(nodeSaid({ ...owner, without: [["Eva", "Milton"]] }, 4, milton), /The edge from Eva has been removed\.$/);
  assert.match(edgeSaid(cut, 3, line(cut, "Roma", "Dusk")), /“Dusk was made there” The edge from Roma has been removed\.$/);
  assert.match(nodeSaid({ ...owner, without: ["Milton"] }, 4, milton), /It has been excluded\.$/);
  assert.match(edgeSaid(owner, 4, line(owner, "Eva", "Milton")), /is missed: .*sentence 1 of Eva mentions it: “Eva lives in Milton”/);
});

test("an edge tells its clue, and what its message does", () => {
  const edge = line(film, "Dusk", "Adam");
  const { span } = edge;
  assert.ok(edgeSaid(film, 2, edge).startsWith(
    `Dusk → Adam: in sentence 2 of Dusk, System 1 predicts “Adam” as an answer (${shortPercent(span.chance)}), with a start logit +4.00 relative to [CLS].`));
  assert.match(effectSaid(film, 2, edge), /Adam has not been visited yet/);
  const effect = film.steps[3].effects.find(({ source, target }) => source === edge.source && target === edge.target);
  const word = effect.on_target < 0 ? "lowers" : "raises";
  assert.equal(effectSaid(film, 3, edge), `Compared with the same graph without this edge, its message in System 2 ${word} the ` +
    `logit of Adam by ${Math.abs(effect.on_target).toFixed(2)}.`, "the answer is Adam himself");
  assert.match(effectSaid(film, 4, edge), /, and (raises|lowers) that of the answer, 1974, by \d\.\d\d\.$/);
  assert.match(effectSaid(which, 3, line(which, "Dusk", "Adam")), /without the graph: there is no message passing/);
  assert.equal(widthOf(which, 3, line(which, "Dusk", "Adam")), widthOf(film, 2, edge), "no message, a thin line");
  assert.ok(widthOf(film, 3, edge) > widthOf(film, 2, edge) && widthOf(film, 3, edge) <= 8);
});

test("the answer, the choice and the comparison", () => {
  assert.match(answerSaid(film, 1), /^No answer yet: no candidate answer has been visited\. System 1 alone has predicted no answer\.$/);
  const p = film.steps[4].chances[of(film, "1974")][1];
  assert.ok(answerSaid(film, 4).startsWith(`CogQA answers 1974, with probability ${shortPercent(p)} among 5 visited nodes. System 1 alone would answer `));
  assert.match(answerSaid({ ...film, steps: [{ ...film.steps[4], answer: null }] }, 0), /^CogQA has no answer/);
  assert.deepEqual(verdictOf(film), { good: false, text: "✗ the correct answer is Adam" });
  assert.deepEqual(verdictOf({ ...film, right: "1974" }), { good: true, text: "✓ correct: 1974" });
  assert.equal(verdictOf({ ...film, right: null }), null);
  const { chance, answer } = which.steps.at(-1);
  assert.equal(answer, chance > 0.5 ? "Dusk" : "Old Town");
  assert.match(comparedSaid(which, 3), new RegExp(`compares Old Town with Adam\\. .* of the second, Dusk, is ${shortPercent(chance).replace(".", "\\.")}`));
  assert.match(comparedSaid(yes, 3), /probability of “yes” is/);
  assert.match(comparedSaid(which, 0), /no two nodes to compare yet/);
  assert.deepEqual(rowsOf(film, 4).map(({ n, candidate, answer: own }) => [film.nodes[n].name, candidate, own]),
    [["Roma", false, false], ["Dusk", false, false], ["Eva", false, false], ["Adam", true, false], ["1974", true, true]]);
  const all = rowsOf(film, 4).reduce((sum, { together }) => sum + together, 0);
  assert.ok(Math.abs(all - 1) < 1e-3);
});

test("the guess is about the end, and its answer tells where it was found", () => {
  assert.deepEqual(guessOf(film), ["Which node will be the answer when the frontier is empty?",
    "1974. It is found on the page of Dusk: “it came out in 1974”"]);
  assert.equal(guessOf(which)[1], `${which.steps.at(-1).answer}.`);
  assert.match(guessOf(yes)[0], /yes or no/);
});

test("what a node's tags say", () => {
  assert.deepEqual(tagsOf(film, 0, 0, false), ["▸ next", "in the question"]);
  assert.deepEqual(tagsOf(film, 2, of(film, "Dusk"), false), ["▸ again"]);
  assert.deepEqual(tagsOf(film, 4, of(film, "1974"), true), ["✓ answer", "extra"]);
  assert.deepEqual(tagsOf(film, 4, of(film, "Adam"), false), ["candidate"]);
  assert.deepEqual(tagsOf(owner, 4, of(owner, "Milton"), true), ["missed"]);
  assert.deepEqual(tagsOf(which, 3, of(which, "Adam"), false), ["compared"]);
  assert.deepEqual(tagsOf(which, 3, of(which, "1931"), false), ["value"]);
});

test("spans that overlap are one mark", () => {
  const span = (as, sentence, start, end) => ({ as, sentence, start, end });
  const spans = [span("hop", 0, 4, 6), span("answer", 0, 5, 7), span("hop", 1, 0, 1), span("answer", 0, 0, 2), span("hop", 0, 2, 3)];
  assert.deepEqual(marksOf(spans, 0).map(({ start, end, kinds }) => [start, end, kinds.join(" ")]),
    [[0, 2, "answer"], [2, 3, "hop"], [4, 7, "hop answer"]]);
  assert.deepEqual(marksOf(spans, 2), []);
});

test("what was opened stays open under its name", () => {
  assert.deepEqual(carried({ node: of(film, "1974") }, film, owner), { node: of(owner, "1974") });
  assert.deepEqual(carried({ edge: [of(film, "Dusk"), of(film, "1974")] }, film, owner), { edge: [of(owner, "Dusk"), of(owner, "1974")] });
  assert.equal(carried({ node: of(film, "Eva") }, film, { nodes: [{ name: "Roma" }] }), null);
  assert.equal(carried({ edge: [0, 1] }, film, { nodes: [{ name: "Roma" }] }), null);
  assert.equal(carried(null, film, owner), null);
  assert.deepEqual(withOne(["Eva", ["a", "b"]], ["a", "b"]), ["Eva", ["a", "b"]]);
  assert.deepEqual(withOne(["Eva"], "Dusk"), ["Eva", "Dusk"]);
});

test("a chance with and without edges, in words", () => {
  assert.deepEqual([[0.541, 0.53], [0.5301, 0.53]].map(pairSaid).map(plain), ["54 → 53 %", "53 %"]);
});
