import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOf } from "../../plmlab/labs/shared/bytes.js";
import { ramp, sequential } from "../../plmlab/labs/shared/heat.js";
import {
  weightsOf, detailOf, cellOf, takenAlong, ordered, firstCell, spoken, carried,
} from "../../plmlab/labs/attention/numbers.js";
import { thumbnails, spans, shadeOf, switched } from "../../plmlab/labs/attention/overview.js";
import { turned, headPixels, pitchOf } from "../../plmlab/labs/attention/head.js";
import { bars } from "../../plmlab/labs/attention/cell.js";
import { heights, told, takenAway } from "../../plmlab/labs/attention/change.js";
import { arranged } from "../../plmlab/labs/attention/lab.js";

const near = (a, b, by = 1e-6) => assert.ok(Math.abs(a - b) <= by, `${a} is not ${b}`);
const base64 = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("base64");
const view = (array) => new DataView(array.buffer, array.byteOffset, array.byteLength);

// Two queries, three keys, width 4: q = (1 2 0 −1), (0 1 1 0); worked by hand below.
const NUMBERS = Float32Array.of(
  1, 2, 0, -1, 0, 1, 1, 0,
  2, 1, 0, 0, 0, 0, 4, 1, 1, 0, 0, 0,
  1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2,
  2, -0.5, 0.5, 0.5, 2, 0,
  0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0);
const SENT = { count: [2, 3], width: 4, scale: 0.5 };

test("bytes come as Jupyter gives them, out of a larger buffer too, and as a page of its own holds them", () => {
  const whole = Uint16Array.of(9, 1, 65535, 7);
  const part = new DataView(whole.buffer, 2, 4);
  assert.deepEqual([...new Uint16Array(bytesOf(part))], [1, 65535]);
  assert.deepEqual([...new Uint16Array(bytesOf(base64(Uint16Array.of(1, 65535))))], [1, 65535]);
});

test("weights are found by layer and head", () => {
  const all = Uint16Array.from({ length: 2 * 3 * 2 * 4 }, (_, i) => i);
  const weights = weightsOf({ size: [2, 3], queries: ["a", "b"], keys: ["c", "d", "e", "f"], weights: view(all) });
  assert.deepEqual([...weights.head(1, 2)], [40, 41, 42, 43, 44, 45, 46, 47]);
  assert.deepEqual([...weights.head(0, 1)], [8, 9, 10, 11, 12, 13, 14, 15]);
});

test("a cell, by hand", () => {
  const detail = detailOf({ ...SENT, numbers: view(NUMBERS) });
  assert.deepEqual([...detail.k(1)], [0, 0, 4, 1]);
  const cell = cellOf(detail, 0, 0, () => true);
  assert.deepEqual(cell.products, [2, 2, 0, -0]);
  assert.deepEqual([cell.dot, cell.scaled, cell.added, cell.score, cell.most], [4, 2, 0, 2, 2]);
  const total = 1 + Math.exp(-2.5) + Math.exp(-1.5);
  near(cell.total, total);
  [1, Math.exp(-2.5), Math.exp(-1.5)].forEach((part, k) => near(cell.row[k].weight, part / total));
  const { share, all } = takenAlong(detail, cell.row, 2);
  const third = Math.exp(-1.5) / total;
  [0, 0, third, 2 * third].forEach((value, i) => near(share[i], value));
  [1 / total, Math.exp(-2.5) / total, third, 2 * third].forEach((value, i) => near(all[i], value));
  assert.deepEqual(ordered(cell.row).map(({ k }) => k), [0, 2, 1]);
});

test("a key that may not be looked at takes no part in the sum", () => {
  const detail = detailOf({ ...SENT, numbers: base64(NUMBERS) });
  const cell = cellOf(detail, 0, 0, (k) => k > 0);
  assert.equal(cell.row[0].weight, 0);
  assert.equal(cell.most, 0.5);
  near(cell.row[1].weight + cell.row[2].weight, 1);
  const none = cellOf(detail, 0, 0, () => false);
  assert.deepEqual(none.row.map(({ weight }) => weight), [0, 0, 0]);
});

test("what a model adds of its own to a score is told apart from q·k", () => {
  const numbers = NUMBERS.slice();
  numbers[32] += 0.75;
  const cell = cellOf(detailOf({ ...SENT, numbers: view(numbers) }), 0, 0, () => true);
  near(cell.added, 0.75);
  near(cell.score, 2.75);
});

test("a score that is no inner product has no products, and is the model's own", () => {
  const detail = detailOf({ ...SENT, scale: null, formula: "tanh(q + k)", numbers: view(NUMBERS) });
  const [cell, same] = [cellOf(detail, 1, 1, () => true), cellOf(detail, 0, 0, () => true)];
  assert.deepEqual([cell.products, cell.added, cell.score, detail.formula], [[], 0, 2, "tanh(q + k)"]);
  const total = Math.exp(-1.5) + 1 + Math.exp(-2);
  [Math.exp(-1.5), 1, Math.exp(-2)].forEach((part, k) => near(cell.row[k].weight, part / total));
  assert.deepEqual([same.products, same.score], [[], 2]);
});

const MASK = { rule_ids: [1, -1, 1, 1], sentences: { 1: "it may.", "-1": "{key} comes later." } };
const NAMES = { queries: ["<b>", "it"], keys: ["<b>", "{query}"] };
const text = (pieces) => pieces.map((piece) => piece.text).join("");

test("one sentence says what a query gives to a key, or why it gives nothing", () => {
  const weights = Uint16Array.of(65535, 0, 16384, 49151);
  assert.equal(text(spoken(MASK, weights, NAMES, { q: 1, k: 1 }, false)),
    "it attends to {query} with weight 0.750, the largest in its row.");
  assert.equal(text(spoken(MASK, weights, NAMES, { q: 1, k: 0 }, false)),
    "it attends to <b> with weight 0.250, the second largest in its row.");
  assert.equal(text(spoken(MASK, weights, NAMES, { q: 0, k: 1 }, false)),
    "<b> cannot attend to {query}: {query} comes later.");
  assert.match(text(spoken(MASK, weights, NAMES, { q: 1, k: 1 }, true)), /switched off/);
});

test("the first cell is worth a look: not oneself, not an end", () => {
  const weights = Uint16Array.of(9, 0, 0, 0, 0, 9, 3, 0, 9, 4, 9, 0, 9, 5, 6, 9);
  assert.deepEqual(firstCell(weights, 4, 4), { q: 3, k: 2 });
  assert.deepEqual(firstCell(Uint16Array.of(65535), 1, 1), { q: 0, k: 0 });
});

test("a thin line stays a line where pixels are fewer than tokens", () => {
  const count = 64;
  const diagonal = Uint16Array.from({ length: count * count }, (_, i) => (i % (count + 1) === 0 ? 65535 : 0));
  const weights = { layers: 1, heads: 2, rows: count, columns: count, head: () => diagonal };
  const [side, pitch] = [20, 24];
  const bytes = thumbnails(weights, side, pitch, ramp(sequential()));
  assert.equal(bytes.length, 4 * 2 * pitch * pitch);
  const pixel = (x, y) => [...bytes.slice(4 * (y * 2 * pitch + x), 4 * (y * 2 * pitch + x) + 4)];
  for (let i = 0; i < side; i++) for (const at of [2, 26]) assert.deepEqual(pixel(at + i, 2 + i), [254, 232, 56, 255]);
  assert.deepEqual(pixel(2 + 19, 2), [0, 34, 78, 255]);
  assert.deepEqual(pixel(0, 0), [0, 0, 0, 0]);
});

test("every token has a pixel, however many share one", () => {
  for (const [count, side] of [[5, 20], [20, 5], [7, 7], [64, 31]]) {
    const covered = new Set(spans(count, side)
      .flatMap(([from, to]) => [...Array(to - from).keys()].map((i) => from + i)));
    assert.equal(covered.size, count);
    assert.equal(Math.max(...covered), count - 1);
  }
});

test("the scale begins at nothing, ends at one, and is half way at a quarter", () => {
  assert.deepEqual([0, 16384, 65535].map(shadeOf), [0, 128, 255]);
});

test("a blocked cell is transparent", () => {
  const bytes = headPixels(Uint16Array.of(65535, 0, 30000, 100), [1, -1, 1, 1], ramp(sequential()));
  assert.deepEqual([3, 7, 11, 15].map((i) => bytes[i]), [255, 0, 255, 255]);
});

test("a head is switched over, and a whole layer at once", () => {
  const one = switched([], "self", 1, 2, 3, false);
  assert.deepEqual(one, [["self", 1, 2]]);
  const layer = switched(one, "self", 1, 2, 3, true);
  assert.deepEqual(layer.map(([, , head]) => head).sort(), [0, 1, 2]);
  assert.deepEqual(switched(layer, "self", 1, 0, 3, true), []);
  assert.deepEqual(switched(one, "self", 1, 2, 3, false), []);
  assert.equal(switched(one, "cross", 1, 2, 3, false).length, 2);
});

test("a cell is closed, and opened again", () => {
  const once = turned([], "self", 1, 2);
  assert.deepEqual(once, [["self", 1, 2]]);
  assert.deepEqual(turned(once, "self", 1, 2), []);
  assert.equal(turned(once, "cross", 1, 2).length, 2);
});

test("a head stands beside the overview while its cells keep 16 px", () => {
  assert.equal(arranged(920, 15, 12, 80).together, true);
  assert.equal(arranged(920, 64, 12, 80).together, false);
  assert.equal(arranged(600, 15, 12, 80).together, false);
  assert.deepEqual([pitchOf(3, 80, 900), pitchOf(64, 80, 300)], [34, 12]);
});

test("changes are drawn against the largest, unless that is next to nothing", () => {
  assert.deepEqual(heights([0.1, 0.05, 0]), [46, 23, 0]);
  assert.ok(heights([1e-7, 0])[0] < 0.01);
  assert.deepEqual([0.1772, 0.0123, 0.00012, 1e-9].map(told), ["0.18", "0.012", "0.0001", "0"]);
  assert.equal(takenAway(1, 2), "1 head is off, 2 pairs are blocked");
});

test("bars stand on the middle line and keep inside the strip", () => {
  const ups = bars([1, -1, 0.5], 30, 1).match(/v(-?[\d.]+)h/g).map((part) => Number(part.slice(1, -1)));
  assert.deepEqual(ups, [-18, 18, -9]);
  assert.ok(!bars([0, 0], 30, 0).includes("NaN"));
});

test("a cell is found again among the same tokens and one more", () => {
  const [row, cut] = [["[CLS]", "a", "b", "a", "[SEP]"], ["[CLS]", "a", "[SEP]", "b", "a", "[SEP]"]];
  assert.deepEqual(carried({ q: 3, k: 2 }, row, cut), { q: 4, k: 3 });
  assert.deepEqual(carried({ q: 4, k: 3 }, cut, row), { q: 3, k: 2 });
  assert.deepEqual(carried({ q: 3, k: 3 }, row, ["[CLS]", "a"]), null);
});
