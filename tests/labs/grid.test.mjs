import assert from "node:assert/strict";
import { test } from "node:test";
import { layout, boxes, dots, cellAt, step } from "../../plmlab/labs/shared/grid.js";

const same = (n, width) => Array(n).fill(width);

test("a short sentence stands upright beside the notes, a longer one above them", () => {
  const short = layout(same(6, 40), 90, 900);
  assert.deepEqual([short.turned, short.beside, short.columns[0]], [false, true, 51]);
  const longer = layout(same(14, 40), 90, 900);
  assert.deepEqual([longer.turned, longer.beside], [false, false]);
});

test("what does not fit upright turns, and fits as long as a cell keeps 12 px", () => {
  for (const n of [24, 30, 48, 64]) {
    const at = layout(same(n, 60), 100, 960);
    assert.ok(at.turned && at.columns.length === n);
    assert.ok(at.width + 100 <= 960, `${n} tokens take ${at.width}`);
  }
  const narrow = layout(same(64, 60), 100, 500);
  assert.equal(narrow.columns[0], 12);
  assert.ok(narrow.dense && narrow.width > 500, "the lab scrolls");
});

test("each point of a cell belongs to that cell", () => {
  const at = layout([20, 60, 40, 100], 90, 900);
  for (let q = 0; q < 4; q++) for (let k = 0; k < 4; k++) {
    assert.deepEqual(cellAt(at.x[k] + 1, q * at.height + 1, at), { q, k });
    assert.deepEqual(cellAt(at.x[k + 1] - 0.1, (q + 1) * at.height - 0.1, at), { q, k });
  }
  for (const [x, y] of [[-1, 5], [5, -1], [at.width, 5], [5, at.tall]]) assert.equal(cellAt(x, y, at), null);
});

test("a path draws each cell inside its place", () => {
  const at = layout([20, 60], 90, 900);
  const path = boxes([[0, 0], [1, 1]], at);
  assert.equal(path.match(/M/g).length, 2);
  const [x, y] = path.match(/M([\d.]+) ([\d.]+)h/).slice(1).map(Number);
  assert.ok(x > at.x[0] && x < at.x[1] && y > 0 && y < at.height);
  assert.ok(!boxes([[0, 0]], layout(same(64, 60), 90, 300)).includes("NaN"));
  assert.equal(dots([], at), "");
});

test("keys lead from cell to cell and stop at the edge", () => {
  const from = { q: 2, k: 3 };
  const leads = { ArrowLeft: [2, 2], ArrowRight: [2, 4], ArrowUp: [1, 3], ArrowDown: [3, 3], Home: [2, 0], End: [2, 5],
    PageUp: [0, 3], PageDown: [5, 3] };
  for (const [key, [q, k]] of Object.entries(leads)) assert.deepEqual(step(key, from, 6, 6), { q, k }, key);
  assert.deepEqual(step("Home", from, 6, 6, true), { q: 0, k: 0 });
  assert.deepEqual(step("End", from, 6, 6, true), { q: 5, k: 5 });
  assert.deepEqual(step("ArrowUp", { q: 0, k: 0 }, 6, 6), { q: 0, k: 0 });
  assert.equal(step("a", from, 6, 6), null);
  assert.equal(step("Tab", from, 6, 6), null);
});

test("a matrix may have fewer rows than columns", () => {
  const at = layout(same(5, 40), 90, 900, 0, 3);
  assert.deepEqual([at.rows, at.columns.length, at.tall], [3, 5, 3 * at.height]);
  assert.deepEqual(cellAt(1, at.tall - 0.1, at), { q: 2, k: 0 });
  assert.equal(cellAt(1, at.tall + 0.1, at), null);
  assert.deepEqual(step("PageDown", { q: 0, k: 4 }, 3, 5), { q: 2, k: 4 });
  assert.deepEqual(step("End", { q: 0, k: 1 }, 3, 5, true), { q: 2, k: 4 });
  assert.deepEqual(step("ArrowDown", { q: 2, k: 4 }, 3, 5), { q: 2, k: 4 });
});
