import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as layout from "../../plmlab/labs/beam/layout.js";
import * as told from "../../plmlab/labs/beam/messages.js";
import { ending } from "../../plmlab/labs/beam/tree.js";

const cases = JSON.parse(readFileSync(new URL("beam_fixtures.json", import.meta.url), "utf8"));
const [apple, garden, wider, longer, wide, plain, cut] = cases;

test("the finished texts are Python's, at the last step", () => {
  for (const { state } of cases) {
    const found = layout.finishedBy(state.columns, state.columns.length, state.width);
    assert.deepEqual(found.map(({ whole }) => whole), state.finished);
    assert.equal(layout.finishedBy(state.columns, 1, state.width).length,
      state.columns[0].filter(({ fate }) => fate === "finished").length);
  }
});

test("no two lines of a tree cross, and nothing lies on another", () => {
  for (const { state } of cases) {
    const { places, high, across, width, height } = layout.layoutOf(state);
    state.columns.forEach((column, step) => column.forEach((branch, i) => {
      const { x, y } = places[step][i];
      assert.ok(x + across <= width && y >= 0 && y + high <= height);
      if (!i) return;
      assert.ok(y >= places[step][i - 1].y + high);
      assert.ok(column[i - 1].parent <= branch.parent);
    }));
  }
});

test("a tree has one place a step, whatever else is drawn", () => {
  const [one, two] = [layout.layoutOf(apple.state), layout.layoutOf(apple.state, 12)];
  assert.deepEqual(one.places, two.places);
  assert.ok(two.width > one.width);
});

test("arrow keys go to the likeliest child, the parent and the neighbours", () => {
  const { columns } = apple.state;
  const go = (key, step, place, shown = columns.length) => layout.stepTo(key, columns, { step, place }, shown);
  assert.deepEqual(go("ArrowDown", 0, 0), { step: 0, place: 1 });
  assert.equal(go("ArrowUp", 0, 0), null);
  assert.equal(go("ArrowLeft", 0, 0), null);
  const child = go("ArrowRight", 0, 0);
  assert.equal(columns[child.step][child.place].token, "妈");
  assert.deepEqual(go("ArrowLeft", child.step, child.place), { step: 0, place: 0 });
  assert.equal(go("ArrowRight", 0, 0, 1), null, "steps that are not shown are not gone to");
  const pruned = columns[1].findIndex(({ fate }) => fate === "pruned");
  assert.equal(go("ArrowRight", 1, pruned), null);
  assert.deepEqual(layout.pathTo(columns, go("End", 0, 0)).map(({ token }) => token), ["苹", "果", "[END]"]);
  assert.deepEqual(go("Home", 2, 0), { step: 0, place: 0 });
});

test("the first branch told is where greedy and the beam part", () => {
  const at = layout.partingOf(apple.state.columns);
  assert.equal(apple.state.columns[at.step][at.place].token, "苹");
  assert.match(told.branchSaid(apple.state, at), /diverges from the greedy path, which continues with “大”/);
  const same = layout.partingOf(plain.state.columns);
  assert.equal(plain.state.columns[same.step][same.place].token, "[END]");
});

test("the title is the finding of what is drawn", () => {
  assert.equal(told.finding(apple.state), "Greedy decoding finds “大妈” (0.12); a beam of 2 finds “苹果” (0.45), 3.7 times as likely");
  assert.match(told.finding(wider.state), /a beam of 2 prunes it and finds “town has walls” \(0.050\), which is 3.6 times less likely$/);
  assert.match(told.finding(longer.state), /the length penalty makes a beam of 2 prefer “said that the train would be late”/);
  assert.equal(told.finding(plain.state), "Greedy decoding and a beam of 2 both find “said yes” (0.28)");
});

test("every branch says why it stays or goes", () => {
  const words = { open: /Kept:/, finished: /Finished:/, pruned: /Pruned:/ };
  for (const { state } of cases) {
    state.columns.forEach((column, step) => column.forEach((branch, place) => {
      const said = told.branchSaid(state, { step, place });
      assert.match(said, words[branch.fate]);
      assert.ok(said.includes(`rank ${branch.rank} in this step`) && !said.includes("undefined"), said);
      assert.equal(said.includes("Press Enter"), branch.fate === "pruned");
      assert.ok(!told.branchSaid(state, { step, place }, { asks: false }).includes("Press Enter"));
    }));
  }
  const reasons = new Set(cases.flatMap(({ state }) => state.columns.flat()).map(({ reason }) => reason));
  assert.deepEqual([...reasons].sort(), ["", "end", "hope", "late", "length", "rank"]);
});

test("a score that rises while the probability falls is told where it happens", () => {
  const at = layout.partingOf(longer.state.columns);
  const path = layout.pathTo(longer.state.columns, layout.lastOf(longer.state.columns, 8));
  assert.ok(path.some((branch, i) => i && branch.score > path[i - 1].score && branch.total <= path[i - 1].total));
  const { columns } = longer.state;
  const rising = columns.flatMap((column, step) => column.map((branch, place) => ({ step, place, branch })))
    .filter(({ step, branch }) => step && branch.score > columns[step - 1][branch.parent].score + 1e-9);
  for (const { step, place } of rising) assert.match(told.branchSaid(longer.state, { step, place }), /but its score rose/);
  assert.ok(rising.length && at.step === 1);
  assert.match(told.risingSaid(longer.state, 8), /“said that the train would be late” is less likely than “said yes” .* with 8 tokens against 3/);
  assert.equal(told.risingSaid(plain.state, 3), "");
});

test("what a score is, and that the beginning is not counted", () => {
  assert.match(told.scoreSaid(apple.state), /The 2 tokens of the prompt do not count. Here α = 0/);
  assert.match(told.scoreSaid(longer.state), /The 1 token of the prompt does not count. Here α = 1/);
});

test("each miss has its name", () => {
  const kinds = ({ state, pinned }) => told.missesSaid(state, pinned).map(({ name, kind }) => `${name}: ${kind}`);
  assert.deepEqual(kinds(apple), ["Search error: none"]);
  assert.deepEqual(kinds(wider), ["Search error: miss"]);
  assert.match(told.missesSaid(wider.state, wider.pinned)[0].said, /missed a better text: “man sleeps”, 3.6 times as likely/);
  assert.match(told.missesSaid(longer.state, longer.pinned)[0].said, /which the length penalty prefers. Only that text is compared/);
  assert.ok(!told.missesSaid(apple.state, apple.pinned)[0].said.includes("Only that text"));
  const world = { ...apple.state, world: true, left: "" };
  const pinned = { ...apple.pinned, world: { text: "大象", total: -0.5 }, model: { ...apple.pinned.model, world: -1.5 } };
  const misses = (error, model = pinned.model) => told.missesSaid(world, { ...pinned, model, model_error: error })[1];
  assert.deepEqual([misses(true).kind, misses(false).kind, misses(null).kind], ["miss", "none", "unknown"]);
  assert.match(misses(true).said, /in the world, “大象” is 2.7 times as likely/);
  assert.match(misses(true, { ...pinned.model, world: null }).said, /not a sentence of the world/);
  assert.equal(told.missesSaid({ ...world, left: "Word 1: …" }, pinned).length, 1);
  const lost = told.missesSaid(apple.state, { ...apple.pinned, model: null, search_error: null });
  assert.match(lost[0].said, /more than 2,000 prefixes/);
  const empty = { ...apple.pinned, model: { ...apple.pinned.model, text: "" }, search_error: true };
  assert.match(told.missesSaid(apple.state, empty)[0].said, /the empty text.* The model’s most likely text is the empty one/);
});

test("what was pruned says whether it would have won", () => {
  assert.match(told.unfoldedSaid(wider.state, wider.unfolded), /scores higher|equals|would have beaten/);
  const { columns } = wider.state;
  const best = wider.state.finished[0];
  const as = (score) => told.unfoldedSaid(wider.state, { ...wider.unfolded, text: "man sleeps", total: score, score });
  assert.match(as(best.score + 1), /It would have beaten the beam’s “town has walls”/);
  assert.match(as(best.score - 1), /scores higher: nothing was lost/);
  assert.match(as(best.score), /It equals/);
  assert.ok(columns.flat().some(({ fate }) => fate === "pruned"));
});

test("the question is answered by this very text", () => {
  assert.match(told.widerSaid(wider.pinned), /Here a beam of 1 finds “man sleeps” \(score −1.71\), but a beam of 2 only “town has walls”/);
  assert.match(told.widerSaid(apple.pinned), /does not happen for any width/);
});

test("numbers are written as a reader likes them", () => {
  assert.equal(told.probability(Math.log(0.45)), "0.45");
  assert.equal(told.probability(-19.35), "3.9 · 10⁻⁹");
  assert.equal(told.probability(0), "1");
  assert.equal(told.times(Math.log(3.75)), "3.8");
  assert.equal(told.times(Math.log(1234.4)), "1,234");
  assert.equal(ending("the paintings"), "the paintings");
  assert.equal(ending("yesterday the visitors"), "… the visitors");
});

test("a text is cut at the length, and says so", () => {
  const ends = cut.state.columns[1].filter(({ reason }) => reason === "length");
  assert.ok(ends.length && garden.state.columns.length > 2 && wide.state.width === 10);
  const place = cut.state.columns[1].indexOf(ends[0]);
  assert.match(told.branchSaid(cut.state, { step: 1, place }), /cut at the maximum length of 2 tokens/);
});
