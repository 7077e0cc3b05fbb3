import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { cellSize, headingsOf, placesOf } from "../../plmlab/labs/shape_xray/block.js";
import {
  SPLIT, cellOf, countOf, feedsOf, holder, linesOf, madeOf, marksOf, sharesOf, walk,
} from "../../plmlab/labs/shape_xray/lines.js";
import {
  address, answer, cellSentence, countSentence, finding, question, splitFinding, whereabouts,
} from "../../plmlab/labs/shape_xray/words.js";
import { decimal } from "../../plmlab/labs/shared/words.js";

const { state, ...expected } = JSON.parse(readFileSync(new URL("fixtures_xray.json", import.meta.url), "utf8"));
const text = (pieces) => pieces.map((piece) => piece.text).join("");
const every = (line, visit) => line.slabs.forEach((slab, i) => slab.numbers.forEach((numbers, row) =>
  numbers.forEach((value, column) => visit(slab, row, column, value, i))));

for (const way of ["right", "wrong"]) {
  const pass = state[way];
  const lines = linesOf(state, way === "wrong");

  test(`${way}: whose numbers, and how much of each token, as in Python`, () => {
    every(lines[2], (slab, row, column, _, i) => {
      const position = expected[way].holders[slab.head][row][column];
      assert.equal(cellOf(state, pass, lines[2], slab, row, column, 0).position, position);
      const role = ["query", "key", "value"][Math.floor(i / 3)];
      assert.equal(cellOf(state, pass, lines[2], slab, row, column, position).fill, role);
      assert.equal(cellOf(state, pass, lines[2], slab, row, column, (position + 1) % 5).fill, "");
    });
    for (let head = 0; head < 3; head++) for (let query = 0; query < 5; query++) {
      sharesOf(state, pass, head, query).forEach((share, token) =>
        assert.ok(Math.abs(share - expected[way].shares[head][query][token]) < 1e-3));
    }
  });

  test(`${way}: what is marked after the split is what torch's own reshape puts there`, () => {
    for (let followed = 0; followed < 5; followed++) {
      const marks = marksOf(state, pass, lines[SPLIT], followed);
      let astray = 0;
      every(lines[SPLIT], ({ head }, row, column, _, i) => {
        const position = expected[way].split[head][row][column];
        const mark = marks[i][row][column];
        assert.equal(mark.position, position);
        assert.equal(mark.fill, position === followed ? ["query", "key", "value"][Math.floor(i / 3)] : "");
        assert.equal(mark.astray, position === followed && row !== followed);
        assert.equal(mark.missing, position !== followed && row === followed);
        astray += position === followed && row !== followed;
      });
      assert.deepEqual(countOf(marks), { count: 18, all: 90, astray });
      assert.equal(astray === 0, way === "right");
    }
  });

  test(`${way}: a row of the output is made of the tokens without which it would be another`, () => {
    for (let query = 0; query < 5; query++) {
      const lost = expected[way].lost.map((rows) => rows[query]);
      assert.ok(lost.every((by) => by === 0 || by > 1e-2), "no case is a close one");
      assert.deepEqual(madeOf(state, pass, query), [0, 1, 2, 3, 4].filter((token) => lost[token] > 0));
    }
  });

  test(`${way}: each line has the shape that its axes say`, () => {
    for (const line of lines) {
      const sizes = line.axes.map(([, size]) => size);
      const tensors = new Set(line.slabs.map(({ of }) => of)).size;
      assert.equal(countOf(marksOf(state, pass, line, 0)).all, tensors * sizes.reduce((a, b) => a * b));
      assert.equal(line.axes[0].join(), "batch,1");
    }
  });

  test(`${way}: what feeds a cell gives its value`, () => {
    const at = ({ line, slab, cells: [[row, column]] }) => lines[line].slabs[slab].numbers[row][column];
    const all = ({ line, slab, cells }) => cells.map(([row, column]) => lines[line].slabs[slab].numbers[row][column]);
    const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
    const near = (a, b) => assert.ok(Math.abs(a - b) < 2e-3, `${a} ${b}`);
    const check = (line, compute) => every(lines[line], (slab, row, column, value, i) => {
      const feeds = feedsOf(state, pass, { line, slab: i, row, column });
      if (feeds.length) near(value, compute(feeds, row, column));
    });
    check(2, ([one]) => at(one));
    check(3, ([q, k]) => dot(all(q), all(k)) / Math.sqrt(2));
    check(4, ([scores], row, column) => {
      const powers = all(scores).map(Math.exp);
      return powers[column] / powers.reduce((a, b) => a + b);
    });
    check(5, ([weights, values]) => dot(all(weights), all(values)));
    check(6, ([one]) => at(one));
    assert.deepEqual(feedsOf(state, pass, { line: 0, slab: 0, row: 0, column: 0 }), []);
  });

  test(`${way}: every cell's sentence begins with its address and its value`, () => {
    lines.forEach((line, at) => every(line, (slab, row, column, value, which) => {
      const said = text(cellSentence(state, pass, lines, { line: at, slab: which, row, column }, 2));
      assert.ok(said.startsWith(`${address(line, slab, row, column)} = ${decimal(value)}: `), said);
      assert.ok(said.endsWith(".") && !/undefined|NaN/.test(said), said);
    }));
  });
}

test("with the right split, words meet in line 4 and mix in line 6, not before", () => {
  const lines = linesOf(state, false);
  for (const line of lines.slice(0, 3)) {
    every(line, (slab, row, column) =>
      assert.equal(cellOf(state, state.right, line, slab, row, column, 3).fill !== "", row === 3));
  }
  assert.equal(countOf(marksOf(state, state.right, lines[3], 3)).count, 3 * (5 + 4));
  every(lines[5], (slab, row, column) => {
    const { fill, level } = cellOf(state, state.right, lines[5], slab, row, column, 3);
    assert.equal(fill !== "", row >= 3);
    assert.ok(level <= 1);
  });
});

test("a line of the output says what each word gives", () => {
  const lines = linesOf(state, false);
  const given = state.right.parts.map((part) => part[4][1]);
  const all = given.reduce((a, b) => a + b);
  const said = text(cellSentence(state, state.right, lines, { line: 7, slab: 0, row: 4, column: 1 }, 2));
  assert.ok(said.includes(`sat contributes ${decimal(given[2])}, the other words ${decimal(all - given[2])}`), said);
  assert.ok(said.endsWith(`the bias of the output projection ${decimal(Math.cos(1 + 3) / 5)}.`), said);
});

test("what following a word finds", () => {
  assert.deepEqual(whereabouts(state, state.right, 2), [[0, [2]], [1, [2]], [2, [2]]]);
  assert.deepEqual(whereabouts(state, state.wrong, 2), [[1, [1, 2, 3]]]);
  const right = text(finding(state, false, 2));
  assert.match(right, /^sat’s elements stay in row 2, one slice in each head\..*: to on and it\.$/);
  const wrong = text(finding(state, true, 2));
  assert.ok(wrong.startsWith("sat’s row of the output is computed from the, cat, sat, on and it; on and it come later in " +
    "the text. No error is raised"), wrong);
  assert.ok(wrong.includes(`relative error of the output is ${Math.round(100 * state.apart)}\u00a0%.`));
  assert.ok(wrong.includes(`contribute to ${state.leaks} of 15 rows`));
  assert.match(text(finding({ ...state, same: true }, true, 2)), /nothing to mix/);
});

test("one sentence says where both ways put a word", () => {
  assert.equal(text(splitFinding(state, 2)), "rearrange keeps a slice of sat in row 2 of each head; view alone moves " +
    "all its elements into rows 1, 2 and 3 of head 1, where they are treated as cat and on, and row 2 holds the in " +
    "head 0, sat in head 1 and it in head 2.");
  assert.ok(text(splitFinding(state, 1)).endsWith("into rows 3 and 4 of head 0 and row 0 of head 1, where they are " +
    "treated as on, it and the, and row 1 holds the in head 0, sat in head 1 and on in head 2."));
  assert.match(text(splitFinding({ ...state, same: true }, 2)), /^With one head, .* nothing to mix\.$/);
  const marks = marksOf(state, state.wrong, linesOf(state, true)[SPLIT], 2);
  assert.equal(text(countSentence("token", countOf(marks), "sat")),
    "18 of 90 elements belong to sat; 12, hatched, are in another word’s row");
});

test("the guess asks of the followed word, and its answer is computed", () => {
  assert.match(text(question(state, 1)), /Which words then contribute to cat’s row of the output, row 1 of line 8\?$/);
  assert.ok(text(answer(state, 1)).startsWith("With rearrange the row is computed from the and cat; with view alone from " +
    "the, cat, sat and on; sat and on come later in the text."), text(answer(state, 1)));
  const parts = state.wrong.parts.map((part, token) => (token === 1 ? part.map((row) => row.map(() => 0)) : part));
  const without = { ...state, wrong: { ...state.wrong, parts } };
  assert.match(text(answer(without, 1)), /with view alone from the, sat and on, and not from cat itself; sat and on come/);
  assert.doesNotMatch(text(answer({ ...without, causal: false }, 1)), /later in the text/);
  const silent = { ...state, wrong: { ...state.wrong, parts: parts.map((part) => part.map(() => [0])) } };
  assert.match(text(answer(silent, 1)), /with view alone from no word, and not from cat itself\. Switch/);
});

test("the mask closes rows, and says so where that lets a later word in", () => {
  const lines = linesOf(state, true);
  const said = text(cellSentence(state, state.wrong, lines, { line: 4, slab: 2, row: 1, column: 0 }, 2));
  assert.equal(holder(state, state.wrong, 2, 0), 3);
  assert.match(said, /But row 0 holds on, which comes later: the mask blocks rows, not words\.$/);
  const closed = text(cellSentence(state, state.wrong, lines, { line: 4, slab: 0, row: 1, column: 3 }, 2));
  assert.match(closed, /cat cannot attend to on, which comes later/);
});

test("keys walk over slabs and lines, and stay inside", () => {
  const lines = linesOf(state, false);
  const start = { line: 2, slab: 0, row: 4, column: 1 };
  assert.deepEqual(walk("ArrowRight", start, lines), { line: 2, slab: 1, row: 4, column: 0 });
  assert.deepEqual(walk("ArrowLeft", { ...start, slab: 1, column: 0 }, lines), start);
  assert.deepEqual(walk("ArrowDown", { ...start, slab: 8 }, lines), { line: 3, slab: 2, row: 0, column: 1 });
  const above = walk("ArrowUp", { line: 3, slab: 2, row: 0, column: 4 }, lines);
  assert.deepEqual(above, { line: 2, slab: 2, row: 4, column: 1 });
  assert.deepEqual(walk("PageDown", start, lines), { line: 3, slab: 0, row: 4, column: 1 });
  assert.deepEqual(walk("End", start, lines), { line: 2, slab: 8, row: 4, column: 1 });
  const right = { line: SPLIT, slab: 8, row: 4, column: 1, wrong: false };
  const wrong = { line: SPLIT, slab: 0, row: 4, column: 0, wrong: true };
  assert.deepEqual(walk("ArrowRight", right, lines), wrong, "from the right split into the wrong one");
  assert.deepEqual(walk("ArrowLeft", wrong, lines), right);
  assert.deepEqual(walk("ArrowRight", { ...right, wrong: true }, lines), { ...right, wrong: true });
  assert.deepEqual(walk("ArrowLeft", { ...wrong, wrong: false }, lines), { ...wrong, wrong: false });
  assert.deepEqual(walk("ArrowDown", wrong, lines), { line: 3, slab: 0, row: 0, column: 0 });
  const corner = { line: 0, slab: 0, row: 0, column: 0 };
  assert.deepEqual(walk("ArrowUp", corner, lines), corner);
  assert.equal(walk("a", start, lines), null);
});

test("the drawing fits into its room", () => {
  const lines = linesOf(state, false);
  for (const room of [500, 640, 800, 924, 1080]) {
    const { cell, beside } = cellSize(lines, 60, room);
    const widest = Math.max(...lines.map(({ slabs }) => placesOf(slabs, cell).width));
    assert.ok(60 + widest + (beside ? 420 : 34) <= room, `${room}: ${cell} ${beside}`);
    assert.equal(beside, room > 750);
    if (beside) assert.ok(46 + 2 * (60 + placesOf(lines[SPLIT].slabs, cell).width) <= room, "both splits fit");
  }
});

test("headings that would touch are shortened", () => {
  const { slabs } = linesOf(state, false)[SPLIT];
  for (const [cell, first] of [[7, "q h0"], [15, "q h0"], [30, "q head 0"]]) {
    const titles = headingsOf(slabs, cell);
    const { starts } = placesOf(slabs, cell);
    assert.equal(titles[0], first);
    if (cell > 7) titles.slice(1).forEach((_, i) => assert.ok(starts[i] + 6 * titles[i].length <= starts[i + 1]));
  }
});
