import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { exit, grid } from "../../plmlab/labs/gradient/cliff.js";
import { descend, errorAt, longestStep } from "../../plmlab/labs/gradient/descent.js";
import { mapOf } from "../../plmlab/labs/gradient/draws.js";
import { dialsOf } from "../../plmlab/labs/gradient/lab.js";
import { coloured, sizeStops } from "../../plmlab/labs/gradient/map.js";
import { CELLS, directions, normals, pushSizes, seeded, spectralRadius } from "../../plmlab/labs/gradient/maths.js";
import { amount, descended, dropped, left, pushed, share, verdict } from "../../plmlab/labs/gradient/messages.js";
import { ramp } from "../../plmlab/labs/shared/heat.js";

const fixtures = JSON.parse(readFileSync(new URL("gradient_fixtures.json", import.meta.url), "utf8"));
const near = (one, other, by = 1e-9) => assert.ok(Math.abs(one - other) < by, `${one} is not ${other}`);

test("sizes of pushes are those of torch's autograd", () => {
  for (const { cell, n, steps, U, bias, read, ...expected } of fixtures.pushes) {
    for (const push of ["state", "memory"].filter((name) => expected[name])) {
      const sizes = pushSizes({ cell, n, steps, U, bias, read: Float64Array.from(read), push,
        directions: directions(n, n, seeded(0)) });
      expected[push].forEach((row, t) => row.forEach((size, s) => near(sizes[t * steps + s], size)));
    }
  }
});

test("a push does not hang on which orthonormal directions stand for all", () => {
  const { cell, n, steps, U, bias, read } = fixtures.pushes.find((one) => one.cell === "gru" && one.n === 5);
  const axes = directions(5, 5, seeded(0));
  const turned = Float64Array.from([3, 4, 0, 0, 0, -4, 3, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 5, 0], (x) => x / 5);
  const of = (v) => pushSizes({ cell, n, steps, U, bias, read: Float64Array.from(read), directions: v });
  of(axes).forEach((size, i) => near(size, of(turned)[i]));
});

test("the spectral radius of known matrices, and of random ones as torch finds it", () => {
  const [cos, sin] = [1.3 * Math.cos(0.7), 1.3 * Math.sin(0.7)];
  near(spectralRadius([cos, -sin, sin, cos], 2), 1.3);
  near(spectralRadius([-2, 0, 0, 0, 1, 0, 0, 0, 0.5], 3), 2);
  near(spectralRadius([1, 1, 0, 1], 2), 1, 1e-6);
  assert.equal(spectralRadius([0, 5, 7, 0, 0, 3, 0, 0, 0], 3), 0);
  for (const { n, U, radius } of fixtures.radii) near(spectralRadius(U, n), radius, 1e-6);
});

test("random numbers are mulberry32's and normal, directions are orthonormal", () => {
  const random = seeded(1);
  assert.deepEqual([random(), random(), random()], [0.6270739405881613, 0.002735721180215478, 0.5274470399599522]);
  const many = normals(20_001, seeded(2));
  near(many.reduce((sum, x) => sum + x, 0) / many.length, 0, 0.03);
  near(many.reduce((sum, x) => sum + x * x, 0) / many.length, 1, 0.03);
  const [n, count] = [20, 8];
  const v = directions(n, count, seeded(3));
  for (let a = 0; a < count; a++) {
    for (let b = 0; b < count; b++) {
      let sum = 0;
      for (let j = 0; j < n; j++) sum += v[j * count + a] * v[j * count + b];
      near(sum, Number(a === b));
    }
  }
});

const settings = { cell: "rnn", radius: 1, bias: 1, inputs: 0.5, width: 16, steps: 32, push: "memory" };
const reached = (change, seed, t = 31) => mapOf({ ...settings, ...change, seed })[t * 32];

test("the answers to the guesses are true of every draw looked at", () => {
  for (let seed = 0; seed < 20; seed++) {
    assert.ok(reached({}, seed) < 0.01, "it vanishes with a radius of 1");
    const [middle, end] = [15, 31].map((t) => reached({ inputs: 0 }, seed, t));
    assert.ok(end > 0.1 && end < 3 && end / middle > 0.5 && end / middle < 2.5, "inputs of 0 keep it");
    for (const cell of ["lstm", "gru"]) {
      assert.ok(reached({ cell, radius: 1.1, bias: 0 }, seed) < 0.01, "gates half open");
      assert.ok(reached({ cell, radius: 1.1, bias: 3 }, seed) > 0.15, "gates open");
    }
  }
});

test("the identity keeps a push of a unit until the unit is cut", () => {
  const sizes = mapOf({ ...settings, cell: "irnn", radius: 1, width: 4, seed: 1 });
  for (let t = 0; t < 32; t++) {
    for (let s = 0; s <= t; s++) near(4 * sizes[t * 32 + s] ** 2, Math.round(4 * sizes[t * 32 + s] ** 2));
  }
});

test("a step of descent, worked by hand: at w = 0 the state is b", () => {
  const { loss, byW, byB } = errorAt(0, 0);
  near(loss, 0.04);
  near(byW, -0.05);
  near(byB, -0.1);
  const [, to] = descend({ w: 0, b: 0, rate: 2, steps: 1 });
  near(to.w, 0.1);
  near(to.b, 0.2);
  const [, short] = descend({ w: 0, b: 0, rate: 2, clip: 0.05, steps: 1 });
  near(short.w, 0.1 / Math.sqrt(5));
  near(short.b, 0.2 / Math.sqrt(5));
});

test("slopes are those of differences", () => {
  const h = 1e-6;
  for (const [w, b] of [[4.5, -2.5], [5, -2], [3.6, -1.9]]) {
    const { byW, byB } = errorAt(w, b);
    near(byW, (errorAt(w + h, b).loss - errorAt(w - h, b).loss) / (2 * h), 1e-6);
    near(byB, (errorAt(w, b + h).loss - errorAt(w, b - h).loss) / (2 * h), 1e-6);
  }
});

const frame = { w: [3.5, 5.5, 0.02], b: [-3.2, -1.2, 0.02] };
const paths = (start, clip) => [Infinity, clip].map((most) => descend({ ...start, clip: most, steps: 60 }));

test("where the lab begins, the cliff throws the point out, and clipping does not", () => {
  const [plain, clipped] = paths({ w: 4.5, b: -2.5, rate: 0.2 }, 1);
  assert.equal(longestStep(plain).step, 4);
  assert.ok(longestStep(clipped).length < 0.2 + 1e-9);
  assert.equal(descended(plain, clipped, { clip: 1, rate: 0.2, frame }),
    "Without clipping, step 4 throws the point from w = 4.53, b = −2.32 to w = 8.04, b = 3.57, outside the figure: " +
    "there the loss is 0.09, and the surface is so flat that the point stays there. With the gradient norm clipped at " +
    "1, no step is longer than 0.2, and after 60 steps the loss is 0.0084.");
});

test("where nothing is thrown or clipped, that is said", () => {
  const told = descended(...paths({ w: 3.5, b: -1.2, rate: 0.1 }, 3), { clip: 3, rate: 0.1, frame });
  assert.match(told, /^Without clipping, no step is longer than 0\.0\d+, and after 60 steps the loss is /);
  assert.match(told, /The gradient norm never exceeds 3, so clipping changes nothing\.$/);
});

test("a push is told with what is left of it", () => {
  const rnn = { push: "memory", memory: undefined };
  assert.equal(pushed(0.004, 3, 12, rnn), 
    "A perturbation at step 3 changes step 12 by 0.004: after 9 steps, 1/250 of it is left.");
  assert.equal(pushed(12.3, 3, 4, rnn),
    "A perturbation at step 3 changes step 4 by 12: after 1 step, it is 12 times its original size.");
  assert.equal(pushed(0.5, 0, 2, { push: "memory", memory: true }),
    "A perturbation of the cell state c at step 0 changes the cell state at step 2 by 0.5: after 2 steps, half of it " +
    "is left.");
  assert.match(pushed(0.5, 0, 2, { push: "state", memory: true }), / of the hidden state h at .* the hidden state at /);
  assert.match(pushed(0, 5, 2, rnn), /^Step 2 comes before step 5/);
  assert.match(pushed(1, 5, 5, rnn), /no step has been taken yet\.$/);
});

test("sizes and shares in words", () => {
  assert.deepEqual([0, 0.004, 0.5, 31.4, 3.2e-9, 2e7].map(amount), ["0", "0.004", "0.5", "31", "3.2 · 10⁻⁹", "2.0 · 10⁷"]);
  assert.deepEqual([0.33, 0.5, 0.999, 0.62, 0.0026, 1e-8].map(share),
    ["a third", "half", "almost all", "62 %", "1/380", "less than a millionth"]);
  assert.deepEqual([0, 1.02, 3e8].map(left), ["nothing of it is left", "it is about its original size",
    "it is more than a million times its original size"]);
  assert.equal(verdict(0.0026, 20), "It vanishes: after 19 steps, 1/380 of a perturbation is left");
  assert.equal(verdict(812, 20), "It explodes: after 19 steps, a perturbation is 812 times its original size");
  assert.equal(verdict(1, 5), "It is preserved: after 4 steps, a perturbation is about its original size");
});

test("the largest drop is named, or that there is none", () => {
  assert.equal(dropped([1, 0.9, 0.3, 0.28], 0, 3), "The largest drop is at step 2, to a third of the previous size.");
  assert.equal(dropped([1, 2, 4], 0, 2), "It does not shrink at any step.");
  assert.match(dropped([1, 0.9, 0, 0], 0, 3), /at step 2, to zero\.$/);
  assert.equal(dropped([1, 0.5], 1, 1), "");
});

test("1 has the middle colour, and what cannot be reached none", () => {
  const stops = sizeStops(["#5e3c99", "#b2abd2", "#f7f6f4", "#fdb863", "#e66101"]);
  assert.equal(stops.length, 9);
  assert.equal(stops[6], "#f7f6f4");
  const bytes = coloured(Float64Array.from([1, 0, 0, 1]), 2, ramp(stops));
  assert.deepEqual([0, 1, 2, 3].map((i) => bytes[4 * i + 3]), [255, 0, 255, 255]);
  [0xf7, 0xf6, 0xf4].forEach((value, c) => near(bytes[c], value, 3));
  assert.deepEqual([...bytes.slice(8, 11)], [0x5e, 0x3c, 0x99]);
});

test("a cell of the surface is a start, and back", () => {
  const { rows, columns, start, cell } = grid(frame);
  assert.deepEqual([rows, columns], [101, 101]);
  assert.deepEqual(start({ row: 65, column: 50 }), { w: 4.5, b: -2.5 });
  assert.deepEqual(cell({ w: 4.5, b: -2.5 }), { row: 65, column: 50 });
});

test("a line leaves a square where it crosses its edge", () => {
  assert.equal(exit([5, 5], [9, 9], 10), null);
  near(exit([5, 5], [15, 5], 10), 0.5);
  near(exit([5, 5], [0, -20], 10), 0.2);
});

test("only gated cells have a bias to set", () => {
  const has = Object.keys(CELLS).filter((cell) => dialsOf("map", cell).some(([trait]) => trait === "forget_bias"));
  assert.deepEqual(has, ["lstm", "gru"]);
  assert.deepEqual(dialsOf("cliff", "lstm").map(([trait]) => trait), ["rate", "clip"]);
});
