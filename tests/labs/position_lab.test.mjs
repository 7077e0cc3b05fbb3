import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as plot from "../../plmlab/labs/shared/plot.js";
import * as heat from "../../plmlab/labs/shared/heat.js";
import { bytesOf } from "../../plmlab/labs/shared/bytes.js";
import * as maths from "../../plmlab/labs/position/maths.js";
import * as clocks from "../../plmlab/labs/position/clocks.js";
import * as views from "../../plmlab/labs/position/views.js";
import * as compared from "../../plmlab/labs/position/comparison.js";
import * as tokenMap from "../../plmlab/labs/position/token_map.js";
import * as sentence from "../../plmlab/labs/position/sentence.js";
import * as positionLab from "../../plmlab/labs/position/lab.js";

const fixtures = JSON.parse(readFileSync(new URL("position_fixtures.json", import.meta.url), "utf8"));
const js = { bytesOf, ...plot, ...heat, ...maths, ...clocks, ...views, ...sentence, ...tokenMap, ...compared,
  ...positionLab };

const close = (a, b, tolerance) => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b}`);
const cells = (length) => Array.from({ length: length * length }, (_, i) => [Math.floor(i / length), i % length]);

for (const { length, width, base, values, dots } of fixtures.encodings) {
  const name = `${length} positions of ${width} dimensions, base ${base}`;
  test(`${name}: the sinusoids are Python's`, () => {
    const table = js.sinusoids(length, width, base);
    values.forEach((value, i) => {
      close(table[i], value, 1e-6);
      close(js.sinusoid(Math.floor(i / width), i % width, width, base), value, 1e-6);
    });
  });

  test(`${name}: any dot product is that of the distance, and the band has no width`, () => {
    for (const [p, q, value] of dots) close(js.sinusoidDot(q - p, width, base), value, 1e-5);
    const table = js.sinusoids(length, width, base);
    const { least, mean, most } = js.byDistance(js.allDots(table, length, width), length, length);
    for (let d = 0; d < length; d++) {
      close(most[d] - least[d], 0, 1e-5);
      close(mean[d], js.sinusoidDot(d, width, base), 1e-5);
    }
  });
}

test("the paper's figures of d = 4", () => {
  const row = (p) => [0, 1, 2, 3].map((i) => js.sinusoid(p, i, 4, 10_000));
  [0.841471, 0.540302, 0.01, 0.99995].forEach((value, i) => close(row(1)[i], value, 5e-7));
  [0.909297, -0.416147, 0.019999, 0.9998].forEach((value, i) => close(row(2)[i], value, 5e-7));
});

test("five hundred turns later the sinusoids are still the formula's", () => {
  const table = js.sinusoids(512, 8, 100);
  for (let i = 0; i < 8; i++) close(table[511 * 8 + i], js.sinusoid(511, i, 8, 100), 1e-6);
});

test("a wave begins again after its wavelength", () => {
  for (const dimension of [0, 5, 12]) {
    const long = js.wavelength(dimension, 16, 10_000);
    const at = (p) => js.sinusoid(p, dimension, 16, 10_000);
    for (const p of [0, 3, 10]) close(at(p + long), at(p), 1e-9);
    close(at(3 + long / 2), -at(3), 1e-9);
  }
});

test("least, mean and most at a distance, against a plain search, in a part of the positions", () => {
  const [size, length, width] = [7, 5, 3];
  const table = Float32Array.from({ length: size * width }, (_, i) => Math.sin(7 * i * i));
  const { least, mean, most } = js.byDistance(js.allDots(table, size, width), size, length);
  for (let d = 0; d < length; d++) {
    const found = [];
    for (let p = 0; p + d < length; p++) found.push(js.dot(table, width, p, p + d));
    close(least[d], Math.min(...found), 1e-6);
    close(most[d], Math.max(...found), 1e-6);
    close(mean[d], found.reduce((a, b) => a + b) / found.length, 1e-6);
    assert.ok(d === length - 1 || most[d] > least[d] + 1e-3);
  }
});

const wrapped = (angle) => Math.atan2(Math.sin(angle), Math.cos(angle));

for (const { width, base, back, hands } of fixtures.clocks) {
  test(`${width / 2} clocks, base ${base}: the hands are Python's, and ${back} back is one angle everywhere`, () => {
    for (const [position, dimension, sin, cos, between] of hands) {
      const [x, y] = js.tip(js.turnOf(position, dimension, width, base), 1);
      close(x, sin, 1e-6);
      close(-y, cos, 1e-6);
      const turn = js.turnOf(back, dimension, width, base);
      close(wrapped(turn), between, 1e-6);
      const [from, to] = [Math.cos(turn), Math.sin(turn)];
      close(x * from + y * to, js.sinusoid(position - back, dimension, width, base), 1e-9);
      close(x * to - y * from, js.sinusoid(position - back, dimension + 1, width, base), 1e-9);
    }
  });
}

test("at most six clocks, from the fastest to the slowest, evenly chosen", () => {
  assert.deepEqual(js.pairsShown(64), [0, 12, 24, 38, 50, 62]);
  assert.deepEqual([2, 4, 8].map(js.pairsShown), [[0], [0, 2], [0, 2, 4, 6]]);
  for (const width of [12, 16, 100, 512]) {
    const shown = js.pairsShown(width);
    const steps = shown.slice(1).map((dimension, i) => dimension - shown[i]);
    assert.deepEqual([shown.length, shown[0], shown.at(-1)], [6, 0, width - 2]);
    assert.ok(Math.max(...steps) - Math.min(...steps) <= 2 && Math.min(...steps) >= 2);
  }
});

test("a hand points up at 0 and turns as a clock's does", () => {
  const quarters = [[0, -5], [5, 0], [0, 5], [-5, 0]];
  quarters.forEach(([x, y], i) => {
    const [found, down] = js.tip((i * Math.PI) / 2, 5);
    close(found, x, 1e-9);
    close(down, y, 1e-9);
  });
});

test("an arc runs from the hand that stands back to the hand at the top, and winds outwards past a full turn", () => {
  for (const turn of [0.0004, 0.5, 3, 4, 9, 32, 500]) {
    const points = js.arcPath(turn).slice(1).split("L").map((point) => point.split(" ").map(Number));
    const [angles, radii] = [points.map(([x, y]) => Math.atan2(x, -y)), points.map((point) => Math.hypot(...point))];
    const swept = angles.slice(1).reduce((sum, angle, i) => sum + wrapped(angle - angles[i]), 0);
    close(swept, turn, 2e-3);
    close(wrapped(angles[0] + turn), 0, 1e-3);
    close(angles.at(-1), 0, 1e-3);
    assert.ok(turn < 0.25 ? radii[0] > 40 : radii.at(-1) < 40, "inside the hands, or beyond them where it is small");
    const wound = radii.at(-1) - radii[0];
    if (turn < 2 * Math.PI) close(wound, 0, 0.02);
    else assert.ok(wound > 3);
  }
});

test("angles are told in turns and degrees, and a hand that is missing is told", () => {
  assert.deepEqual([3, 0.0004, 7, 32, 1e-9].map(js.told),
    ["172°", "0.0229°", "1 turn + 41.1°", "5 turns + 33.5°", "under 0.000001°"]);
  assert.equal(js.sentence(3, 7, 3),
    "Going three positions back turns this clock by 172°, at every position: one rotation matrix turns all clocks " +
    "three positions back.");
  assert.equal(js.sentence(3, 7, 3), js.sentence(3, 50, 3));
  assert.equal(js.sentence(13, 4, 13), "Going 13 positions back turns this clock by 2 turns + 24.8°, at every " +
    "position from 13 on; position 4 has no dashed hand.");
});

for (const { length, window, rows } of fixtures.distances) {
  test(`${length} tokens, window ${window}: rows and how many pairs share them, as in Python`, () => {
    assert.deepEqual(cells(length).map(([q, k]) => js.distanceRow(q, k, window)), rows);
    const counts = js.pairsOfRows(length, window);
    assert.equal(counts.length, 2 * window + 1);
    counts.forEach((count, row) => assert.equal(count, rows.filter((r) => r === row).length));
  });
}

test("a learned table comes back from its bytes, off by no more than half a step", () => {
  const { values, bytes, ...scales } = fixtures.table;
  const found = js.unpacked(Uint8Array.from(bytes), scales);
  const half = (i) => 0.501 * scales.size[Math.floor(i / 5)] * scales.step[i % 5];
  values.forEach((value, i) => close(found[i], value, half(i) + 1e-6));
  const base64 = Buffer.from(bytes).toString("base64");
  assert.deepEqual([...new Uint8Array(js.bytesOf(base64))], bytes);
  const binary = new DataView(Uint8Array.from([9, ...bytes, 9]).buffer, 1, bytes.length);
  assert.deepEqual([...new Uint8Array(js.bytesOf(binary))], bytes);
});

test("of several tables each has its part of the bytes, and the model says what it does with them", () => {
  const { values, bytes, ...scales } = fixtures.table;
  const axes = [{ title: "position", positions: 7, ...scales },
    { title: "position in blank", positions: 2, size: [1, 2], low: [5, 6, 7], step: [0, 0, 1] }];
  const all = Uint8Array.from([...bytes, 9, 9, 1, 9, 9, 3]);
  const [first, second] = axes.map((_, axis) => js.tableOf({ name: "GLM", axes }, axis));
  assert.deepEqual([first.from, first.to, second.from, second.to], [0, 35, 35, 41]);
  assert.deepEqual([...js.unpacked(all.subarray(first.from, first.to), first)],
    [...js.unpacked(Uint8Array.from(bytes), scales)]);
  assert.deepEqual([...js.unpacked(all.subarray(second.from, second.to), second)], [5, 6, 8, 10, 12, 20]);
  assert.equal(second.title, "position in blank");
  assert.match(js.axesSaid({ name: "GLM", axes }), /^Two axes: GLM adds one vector from each of its position tables/);
  assert.match(js.axesSaid({ name: "a box", axes: [...axes, ...axes].slice(1) }), /^Three axes: a box adds/);
  const made = ({ axis }) => js.learned({ length: 2 }, { table: Float32Array.from([1, 0, 0, 1]), limit: 1, name: "GLM",
    all: Float32Array.from([1, 0, 0, 1]), axis, positions: 2, width: 2 }).title;
  assert.deepEqual(["", "position in blank"].map((axis) => made({ axis })),
    ["Learned position embeddings of GLM", "Learned position embeddings of GLM (position in blank)"]);
});

test("the bulk is where the share of the sizes ends", () => {
  assert.equal(js.bulk([...Array(100).keys()].map((v) => -v), 0.9), 89);
  assert.equal(js.bulk([-5, 1, 2], 1), 5);
});

test("colours: cividis is the library's; ramps meet their stops; values beyond the ends take the end", () => {
  const hex = ([r, g, b]) => `#${[r, g, b].map((c) => c.toString(16).padStart(2, "0")).join("")}`;
  assert.deepEqual(js.sequential().map((c) => hex(js.rgb(c))), fixtures.cividis);
  const ramp = js.ramp(["#000000", "#ff8000", "#ffffff"]);
  assert.deepEqual([...ramp.slice(0, 4)], [0, 0, 0, 255]);
  assert.deepEqual([...ramp.slice(-4)], [255, 255, 255, 255]);
  const painted = js.pixels(3, (i) => [-9, 0, 9][i], -1, 1, ramp);
  assert.deepEqual([...painted.slice(0, 4), ...painted.slice(8)], [0, 0, 0, 255, 255, 255, 255, 255]);
  close(painted[4], 255, 2);
  close(painted[5], 128, 2);
});

test("a walk over a map of any shape keeps inside", () => {
  const from = { row: 3, column: 2 };
  const to = (key, control) => js.walk(key, from, 5, 40, control);
  assert.deepEqual(to("ArrowUp"), { row: 2, column: 2 });
  assert.deepEqual(to("ArrowRight"), { row: 3, column: 3 });
  assert.deepEqual(to("PageDown"), { row: 4, column: 2 });
  assert.deepEqual(to("PageUp"), { row: 0, column: 2 });
  assert.deepEqual(to("End"), { row: 3, column: 39 });
  assert.deepEqual(to("Home", true), { row: 0, column: 0 });
  assert.deepEqual(to("End", true), { row: 4, column: 39 });
  assert.equal(to("Tab"), null);
});

test("round numbers lie inside and are evenly spaced", () => {
  assert.deepEqual(js.roundNumbers(0, 63, 6), [0, 20, 40, 60]);
  assert.deepEqual(js.roundNumbers(-1.1, 1.1, 4), [-1, 0, 1]);
  assert.deepEqual(js.roundNumbers(-0.031, 0.022, 4), [-0.02, 0, 0.02]);
  assert.deepEqual(js.roundNumbers(0, 511, 8), [0, 100, 200, 300, 400, 500]);
});

test("numbers on an axis are short", () => {
  assert.deepEqual([5000, 150_000, -20_000, 0.5].map(js.tick), ["5,000", "150k", "−20k", "0.5"]);
});

test("a number of six letters on the axis has room, and others leave the field where it is", () => {
  const left = (low, high) =>
    js.field({ width: 300, height: 190, x: { low: 0, high: 9 }, y: { low, high } }).left;
  assert.deepEqual([[-0.006, 0.011], [-1.1, 1.1], [0, 5000], [-90_000, 90_000]].map((ends) => left(...ends)),
    [51, 46, 46, 46]);
});

test("lines and bands keep inside the plot", () => {
  const same = (v) => v;
  assert.equal(js.lineThrough([1, 9, -9], same, same, 0, 5), "M0.0 1.0L1.0 5.0L2.0 0.0");
  assert.equal(js.between([1, 1], [2, 3], same, same, 0, 5), "M0.0 1.0L1.0 1.0L1.0 3.0L0.0 2.0z");
  assert.equal(js.linear(0, 10, 100, 0)(2.5), 75);
});

test("the question's two pairs are equally far apart and inside", () => {
  for (const length of [2, 8, 44, 45, 512]) {
    const [[a, b], [c, d]] = js.twoPairs(length);
    assert.equal(b - a, d - c);
    assert.ok(Math.min(a, c) >= 0 && Math.max(b, d) < length);
  }
  assert.deepEqual(js.twoPairs(64), [[3, 7], [40, 44]]);
});

test("a sinusoidal encoding answers for itself", () => {
  globalThis.document = { createElement: () => ({ dataset: {}, append() {}, setAttribute() {} }) };
  const made = js.sinusoidal({ width: 64, length: 64, base: 10_000 });
  close(made.dot(3, 7), js.dot(made.table, 64, 40, 44), 1e-4);
  assert.match(made.dotTitle, /at distance 4 is 23\.93 everywhere/);
  assert.match(made.waveTitle(12), /every 35\.3 tokens/);
  assert.equal(made.why(7, 12)[0], "sin(7\u00a0/\u00a0");
  assert.equal(made.why(7, 13)[0], "cos(7\u00a0/\u00a0");
  delete globalThis.document;
});

test("maps fit their room, abreast where they can", () => {
  for (const count of [3, 14, 30, 64]) {
    for (const room of [370, 640, 900, 1080]) {
      const { cell, abreast } = js.mapsLayout(count, 90, room);
      assert.ok(90 + abreast * cell * count + (abreast - 1) * 14 <= room, `${count} in ${room}`);
    }
  }
  assert.deepEqual([[14, 400], [14, 640], [64, 640], [64, 900]].map(([n, room]) => js.mapsLayout(n, 90, room).abreast),
    [1, 3, 1, 3]);
});

test("labels give way to the marked one", () => {
  const written = (every, marked) => [...Array(10).keys()].filter((i) => js.isWritten(i, every, marked));
  assert.deepEqual(written(1, 4).length, 10);
  assert.deepEqual(written(3, 4), [0, 4, 9]);
  assert.deepEqual(written(3, 3), [0, 3, 6, 9]);
});

test("a token too wide ends in an ellipsis, and no letter is cut in two", () => {
  const measure = (text) => 10 * [...text].length;
  assert.equal(js.trimmed("abc", 30, measure), "abc");
  assert.equal(js.trimmed("abcdef", 40, measure), "abc…");
  assert.equal(js.trimmed("🦊🦊🦊🦊", 30, measure), "🦊🦊…");
});

test("a slider holds the value that was set, and each kind has its own sliders", () => {
  const traits = { length: 64, width: 32, base: 77, window: 50, back: 40, axis: 0,
    learned: { name: "GLM", axes: [{ positions: 48, low: Array(384) }, { positions: 20, low: Array(384) }] } };
  const of = (kind) => js.dialsOf((name) => (name === "kind" ? kind : traits[name]));
  const last = (kind, trait) => of(kind).find((d) => d.trait === trait)?.values.at(-1);
  assert.equal(last("sinusoidal", "dimension"), 31);
  assert.equal(last("learned", "dimension"), 383);
  assert.equal(last("learned", "position"), 47);
  assert.equal(last("learned", "length"), 48);
  traits.axis = 1;
  assert.equal(last("learned", "position"), 19);
  traits.learned = {};
  assert.deepEqual(of("learned").map(({ values }) => values), [[2], [0, 1], []]);
  assert.equal(last("relative", "position"), 63);
  assert.equal(last("relative", "window"), 50);
  assert.ok(of("sinusoidal").find((d) => d.trait === "base").values.includes(77));
  assert.equal(last("sinusoidal", "back"), 40);
  assert.deepEqual(of("sentence"), []);
  traits.moved = 10;
  assert.equal(last("compared", "moved"), 50);
});

test("changes are written as they are: 0 is nothing at all", () => {
  assert.deepEqual([0, 1e-7, 0.0123, 3.7578].map((value) => js.changeSaid(value, 1e-5)),
    ["0", "< 0.00001", "0.0123", "3.76"]);
});

test("a pair keeps inside the sentence, and its key does not come later", () => {
  assert.deepEqual(js.pairOf({ query: 9, key: 8 }, 14), { row: 9, column: 8 });
  assert.deepEqual(js.pairOf({ query: 9, key: 8 }, 5), { row: 4, column: 4 });
  assert.deepEqual(js.pairOf({ query: 2, key: 8 }, 14), { row: 2, column: 2 });
  assert.equal(js.pairSaid({ row: 4, column: 1 }, 0),
    "{query}, at position 4, attends to {key}, at position 1: distance 3");
  assert.equal(js.pairSaid({ row: 4, column: 3 }, 10),
    "{query}, at position 14, attends to {key}, at position 13: still at distance 1");
  assert.equal(js.pairSaid({ row: 4, column: 4 }, 0),
    "{query}, at position 4, attends to {key}, at position 4: distance 0");
});

test("the scores that Python sends come apart: ways before, ways after, terms", () => {
  const { before, after, terms } = js.sorted(Float32Array.from({ length: (2 * 3 + 4) * 4 }, (_, i) => i), 3, 2);
  assert.deepEqual([before, after, terms].map((lists) => lists.map(([first]) => first)),
    [[0, 4, 8], [12, 16, 20], [24, 28, 32, 36]]);
  assert.deepEqual([...after[1]], [16, 17, 18, 19]);
});

test("terms are stacked on either side of zero, and what is left of the one over the other is their sum", () => {
  assert.deepEqual(js.stacked([2, -1, 0.5, -3]), [[0, 2], [-1, 0], [2, 2.5], [-4, -1]]);
  assert.deepEqual(js.stacked([0, -1]), [[0, 0], [-1, 0]]);
});

test("cards fit their room", () => {
  for (const count of [1, 14, 30, 62]) {
    for (const room of [340, 400, 640, 820, 1084]) {
      const { abreast, width, cell } = js.cardsLayout(count, 80, room);
      assert.ok(80 + abreast * width + (abreast - 1) * 18 <= room, `${count} in ${room}`);
      assert.ok(cell === 3 || cell * count + 16 <= width);
    }
  }
  assert.deepEqual([340, 640, 924].map((room) => js.cardsLayout(14, 80, room).abreast), [1, 2, 4]);
});
