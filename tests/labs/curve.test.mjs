import assert from "node:assert/strict";
import { test } from "node:test";
import { ticks, range, scale, pathOf, numbers, sampled, heldOutAt } from "../../plmlab/labs/curve/lab.js";

const state = (more) => ({ training: [], validation: [], floor: null, floor_name: "floor", steps: null, step: 0, loss: null,
  held_out: null, unit: "nats per token", ...more });

test("ticks are round numbers inside the range", () => {
  assert.deepEqual(ticks(0, 1000), [0, 200, 400, 600, 800, 1000]);
  assert.deepEqual(ticks(2.9, 3.4), [2.9, 3, 3.1, 3.2, 3.3, 3.4]);
  assert.deepEqual(ticks(2, 8, 5, true), [2, 3, 4, 5, 7]);
  assert.deepEqual(ticks(0.5, 20, 5, true), [0.5, 0.7, 1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20]);
  assert.deepEqual(ticks(0.005, 7, 5, true), [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5]);
  assert.ok(ticks(2.1, 2.9, 5, true).length >= 3, "a narrow logarithmic range still has ticks");
});

test("the range holds every value and the floor, and is logarithmic where values differ much", () => {
  const far = range(state({ training: [[1, 7.5], [2, 3]], floor: 2.1 }));
  assert.ok(far.logarithmic && far.low < 2.1 && far.high > 7.5 && far.low > 0);
  const near = range(state({ training: [[1, 3.1], [2, 3]] }));
  assert.ok(!near.logarithmic && near.low < 3 && near.high > 3.1);
  assert.equal(range(state()), null);
  const flat = range(state({ training: [[1, 0]] }));
  assert.ok(flat.high > flat.low);
  assert.equal(range(state({ training: [[1, 7], [2, -1]] })).logarithmic, false);
});

test("a scale meets both ends, and the geometric middle is halfway", () => {
  const x = scale(0, 10, 50, 150);
  assert.deepEqual([x(0), x(5), x(10)], [50, 100, 150]);
  const y = scale(1, 4, 100, 0, true);
  assert.deepEqual([y(1), y(4), Math.round(y(2))], [100, 0, 50]);
  assert.equal(pathOf([[0, 1], [10, 2]], (v) => v, (v) => v), "M0.0 1.0L10.0 2.0");
});

test("the numbers of now say how far above the floor the held-out loss is", () => {
  const now = state({ training: [[10, 3.2]], validation: [[10, 3.5]], step: 10, steps: 20, loss: 3.2, held_out: 3.5, floor: 3 });
  assert.deepEqual(numbers(now),
    [["step", "10 of 20"], ["training", "3.200"], ["held-out", "3.500"], ["floor", "3.000"], ["above it", "0.500"]]);
  assert.deepEqual(numbers(state({})), [["step", "0"], ["training", "–"]]);
  const last = (floor) => numbers({ ...now, floor }).at(-1);
  assert.deepEqual(last(4.072), ["below the floor by", "0.572"]);
  assert.deepEqual(last(3.501), ["below the floor by", "0.001"]);
  assert.deepEqual(last(3.5004), ["above it", "0.000"], "no sign before a zero");
  assert.deepEqual(last(3.5), ["above it", "0.000"]);
});

test("the table samples evenly and keeps the last", () => {
  const points = [...Array(100).keys()].map((i) => [i, 1]);
  const rows = sampled(points);
  assert.ok(rows.length <= 12 && rows.at(-1)[0] === 99);
  assert.deepEqual(sampled(points.slice(0, 3)).length, 3);
  assert.equal(heldOutAt([[10, 3], [20, 2]], 15), 3);
  assert.equal(heldOutAt([[10, 3]], 5), null);
});
