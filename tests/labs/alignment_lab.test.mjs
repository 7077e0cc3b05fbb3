import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as numbers from "../../plmlab/labs/alignment/numbers.js";
import * as told from "../../plmlab/labs/alignment/messages.js";
import { stroke, surely } from "../../plmlab/labs/alignment/links.js";
import { pixelsOf, shadeOf, sized } from "../../plmlab/labs/alignment/matrix.js";

const cases = JSON.parse(readFileSync(new URL("alignment_fixtures.json", import.meta.url), "utf8"));
const [plain, turned, moved, part, masked, same, bare] = cases.map(({ state }) => state);
const looks = (state) => numbers.looksOf(state.now, state.source.length);
const hold = (state, asks = true) => ({ moved: state.moved, masked: state.masked, asks });

test("the partners that are hit are Python's, by either label", () => {
  for (const { name, state, written, read } of cases) {
    assert.equal(numbers.onPartner(looks(state), state.now.partners), written, name);
    assert.equal(numbers.onPartner(looks(state), state.now.partners, 1), read, name);
  }
  assert.ok(cases.some(({ written, read }) => written > read));
});

test("rows of weights add up to 1, whatever the hand does", () => {
  for (const state of [plain, turned, moved, part, masked, same, bare]) {
    const rows = looks(state);
    assert.equal(rows.steps, state.now.tokens.length);
    for (let step = 0; step < rows.steps; step++) {
      assert.ok(Math.abs(rows.row(step).reduce((sum, weight) => sum + weight, 0) - 1) < 1e-6);
    }
  }
  assert.equal(looks(moved).at(1, 2), 1);
  for (let step = 0; step < looks(masked).steps; step++) assert.equal(looks(masked).at(step, 1), 0);
});

test("of equal weights the first is the heaviest, as in Python", () => {
  assert.equal(numbers.heaviest([0.25, 0.25, 0.25]), 0);
  assert.equal(numbers.heaviest(Float32Array.of(0.1, 0.4, 0.4)), 1);
});

test("rows are named by what was written, or by what was read one step before", () => {
  assert.deepEqual(numbers.rowNames(["a", "b", "[END]"], "written"), ["a", "b", "[END]"]);
  assert.deepEqual(numbers.rowNames(["a", "b", "[END]"], "read"), ["[START]", "a", "b"]);
});

test("what changed is told apart on both sides", () => {
  assert.deepEqual(numbers.changesOf(plain), { count: 0, first: null, lost: new Set(), fresh: new Set() });
  assert.deepEqual(numbers.changesOf(moved), { count: 1, first: [1, 1], lost: new Set([1]), fresh: new Set([1]) });
  const { count, lost, fresh } = numbers.changesOf(masked);
  assert.deepEqual([count, [...lost], [...fresh]], [3, [1, 2, 3], []]);
});

test("a look that is put where it lies is released", () => {
  const one = numbers.movedWith([], 2, 5, 1);
  assert.deepEqual(one, [{ step: 2, position: 5, share: 1 }]);
  assert.deepEqual(numbers.movedWith(one, 2, 6, 0.5), [{ step: 2, position: 6, share: 0.5 }]);
  assert.deepEqual(numbers.movedWith(one, 2, 5, 0.5), []);
  assert.equal(numbers.movedWith(one, 3, 5, 1).length, 2);
  assert.deepEqual(numbers.switched([4], 1), [1, 4]);
  assert.deepEqual(numbers.switched([1, 4], 1), [4]);
});

test("chips stand upright while they fit, else turned, and never on each other", () => {
  for (const [rows, room, turned] of [[[[20, 60], [20, 20, 20]], 400, false], [[Array(50).fill(40), Array(55).fill(30)], 900, true],
    [[Array(65).fill(60), Array(90).fill(30)], 900, true], [[[10], [10]], 300, false]]) {
    const at = numbers.arranged(rows, room);
    assert.equal(at.turned, turned);
    at.rows.forEach((places, i) => {
      assert.equal(places.length, rows[i].length);
      places.forEach(({ x, width }, k) => {
        assert.ok(x >= 0 && x + width <= at.width + 1e-9);
        if (!turned) assert.ok(width >= rows[i][k] + 10);
        if (k) assert.ok(x >= places[k - 1].x + places[k - 1].width - 1e-9);
      });
    });
    if (rows[1].length < 64) assert.ok(at.width <= room);
  }
});

test("thickness, opacity and colour hang on the weight alone", () => {
  assert.ok(stroke(1).width > 8 && stroke(0).width < 0.5 && stroke(1).opacity <= 1);
  assert.ok(stroke(0.5).width < stroke(0.6).width && stroke(0.5).opacity < stroke(0.6).opacity);
  assert.deepEqual([shadeOf(0), shadeOf(0.25), shadeOf(1)], [0, 128, 255]);
  const colours = new Uint8ClampedArray(4 * 256).fill(200);
  const words = new Uint32Array(pixelsOf(looks(plain), 2, [1], colours).buffer);
  const columns = plain.source.length;
  words.forEach((word, i) => assert.equal(word !== 0, i < 2 * columns && i % columns !== 1, "only what is shown, and not masked"));
});

test("the matrix shrinks with its columns, and leaves room beside it while there is", () => {
  assert.deepEqual(sized(10, 90, 924), { pitch: 34, tall: 28, beside: true });
  const long = sized(61, 90, 924);
  assert.ok(!long.beside && long.pitch === 13 && long.tall >= 13);
});

test("the title is the finding", () => {
  assert.equal(told.finding(plain), "4 of 5 words are correct; the largest weights recover 2 of 2 gold links");
  assert.match(told.finding(moved), /^3 of 5 words are correct; the largest weights recover 1 of 2 gold links$/);
  assert.match(told.finding({ ...moved, now: { ...moved.now, partners: [[1, 1]], hits: 0 } }), /; the largest weights recover 0 of 1 gold link$/);
  assert.match(told.finding(bare), /^5 words generated; the least certain is “.*” .*\(p 0\.\d+\)$/);
});

test("a written word tells where it looks", () => {
  assert.equal(told.rowSaid(plain, looks(plain), [], 1), "“女孩” (p 0.75): 75 % of its attention on “girls”, the aligned word.");
  assert.equal(told.rowSaid(turned, looks(turned), [], 5), "“钥匙” (p 0.75): 75 % of its attention on “key”, the aligned word.");
  assert.match(told.rowSaid(moved, looks(moved), moved.moved, 1),
    /^“唱歌” \(word 2\) \(p > 0\.999, wrong\): 100 % of its attention on “sing”; the aligned word “girls” gets 0 %\. You moved its attention to “sing”; press Delete to release it\.$/);
  assert.match(told.rowSaid(part, looks(part), part.moved, 1), /You moved 50 % of its attention to “sing”/);
  const thin = { at: () => 0.05, row: () => Float32Array.of(0.05, 0.06, 0.05), steps: 5 };
  assert.match(told.rowSaid(plain, thin, [], 0), /its attention is spread out, with less than 10 % on every word/);
  assert.match(told.rowSaid(plain, { ...thin, row: () => Float32Array.of(0, 0, 0) }, [], 0), /it attends to nothing/);
});

test("a source word tells who looked at it", () => {
  const said = told.columnSaid(plain, looks(plain), [], 1);
  assert.equal(said, "“girls”: “女孩” gives it 75 % of its attention; its weights over 5 steps add up to 1.0. The aligned word is “女孩”. " +
    "Click, or press Enter, to mask it.");
  assert.ok(!told.columnSaid(plain, looks(plain), [], 1, { asks: false }).includes("Click"));
  assert.match(told.columnSaid(masked, looks(masked), masked.masked, 1), /^“girls” is masked: no step can attend to it\. Click.* to unmask it\.$/);
  assert.match(told.columnSaid(moved, looks(moved), [], 2), /“唱歌” \(word 2\) gives it 100 % of its attention and “唱歌” \(word 3\) 75 %/);
});

test("a cell tells its share, its rank, and what can be done", () => {
  const said = told.cellSaid(plain, looks(plain), hold(plain), 1, 1);
  assert.equal(said, "“女孩” (p 0.75) puts 75 % of its attention on “girls”, the aligned word: its largest weight. Click, or press Enter, to move all of it there.");
  assert.match(told.cellSaid(plain, looks(plain), hold(plain, false), 1, 0), /; its largest weight is on “girls” \(75 %\)\.$/);
  assert.match(told.cellSaid(masked, looks(masked), hold(masked), 0, 1), /It is masked\.$/);
  assert.match(told.cellSaid(moved, looks(moved), hold(moved), 1, 2), /You moved its attention to “sing”; press Delete to release it\.$/);
});

test("one sentence says what the hand did", () => {
  const said = (state) => told.handSaid(state, state.moved, state.masked, numbers.changesOf(state));
  assert.equal(said(plain), "");
  assert.equal(said(moved), "You moved the attention of “女孩” to “sing”: 1 word changed: “女孩” became “唱歌” (word 2). " +
    "Correct words: 4 before, 3 now, of 5.");
  assert.match(said(part), /^You moved 50 % of the attention of “女孩” to “sing”: 1 word changed/);
  assert.match(said(masked), /^You masked “girls”: 3 words changed, the first at step 2: “女孩” was removed\./);
  assert.match(said(same), /: no word changed; the probability of “女孩” went from 0\.75 to > 0\.999\.$/);
  const many = [0, 1, 2, 3].map((step) => ({ step, position: 0, share: 1 }));
  assert.match(told.handSaid(plain, many, [1], numbers.changesOf(plain)),
    /^You moved the attention of .*, you moved the attention of .*, changed 2 more steps and masked “girls”: no word changed, and no probability/);
});

test("the wrong label says what it does to the count", () => {
  const counts = { written: 3, read: 1, of: 3 };
  assert.equal(told.labelSaid("written", ["a", "b"], counts), "A row is the attention at the step that generated its word: the largest weights recover 3 of 3 gold links.");
  assert.match(told.labelSaid("read", ["a", "b"], counts),
    /the row “a” is the attention that generated “b”\. The largest weights recover 1 of 3 gold links, compared with 3 under the correct labels\. .*tensor2tensor#898/);
  assert.ok(!told.labelSaid("read", ["a"], { written: 0, read: 0, of: 0 }).includes("recover"));
});

test("the first cell is a right word whose partner stands far off", () => {
  assert.deepEqual(numbers.firstCell(looks(turned), turned.now), { row: 5, column: 1 });
  assert.deepEqual(numbers.firstCell(looks(bare), bare.now), { row: 0, column: 0 });
});

test("numbers are short", () => {
  assert.deepEqual([surely(0.9999), surely(0.5), surely(0.001), surely(1)], ["≈ 1", "0.50", "≈ 0", "≈ 1"]);
});
