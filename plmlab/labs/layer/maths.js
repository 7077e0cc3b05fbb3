// What is computed of vectors in three layers: cosines, mixes, neighbours, and what the nearest neighbour tells.

import { bytesOf } from "../shared/bytes.js";

export const LAYERS = [0, 1, 2];
export const DIRECTIONS = ["left", "right", "both"];
export const SCORES = ["sense", "sense elsewhere", "form", "form elsewhere"];
const TIED = 1e-6;
const SQUARES = [[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]];

/** Vectors as they are sent: of layer 0 one half, which stands for both, then both halves of layers 1 and 2. */
export function vectorsOf(sent, half) {
  const numbers = new Float32Array(bytesOf(sent));
  return { numbers, half, wide: 5 * half, count: numbers.length / (5 * half) };
}

/** Where a layer's half begins in a row: side 0 is what was read from the left. */
const startOf = (layer, side, half) => (layer ? 2 * layer - 1 + side : 0) * half;

/** Σⱼ sⱼ hⱼ of a row, both halves, in double precision. */
export function mixed({ numbers, half, wide }, row, shares) {
  const found = new Float64Array(2 * half);
  for (const side of [0, 1]) {
    const [a, b, c] = LAYERS.map((layer) => row * wide + startOf(layer, side, half));
    for (let j = 0; j < half; j++) {
      found[side * half + j] = shares[0] * numbers[a + j] + shares[1] * numbers[b + j] + shares[2] * numbers[c + j];
    }
  }
  return found;
}

const dot = (one, other, from = 0, to = one.length) => {
  let sum = 0;
  for (let j = from; j < to; j++) sum += one[j] * other[j];
  return sum;
};
const cosine = (one, other, from, to) =>
  dot(one, other, from, to) / (Math.sqrt(dot(one, one, from, to) * dot(other, other, from, to)) || 1);

const alone = (layer) => LAYERS.map((other) => Number(other === layer));

/** How near two rows are: [layer][direction]. */
export function cosines(one, row, other, place) {
  return LAYERS.map((layer) => {
    const [a, b] = [mixed(one, row, alone(layer)), mixed(other, place, alone(layer))];
    return [[0, one.half], [one.half, 2 * one.half], [0, 2 * one.half]].map(([from, to]) => cosine(a, b, from, to));
  });
}

/** Sentences as they are computed with, with the vectors of their words and a number for each word form. */
function rowsOf({ rows, vectors }, half, forms) {
  return { ...vectorsOf(vectors, half), rows: rows.map(([text, place, sense, pattern]) => {
    const words = text.split(" ");
    if (!forms.has(words[place])) forms.set(words[place], forms.size);
    return { words, place, sense, pattern, word: words[place], form: forms.get(words[place]) };
  }) };
}

/** What Python sends once, as it is computed with. */
export function storeOf(sent) {
  const forms = new Map();
  const known = rowsOf(sent.known, sent.half, forms);
  return { ...sent, known, asked: rowsOf(sent.asked, sent.half, forms) };
}

/** The cosine of a vector with every stored one under a mix. */
export function nearness(known, vector, shares) {
  return Float64Array.from({ length: known.count }, (_, row) => cosine(vector, mixed(known, row, shares)));
}

/** How near two stored uses of different words are under a mix, in the mean: |Σ u|² counts all pairs, and what it has
    of one form is taken off. 0 where there is one form only. */
export function strangersAt(known, shares) {
  const width = 2 * known.half;
  const sums = new Map();
  known.rows.forEach(({ form }, row) => {
    const vector = mixed(known, row, shares);
    const length = Math.sqrt(dot(vector, vector)) || 1;
    if (!sums.has(form)) sums.set(form, { count: 0, sum: new Float64Array(width) });
    const mine = sums.get(form);
    mine.count += 1;
    for (let j = 0; j < width; j++) mine.sum[j] += vector[j] / length;
  });
  const all = new Float64Array(width);
  for (const { sum } of sums.values()) for (let j = 0; j < width; j++) all[j] += sum[j];
  let [whole, count] = [dot(all, all), known.count ** 2];
  for (const mine of sums.values()) {
    whole -= dot(mine.sum, mine.sum);
    count -= mine.count ** 2;
  }
  return count ? whole / count : 0;
}

/** The nearest stored sentence of each pattern, the nearest first: { row, score, more }, where `more` others of its
    pattern stand behind it. A row of the very words is left out. */
export function nearestKinds({ known }, scores, words, count) {
  const text = words.join(" ");
  const kinds = new Map();
  known.rows.forEach(({ pattern, words: own }, row) => {
    if (own.join(" ") === text) return;
    const best = kinds.get(pattern);
    if (!best) kinds.set(pattern, { row, score: scores[row], more: 0 });
    else {
      best.more += 1;
      if (scores[row] > best.score) Object.assign(best, { row, score: scores[row] });
    }
  });
  return [...kinds.values()].sort((a, b) => b.score - a.score || a.row - b.row).slice(0, count);
}

/** ⟨xᵢ, yⱼ⟩ + ⟨xⱼ, yᵢ⟩ for the six pairs of layers (once where i = j), of which the dot product of any mix follows. */
function products(one, row, other, place, into, at) {
  const { half } = one;
  const [x, y] = [row * one.wide, place * other.wide];
  const part = (a, b) => {
    let sum = 0;
    for (let j = 0; j < half; j++) sum += one.numbers[x + a + j] * other.numbers[y + b + j];
    return sum;
  };
  const sides = (i, k) => part(startOf(i, 0, half), startOf(k, 0, half)) +
    part(startOf(i, 1, half), startOf(k, 1, half));
  SQUARES.forEach(([i, k], n) => { into[at + n] = sides(i, k) + (i === k ? 0 : sides(k, i)); });
}

/** All asked occurrences beside all stored ones. `step(rows)` computes some more, and says whether all is done. */
export function pairsOf({ known, asked }) {
  const [size, some] = [known.count, asked.count];
  const own = (vectors) => {
    const found = new Float32Array(6 * vectors.count);
    for (let row = 0; row < vectors.count; row++) products(vectors, row, vectors, row, found, 6 * row);
    return found;
  };
  const pairs = { between: new Float32Array(6 * size * some), known: own(known), asked: own(asked), done: 0 };
  pairs.step = (rows) => {
    const until = Math.min(some, pairs.done + rows);
    for (; pairs.done < until; pairs.done++) {
      for (let k = 0; k < size; k++) products(asked, pairs.done, known, k, pairs.between, 6 * (pairs.done * size + k));
    }
    return pairs.done === some;
  };
  return pairs;
}

/** Which stored neighbours may be taken for each of SCORES, and which are right. */
const RULES = {
  sense: [(a, k) => a.form === k.form, (a, k) => a.sense === k.sense],
  "sense elsewhere": [(a, k) => a.form === k.form && a.pattern !== k.pattern, (a, k) => a.sense === k.sense],
  form: [() => true, (a, k) => a.form === k.form],
  "form elsewhere": [(a, k) => a.pattern !== k.pattern, (a, k) => a.form === k.form],
};

/** For each of SCORES: of each asked occurrence the stored rows that may be taken, and which of them are right; null
    where it does not count. */
export function questionsOf({ known, asked }) {
  return Object.fromEntries(SCORES.map((name) => [name, asked.rows.map((a) => {
    const [may, is] = RULES[name];
    const taken = [...known.rows.keys()].filter((k) => may(a, known.rows[k]));
    const right = taken.map((k) => is(a, known.rows[k]));
    const counts = right.includes(true) && (name.startsWith("form") || right.includes(false));
    return counts ? { taken: Int32Array.from(taken), right: Uint8Array.from(right) } : null;
  })]));
}

const average = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : 0);

/** The share that is right of the nearest neighbours under a mix, for each of SCORES; of neighbours equally near, the
    mean. */
export function scoresAt(pairs, questions, shares) {
  const weights = SQUARES.map(([i, k]) => shares[i] * shares[k]);
  const sum = (of, at) => {
    let found = 0;
    for (let n = 0; n < 6; n++) found += weights[n] * of[at + n];
    return found;
  };
  const [size, some] = [pairs.known.length / 6, pairs.asked.length / 6];
  const lengths = Float64Array.from({ length: size }, (_, k) => Math.sqrt(Math.max(sum(pairs.known, 6 * k), 1e-24)));
  const near = new Float64Array(size);
  const found = Object.fromEntries(SCORES.map((name) => [name, []]));
  for (let a = 0; a < some; a++) {
    const own = Math.sqrt(Math.max(sum(pairs.asked, 6 * a), 1e-24));
    for (let k = 0; k < size; k++) near[k] = sum(pairs.between, 6 * (a * size + k)) / (own * lengths[k]);
    for (const name of SCORES) {
      const question = questions[name][a];
      if (question) found[name].push(hits(near, question));
    }
  }
  return Object.fromEntries(SCORES.map((name) => [name, average(found[name])]));
}

function hits(near, { taken, right }) {
  let best = -Infinity;
  for (let i = 0; i < taken.length; i++) if (near[taken[i]] > best) best = near[taken[i]];
  let [all, hit] = [0, 0];
  for (let i = 0; i < taken.length; i++) {
    if (near[taken[i]] < best - TIED) continue;
    all += 1;
    hit += right[i];
  }
  return hit / all;
}

/** How near the stored ones of a word form stand to a word, layer by layer, in the mean: those with the `same` sense in
    sentences of other patterns, and those with `another` sense; null where there is none. */
export function bySense({ known }, one, row, { word, sense, pattern, text }) {
  const mean = (choose) => {
    const rows = [...known.rows.keys()].filter((k) => known.rows[k].word === word && choose(known.rows[k]));
    return rows.length ? { count: rows.length, cosines: LAYERS.map((layer) => average(rows.map((k) =>
      cosine(mixed(one, row, alone(layer)), mixed(known, k, alone(layer)))))) } : null;
  };
  return {
    same: mean((other) => other.sense === sense && other.pattern !== pattern && other.words.join(" ") !== text),
    another: mean((other) => other.sense !== sense),
  };
}

/** Shares of a point outside the triangle, where one is below 0, put on its edge. */
export function kept(shares) {
  const positive = shares.map((share) => Math.max(share, 0));
  const whole = positive.reduce((sum, share) => sum + share, 0) || 1;
  return positive.map((share) => share / whole);
}
