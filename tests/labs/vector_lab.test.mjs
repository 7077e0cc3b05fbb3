import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { answered } from "../../plmlab/labs/vectors/analogy.js";
import { fitted, lens, radii } from "../../plmlab/labs/vectors/cloud.js";
import { firstAxes } from "../../plmlab/labs/vectors/controls.js";
import { readText } from "../../plmlab/labs/vectors/file.js";
import { placed } from "../../plmlab/labs/vectors/labels.js";
import { MARKS, neutrals } from "../../plmlab/labs/vectors/marks.js";
import { added, apart, best, between, coordinates, edits, nearInPicture, neighbours, picture, rankOf, ranks, spelledLike }
  from "../../plmlab/labs/vectors/maths.js";
import { agreeing, turnover } from "../../plmlab/labs/vectors/neighbours.js";
import { spaceOf } from "../../plmlab/labs/vectors/numbers.js";
import { gridOf, toward } from "../../plmlab/labs/vectors/picking.js";
import { rankTicks } from "../../plmlab/labs/vectors/ranks.js";
import { tableRows } from "../../plmlab/labs/vectors/table.js";
import { analogyFinding, axesSaid, changesSaid, pictureFinding, pointedSaid, unknownSaid,
  winnerSaid } from "../../plmlab/labs/vectors/messages.js";
import { rowOf, spotlit } from "../../plmlab/labs/vectors/words.js";
import { seeded } from "../../plmlab/labs/gradient/maths.js";

const { state, asked, axes, snapshots, pictures, seeds } = JSON.parse(
  readFileSync(new URL("vector_fixtures.json", import.meta.url), "utf8"));
const space = spaceOf(state);
const rows = (words) => words.map((word) => space.row.get(word));
const near = (one, other, by = 2e-4) => assert.ok(Math.abs(one - other) < by, `${one} is not ${other}`);
/** The same words with the same scores, as shares of a `size` of each. */
const same = (found, expected, size = () => 1) => {
  assert.deepEqual(found.map(({ row }) => space.words[row]), expected.map(([word]) => word));
  found.forEach(({ row, score }, i) => near(score / size(row), expected[i][1] / size(row)));
};

test("what was packed comes back, at length 1 and with its length", () => {
  snapshots.forEach(({ unit }, at) => unit.flat().forEach((x, i) => near(space.unit[at][i], x, 3e-5)));
  assert.deepEqual(space.words, state.words);
  assert.equal(space.last, 2);
  assert.deepEqual([...space.groupOf].slice(0, 6), [-1, 0, 0, 0, 0, -1]);
});

test("a vector of zeros is near to nothing, and breaks nothing", () => {
  const zeros = spaceOf({ ...state, words: ["a", "b"], width: 2, updates: [0], groups: [], twins: [],
    numbers: Buffer.from(Int16Array.of(0, 0, 3, 4).buffer).toString("base64"),
    steps: Buffer.from(Float32Array.of(0, 2).buffer).toString("base64") });
  assert.deepEqual(neighbours(zeros, 0, 1, "cosine"), [{ row: 0, score: 0 }]);
  assert.deepEqual([...zeros.length[0]], [0, 10]);
  assert.deepEqual(neighbours(zeros, 0, 0, "dot").map(({ score }) => score), [0]);
});

test("neighbours by cosine are gensim's, by dot product numpy's", () => {
  const king = space.row.get("king");
  snapshots.forEach((expected, at) => {
    same(neighbours(space, at, king, "cosine"), expected.near);
    const length = space.length[at];
    same(neighbours(space, at, king, "dot"), expected.dot, (row) => length[king] * length[row]);
  });
});

test("the answers of an analogy are gensim's, and numpy's with the question's words left in", () => {
  snapshots.forEach(({ kept, left, ranks: expected }, at) => {
    const found = answered(space, at, rows(asked));
    same(found.kept, kept);
    assert.deepEqual(found.left.map(({ word }) => word), left);
    assert.deepEqual({ added: found.ranks.added, b: found.ranks.b, c: found.ranks.c }, expected);
    assert.deepEqual(ranks(space, rows(asked))[at], expected);
  });
  assert.equal(answered(space, 0, rows(asked.slice(0, 3))).ranks, null);
});

test("an answer that is a word of the question has no rank without them", () => {
  const [a, b, c] = rows(asked);
  assert.equal(answered(space, 2, [a, b, c, c]).ranks.added, null);
  assert.ok(answered(space, 2, [a, b, c, c]).ranks.kept >= 1);
});

test("words stand where numpy puts them, on word axes and on principal ones, in every snapshot", () => {
  for (const [pairs, expected] of [[axes.map(rows), pictures.words], [[], pictures.principal]]) {
    const made = picture(space, pairs);
    coordinates(space, made).forEach((xy, at) => expected[at].flat().forEach((x, i) => near(xy[i], x)));
    near(between(made.directions), pairs.length ? pictures.angle : 0);
  }
  const ends = coordinates(space, picture(space, axes.map(rows)))[2];
  const [from, to] = rows(axes[0]).map((row) => ends[2 * row]);
  near(from, -to);
  space.principal.shares.forEach((share, i) => near(share, pictures.shares[i]));
});

test("another seed agrees on the neighbours that gensim finds there", () => {
  const king = space.row.get("king");
  neighbours(space, 2, king, "cosine").forEach(({ row }) => {
    const among = seeds.filter(({ cosine }) => cosine.includes(space.words[row])).length;
    assert.equal(agreeing(space, "cosine", king, row), 1 + among);
  });
  assert.ok(neighbours(space, 2, king, "cosine").some(({ row }) => agreeing(space, "cosine", king, row) === 3));
});

test("the best are a sort's, with ties in the order of the rows", () => {
  const random = seeded(3);
  for (let n = 1; n < 40; n += 3) {
    const scores = Float32Array.from({ length: n }, () => Math.floor(8 * random()));
    const sorted = [...scores.keys()].filter((row) => row !== 2).sort((a, b) => scores[b] - scores[a] || a - b);
    assert.deepEqual(best(scores, 10, [2]).map(({ row }) => row), sorted.slice(0, 10));
    sorted.forEach((row) => assert.equal(rankOf(scores, row, [2]),
      1 + sorted.filter((other) => scores[other] > scores[row]).length));
  }
  assert.equal(rankOf([1, 2, 3], 0, [0]), null);
  assert.equal(rankOf([1, 2, 3], 0, [2, 2, 1]), 1);
});

test("the word under the pointer is the nearest, as brute force finds it", () => {
  const random = seeded(5);
  const xy = Float32Array.from({ length: 600 }, () => random() ** 2);
  const seen = (row) => row % 7 !== 0;
  const grid = gridOf(xy, seen);
  for (let i = 0; i < 300; i++) {
    const [x, y, reach] = [1.4 * random() - 0.2, 1.4 * random() - 0.2, 0.1 * random()];
    const all = [...Array(300).keys()].filter(seen).map((row) => [Math.hypot(xy[2 * row] - x, xy[2 * row + 1] - y), row]);
    const [far, row] = all.reduce((a, b) => (b[0] < a[0] ? b : a));
    assert.equal(grid.nearest(x, y, reach), far <= reach ? row : -1);
  }
  assert.equal(gridOf(Float32Array.of(1, 1, 1, 1)).nearest(1, 1, 0.5) >= 0, true);
});

test("an arrow key leads to the next word in its direction, and stays where there is none", () => {
  const xy = [0, 0, 2, 0.5, 1, 3, -1, 0, 9, 0, 0, -2];
  assert.deepEqual(["ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown"].map((key) => toward(xy, 0, key)), [1, 2, 3, 5]);
  assert.equal(toward(xy, 4, "ArrowRight"), 4);
  assert.equal(toward(xy, 0, "ArrowRight", (row) => row !== 1), 4);
});

test("every word can be reached by arrow keys from the first", () => {
  const xy = coordinates(space, picture(space, []))[2];
  const [reached, open] = [new Set([0]), [0]];
  while (open.length) {
    const from = open.pop();
    for (const key of ["ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown"]) {
      const to = toward(xy, from, key);
      if (!reached.has(to)) {
        reached.add(to);
        open.push(to);
      }
    }
  }
  assert.equal(reached.size, space.count);
});

test("names never cover one another, and the weightiest has its place", () => {
  const random = seeded(9);
  const names = Array.from({ length: 200 }, (_, i) =>
    ({ i, x: 20 + 360 * random(), y: 20 + 260 * random(), gap: 4, width: 20 + 60 * random() }));
  const found = placed(names, { width: 400, height: 300, line: 16, most: 60 });
  assert.equal(found[0].i, 0);
  assert.ok(found.length > 25 && found.length <= 60);
  found.forEach((a, i) => {
    assert.ok(a.left >= 0 && a.left + a.width <= 400 && a.top >= 0 && a.top + 16 <= 300);
    found.slice(i + 1).forEach((b) => assert.ok(a.left >= b.left + b.width || b.left >= a.left + a.width ||
      a.top >= b.top + 16 || b.top >= a.top + 16, "they overlap"));
  });
});

test("a view holds all points, and px lead back", () => {
  const view = fitted([[-3, 1, 5, 2], [0, -9, 0, 0]], 400, 300);
  const at = lens(view, 400, 300);
  for (const [x, y] of [[-3, 1], [5, 2], [0, -9]]) {
    assert.ok(at.x(x) >= 34 - 1e-9 && at.x(x) <= 366 + 1e-9 && at.y(y) >= 34 - 1e-9 && at.y(y) <= 266 + 1e-9);
    near(at.backX(at.x(x)), x, 1e-9);
    near(at.backY(at.y(y)), y, 1e-9);
  }
  assert.ok(at.y(2) < at.y(1), "upwards is up");
  assert.ok(Number.isFinite(fitted([[1, 1, 1, 1]], 400, 300).scale));
});

test("points grow with the logarithm of counts", () => {
  const size = radii({ count: 3, counts: [0, 9, 999], groupOf: [-1, -1, -1] });
  near(size[0], 1.5, 1e-6);
  near((size[1] - size[0]) / (size[2] - size[0]), Math.log(10) / Math.log(1000), 1e-6);
  assert.equal(new Set(radii({ count: 3, counts: null, groupOf: [-1, -1, -1] })).size, 1);
});

test("groups differ in form, not in colour alone", () => {
  assert.equal(new Set(MARKS.map(({ form }) => JSON.stringify(form))).size, 7);
  assert.equal(new Set(MARKS.map(({ colour }) => colour)).size, 7);
});

test("neutrals can be read on light paper and on dark", () => {
  assert.deepEqual(neutrals([255, 255, 255]), { ink: "rgb(31, 35, 40)", soft: "rgb(94, 97, 100)", line: "rgb(219, 220, 221)",
    paper: "rgb(255, 255, 255)" });
  assert.equal(neutrals([17, 17, 17]).ink, "rgb(255, 255, 255)");
});

test("what comes and goes among neighbours", () => {
  assert.deepEqual(turnover([1, 2, 3], [2, 4]), { gained: [1, 3], lost: [4] });
  assert.equal(changesSaid(["a"], ["b", "c"], 2000), "Since update 2,000, new: “a”; gone: “b” and “c”.");
  assert.equal(changesSaid([], [], 5), "The same neighbours as at update 5.");
});

test("what looks near, and the table of it", () => {
  const xy = [0, 0, 3, 0, 1, 1, -9, 0];
  assert.deepEqual(nearInPicture(xy, 0, 2), [2, 1]);
  const found = tableRows({ space, at: 2, xy: coordinates(space, picture(space, []))[2], row: 1, near: [{ row: 0, score: -0.5 }] });
  assert.deepEqual(found.map(([word, score, , , , group]) => [word, score, group]),
    [["king", "–", "people"], ["the", "−0.50", "–"]]);
});

test("letters that must change, as counted by hand", () => {
  const count = (a, b) => edits([...a], [...b]);
  assert.deepEqual([count("cat", "cat"), count("cat", "cta"), count("cat", "cart"), count("kitten", "sitting"),
    count("", "ab"), count("🦊a", "🦊b")], [0, 1, 1, 3, 2, 1]);
  assert.deepEqual(spelledLike("gril", space.words), ["girl"]);
  assert.deepEqual(spelledLike("cus", space.words), ["cup", "cups"]);
  assert.deepEqual(spelledLike("xylophone", space.words), []);
});

test("words of one's own are found, and the unknown are told by name", () => {
  const { found, missing } = spotlit(space, "King, man woman;girls\n 猫 , wombat, <img src=x>，مرحبا");
  assert.deepEqual([...found].map((row) => space.words[row]), ["king", "man", "woman", "girls", "猫", "<img src=x>", "مرحبا"]);
  assert.deepEqual(missing.map(({ text }) => text), ["wombat"]);
  assert.equal(unknownSaid(spotlit(space, "quen").missing), "“quen” has no vector; similar spelling: queen.");
  assert.equal(unknownSaid(missing), "“wombat” has no vector; similar spelling: woman.");
  assert.match(unknownSaid(spotlit(space, "q w e r t z").missing), /2 more words have none\.$/);
  assert.equal(unknownSaid(spotlit(space, " , ,").missing), "");
  assert.equal(rowOf(space, "Queen"), 2);
  assert.equal(rowOf(space, "zürich"), undefined);
});

test("a file is read, or refused in words", () => {
  const bytes = (text) => new TextEncoder().encode(text).buffer;
  assert.deepEqual(readText(bytes("größer 猫"), "a.txt", 100), { text: "größer 猫" });
  assert.match(readText(bytes(""), "a.txt", 100).error, /^“a\.txt” is empty/);
  assert.match(readText(bytes("a\0b"), "a.png", 100).error, /^“a\.png” is not a text file: it contains zero bytes/);
  assert.match(readText(Uint8Array.of(0xe4, 0x20, 0x41).buffer, "a.txt", 100).error, /is not encoded in UTF-8/);
  assert.equal(readText({ byteLength: 4_200_000 }, "a.txt", 4_000_000).error,
    "“a.txt” has 4.2 MB; the limit is 4 MB. Shorten it, and try again.");
});

test("the finding of an analogy says whether the arithmetic was needed", () => {
  const words = ["man", "king", "woman", "queen"];
  assert.equal(analogyFinding(words, { added: 1, b: 3, c: 2 }), "b − a + c finds “queen”; neither “woman” nor “king” alone does");
  assert.equal(analogyFinding(words, { added: 1, b: 1, c: 2 }), "b − a + c finds “queen”, but “king” alone finds it too");
  assert.equal(analogyFinding(words, { added: 1, b: 2, c: 1 }), "b − a + c finds “queen”, but “woman” alone finds it too");
  assert.equal(analogyFinding(words, { added: 4, b: 9, c: 3 }), "b − a + c ranks “queen” 4th; “woman” alone ranks it 3rd");
  assert.equal(analogyFinding(words, { added: 4, b: 9, c: 1200 }), "b − a + c ranks “queen” 4th, higher than either word alone");
  assert.match(analogyFinding(words, { added: null }), /and therefore excluded$/);
});

test("who wins if the question's words may", () => {
  const [king, queen] = [{ word: "king", score: 0.861 }, { word: "queen", score: 0.7 }];
  const steps = { b: 0.61, c: 0.5 };
  assert.equal(winnerSaid(["man", "woman", "king"], [king], [queen], steps), "“king” itself (0.86), word c of the question. " +
    "The sum is c plus the offset b − a of length 0.61; c itself has length 1. If the words of the question are " +
    "excluded, as usual, it is “queen” (0.70).");
  assert.match(winnerSaid(["man", "king", "woman"], [king], [], steps), /word b of the question\. The sum is b plus the offset c − a of length 0\.50/);
  assert.match(winnerSaid(["a", "b", "c", "king"], [king], [king], steps), /^“king” \(0\.86\), which is not a word of the question\./);
});

test("how far words are apart", () => {
  const [a, b] = rows(["man", "king"]);
  const cosine = neighbours(space, 2, a, "cosine", 15).find(({ row }) => row === b).score;
  near(apart(space, 2, a, b), Math.sqrt(2 - 2 * cosine), 1e-6);
});

test("what the picture and the pointer say", () => {
  assert.equal(pictureFinding("girl", 10, 10), "The projection preserves all 10 nearest neighbours of “girl”");
  assert.equal(pictureFinding("girl", 0, 10),
    "The projection loses information: it preserves none of the 10 nearest neighbours of “girl”");
  assert.equal(pointedSaid({ word: "a", chosen: "b", score: 0.5, rank: 3, seems: 12, measure: "cosine", group: "g", read: 1200 }),
    "“a” (g, 1,200 occurrences): its cosine with “b” is 0.50, the 3rd highest of all words; in the picture it is the " +
    "12th nearest.");
});

test("the axes are told with what they hide", () => {
  const told = axesSaid({ pairs: [], shares: [0.105, 0.061], angle: 0, snapshots: 1 });
  assert.match(told, /explain 17 % of the variance .* the other 83 % is not in the picture/);
  const words = axesSaid({ pairs: axes, shares: [], angle: 0.46, snapshots: 3 });
  assert.match(words, /from “man” to “woman”.*from “girl” to “girls”.*not orthogonal \(cosine 0\.46\).*nothing is aligned/);
  assert.match(axesSaid({ pairs: axes, shares: [], angle: 0.04, snapshots: 1 }), /almost orthogonal\.$/);
  assert.match(axesSaid({ pairs: axes, shares: [], angle: 0.04, snapshots: 1, sized: true }), /the larger its point\.$/);
});

test("axes to begin with, and ranks on a scale", () => {
  assert.deepEqual(firstAxes(["a", "b", "c"]), [["a", "b"], ["a", "c"]]);
  assert.deepEqual(firstAxes([], "w", ["n"]), [["w", "n"], ["w", "n"]]);
  assert.deepEqual(rankTicks(12), [1, 2, 5, 10]);
  assert.deepEqual(rankTicks(1300), [1, 10, 100, 1000]);
  assert.equal(added(space, 0, [0, 0, 1]).length, space.count);
});
