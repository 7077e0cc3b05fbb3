// Computations in the full space (neighbours, analogies, ranks) and in the two-dimensional picture.

/** The dot product of every word's unit vector with a vector, [word]. */
export function along(unit, vector, count) {
  const width = vector.length;
  const products = new Float32Array(count);
  for (let row = 0, at = 0; row < count; row++, at += width) {
    let sum = 0;
    for (let j = 0; j < width; j++) sum += unit[at + j] * vector[j];
    products[row] = sum;
  }
  return products;
}

/** A word's unit vector in snapshot `at`. */
export const unitOf = ({ unit, width }, at, row) => unit[at].subarray(row * width, (row + 1) * width);

/** A vector normalised to length 1. */
export function normalised(vector) {
  const size = Math.hypot(...vector) || 1;
  return Float64Array.from(vector, (x) => x / size);
}

/** The similarity of all words to a word: the cosine, or the dot product of the unnormalised vectors. */
export function nearness(space, at, row, measure = "cosine") {
  const scores = along(space.unit[at], unitOf(space, at, row), space.count);
  if (measure === "dot") {
    const size = space.length[at];
    for (let i = 0; i < scores.length; i++) scores[i] *= size[i] * size[row];
  }
  return scores;
}

/** The rows with the highest scores in descending order, [{ row, score }], excluding those in `without`. */
export function best(scores, count, without = []) {
  const out = new Set(without);
  const found = [];
  for (let row = 0; row < scores.length; row++) {
    const score = scores[row];
    if (out.has(row) || (found.length === count && score <= found[count - 1].score)) continue;
    let place = found.length;
    while (place && found[place - 1].score < score) place--;
    found.splice(place, 0, { row, score });
    if (found.length > count) found.pop();
  }
  return found;
}

/** The rank of a row, from 1; null if the row itself is excluded. */
export function rankOf(scores, row, without = []) {
  if (without.includes(row)) return null;
  const ahead = (of) => scores[of] > scores[row];
  let rank = 1;
  for (let i = 0; i < scores.length; i++) if (ahead(i)) rank++;
  return rank - new Set(without.filter(ahead)).size;
}

export const neighbours = (space, at, row, measure, count = 10) =>
  best(nearness(space, at, row, measure), count, [row]);

/** b − a + c for unit vectors. */
export function target(space, at, [a, b, c]) {
  const [from, to, third] = [a, b, c].map((row) => unitOf(space, at, row));
  return Float64Array.from(to, (x, j) => x - from[j] + third[j]);
}

/** The Euclidean distance of two words' unit vectors. */
export function apart(space, at, one, other) {
  const [from, to] = [one, other].map((row) => unitOf(space, at, row));
  return Math.sqrt(from.reduce((sum, x, j) => sum + (x - to[j]) ** 2, 0));
}

/** The cosine of every word with b − a + c (3CosAdd). */
export const added = (space, at, asked) =>
  along(space.unit[at], normalised(target(space, at, asked)), space.count);

/** The rank of d in every snapshot, excluding the words of the question: by 3CosAdd, by similarity to c, and to b. */
export function ranks(space, [a, b, c, d]) {
  const asked = [a, b, c];
  return space.updates.map((_, at) => ({
    added: rankOf(added(space, at, asked), d, asked),
    c: rankOf(nearness(space, at, c), d, asked),
    b: rankOf(nearness(space, at, b), d, asked),
  }));
}

/** The unit direction of an axis from one word to another in the last snapshot. */
export function direction(space, [from, to]) {
  const [start, end] = [from, to].map((row) => unitOf(space, space.last, row));
  return normalised(end.map((x, j) => x - start[j]));
}

/** The picture's axes: `pairs` of rows, or the principal axes; a word's coordinates are its unit vector minus `mean`,
    projected onto the two `directions`. */
export function picture(space, pairs) {
  if (pairs.length) {
    return { directions: pairs.map((pair) => direction(space, pair)), mean: new Float64Array(space.width) };
  }
  return { directions: space.principal.axes.map((axis) => Float64Array.from(axis)),
    mean: Float64Array.from(space.principal.mean) };
}

/** The coordinates of all words in the picture in every snapshot, [snapshot] → [x, y, x, y, …]. */
export function coordinates(space, { directions, mean }) {
  const offset = directions.map((axis) => axis.reduce((sum, x, j) => sum + x * mean[j], 0));
  return space.unit.map((unit) => {
    const xy = new Float32Array(2 * space.count);
    directions.forEach((axis, i) => {
      const places = along(unit, axis, space.count);
      for (let row = 0; row < space.count; row++) xy[2 * row + i] = places[row] - offset[i];
    });
    return xy;
  });
}

/** The cosine of the angle between the picture's two axes. */
export const between = ([one, other]) => one.reduce((sum, x, j) => sum + x * other[j], 0);

/** The rows nearest to a word in the picture. */
export function nearInPicture(xy, row, count = 10) {
  const scores = Float32Array.from({ length: xy.length / 2 }, (_, i) =>
    -Math.hypot(xy[2 * i] - xy[2 * row], xy[2 * i + 1] - xy[2 * row + 1]));
  return best(scores, count, [row]).map((neighbour) => neighbour.row);
}

/** The edit distance with insertions, deletions, substitutions and adjacent swaps (optimal string alignment). */
export function edits(one, other) {
  let [before, last] = [[], Array.from({ length: other.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1];
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1));
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) {
        row[j] = Math.min(row[j], before[j - 2] + 1);
      }
    }
    [before, last] = [last, row];
  }
  return last[other.length];
}

/** Words with a spelling similar to a text: an edit distance of at most a third of its length. */
export function spelledLike(text, words, count = 3) {
  const wanted = [...text.toLowerCase()].slice(0, 40);
  const most = Math.max(1, Math.floor(wanted.length / 3));
  return words.map((word, row) => ({ word, row, characters: [...word.toLowerCase()] }))
    .filter(({ characters }) => Math.abs(characters.length - wanted.length) <= most)
    .map(({ word, row, characters }) => ({ word, row, off: edits(wanted, characters) }))
    .filter(({ off }) => off <= most)
    .sort((a, b) => a.off - b.off || a.row - b.row).slice(0, count).map(({ word }) => word);
}
