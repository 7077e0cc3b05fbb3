// Computations on word vectors of three layers: cosines, mixes, nearest neighbours, nearest-neighbour accuracy.

import { bytesOf } from "../shared/bytes.js";

export const LAYERS = [0, 1, 2];
export const DIRECTIONS = ["left", "right", "both"];
export const SCORES = ["sense", "sense elsewhere", "form", "form elsewhere"];
const TIED = 1e-6;
const SQUARES = [[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]];

/** Decodes vectors: one half of layer 0 (its halves are equal), then both halves of layers 1 and 2. */
export function vectorsOf(sent, half) {
  const numbers = new Float32Array(bytesOf(sent));
  return { numbers, half, wide: 5 * half, count: numbers.length / (5 * half) };
}

/** Offset of a layer's half in a row: side 0 is the forward LSTM. */
const startOf = (layer, side, half) => (layer ? 2 * layer - 1 + side : 0) * half;

/** Σⱼ sⱼ hⱼ of a row, both halves, in double precision. */
export function mixed({ numbers, half, wide }, row, shares) {
  const vector = new Float64Array(2 * half);
  for (const side of [0, 1]) {
    const [a, b, c] = LAYERS.map((layer) => row * wide + startOf(layer, side, half));
    for (let j = 0; j < half; j++) {
      vector[side * half + j] = shares[0] * numbers[a + j] + shares[1] * numbers[b + j] + shares[2] * numbers[c + j];
    }
  }
  return vector;
}

const dot = (one, other, from = 0, to = one.length) => {
  let sum = 0;
  for (let j = from; j < to; j++) sum += one[j] * other[j];
  return sum;
};
const cosine = (one, other, from, to) =>
  dot(one, other, from, to) / (Math.sqrt(dot(one, one, from, to) * dot(other, other, from, to)) || 1);

const alone = (layer) => LAYERS.map((other) => Number(other === layer));

/** Cosines of two rows, [layer][direction]. */
export function cosines(one, row, other, place) {
  return LAYERS.map((layer) => {
    const [a, b] = [mixed(one, row, alone(layer)), mixed(other, place, alone(layer))];
    return [[0, one.half], [one.half, 2 * one.half], [0, 2 * one.half]].map(([from, to]) => cosine(a, b, from, to));
  });
}

/** Sentences with the vectors of their words and an id for each word form. */
function rowsOf({ rows, vectors }, half, forms) {
  return { ...vectorsOf(vectors, half), rows: rows.map(([text, place, sense, pattern]) => {
    const words = text.split(" ");
    if (!forms.has(words[place])) forms.set(words[place], forms.size);
    return { words, place, sense, pattern, word: words[place], form: forms.get(words[place]) };
  }) };
}

/** Decodes the data that Python sends once. */
export function storeOf(sent) {
  const forms = new Map();
  const known = rowsOf(sent.known, sent.half, forms);
  return { ...sent, known, asked: rowsOf(sent.asked, sent.half, forms) };
}

/** The cosine of a vector with every stored one under a mix. */
export function nearness(known, vector, shares) {
  return Float64Array.from({ length: known.count }, (_, row) => cosine(vector, mixed(known, row, shares)));
}

/** Mean cosine of two stored occurrences of different words under a mix: |Σ u|² over all pairs, minus the pairs of the
    same form. 0 if there is only one form. */
export function strangersAt(known, shares) {
  const width = 2 * known.half;
  const sums = new Map();
  known.rows.forEach(({ form }, row) => {
    const vector = mixed(known, row, shares);
    const length = Math.sqrt(dot(vector, vector)) || 1;
    if (!sums.has(form)) sums.set(form, { count: 0, sum: new Float64Array(width) });
    const ofForm = sums.get(form);
    ofForm.count += 1;
    for (let j = 0; j < width; j++) ofForm.sum[j] += vector[j] / length;
  });
  const all = new Float64Array(width);
  for (const { sum } of sums.values()) for (let j = 0; j < width; j++) all[j] += sum[j];
  let [whole, count] = [dot(all, all), known.count ** 2];
  for (const ofForm of sums.values()) {
    whole -= dot(ofForm.sum, ofForm.sum);
    count -= ofForm.count ** 2;
  }
  return count ? whole / count : 0;
}

/** The nearest stored sentence of each pattern, nearest first: { row, score, more }, where `more` counts the other stored
    sentences of that pattern. The sentence itself is left out. */
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

/** ⟨xᵢ, yⱼ⟩ + ⟨xⱼ, yᵢ⟩ for the six pairs of layers (once if i = j); they determine the dot product under any mix. */
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

/** The products of all queries with all stored occurrences. `step(rows)` computes some, and returns true at the end. */
export function pairsOf({ known, asked }) {
  const [size, some] = [known.count, asked.count];
  const own = (vectors) => {
    const into = new Float32Array(6 * vectors.count);
    for (let row = 0; row < vectors.count; row++) products(vectors, row, vectors, row, into, 6 * row);
    return into;
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

/** For each of SCORES: which stored occurrences are candidates, and which are correct. */
const RULES = {
  sense: [(a, k) => a.form === k.form, (a, k) => a.sense === k.sense],
  "sense elsewhere": [(a, k) => a.form === k.form && a.pattern !== k.pattern, (a, k) => a.sense === k.sense],
  form: [() => true, (a, k) => a.form === k.form],
  "form elsewhere": [(a, k) => a.pattern !== k.pattern, (a, k) => a.form === k.form],
};

/** For each of SCORES and each query: the candidate rows and which of them are correct; null if the query does not
    count. */
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

/** Accuracy of the nearest neighbour under a scalar mix, by task (SCORES); ties count as the mean over the ties. */
export function scoresAt(pairs, questions, shares) {
  const weights = SQUARES.map(([i, k]) => shares[i] * shares[k]);
  const sum = (of, at) => {
    let total = 0;
    for (let n = 0; n < 6; n++) total += weights[n] * of[at + n];
    return total;
  };
  const [size, some] = [pairs.known.length / 6, pairs.asked.length / 6];
  const lengths = Float64Array.from({ length: size }, (_, k) => Math.sqrt(Math.max(sum(pairs.known, 6 * k), 1e-24)));
  const near = new Float64Array(size);
  const results = Object.fromEntries(SCORES.map((name) => [name, []]));
  for (let a = 0; a < some; a++) {
    const own = Math.sqrt(Math.max(sum(pairs.asked, 6 * a), 1e-24));
    for (let k = 0; k < size; k++) near[k] = sum(pairs.between, 6 * (a * size + k)) / (own * lengths[k]);
    for (const name of SCORES) {
      const question = questions[name][a];
      if (question) results[name].push(hits(near, question));
    }
  }
  return Object.fromEntries(SCORES.map((name) => [name, average(results[name])]));
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

/** Mean cosines of an occurrence with stored occurrences of its word form, layer by layer: those with the `same` sense in
    sentences of other patterns, and those with `another` sense; null if there are none. */
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

/** Projects weights outside the triangle (one is below 0) onto its edge. */
export function kept(shares) {
  const positive = shares.map((share) => Math.max(share, 0));
  const whole = positive.reduce((sum, share) => sum + share, 0) || 1;
  return positive.map((share) => share / whole);
}
