// What is computed in the space itself, in all its numbers: neighbours, analogies, ranks; and what a picture keeps of it.

/** The dot product of every word's unit vector with a vector, [word]. */
export function along(unit, vector, count) {
  const width = vector.length;
  const found = new Float32Array(count);
  for (let row = 0, at = 0; row < count; row++, at += width) {
    let sum = 0;
    for (let j = 0; j < width; j++) sum += unit[at + j] * vector[j];
    found[row] = sum;
  }
  return found;
}

/** A word's vector at length 1, in snapshot `at`. */
export const unitOf = ({ unit, width }, at, row) => unit[at].subarray(row * width, (row + 1) * width);

/** A vector at length 1. */
export function normalised(vector) {
  const size = Math.hypot(...vector) || 1;
  return Float64Array.from(vector, (x) => x / size);
}

/** How near all words are to a word: by cosine, or by the dot product of the vectors as they are. */
export function nearness(space, at, row, measure = "cosine") {
  const found = along(space.unit[at], unitOf(space, at, row), space.count);
  if (measure === "dot") {
    const size = space.length[at];
    for (let i = 0; i < found.length; i++) found[i] *= size[i] * size[row];
  }
  return found;
}

/** The rows with the highest scores, the highest first, [{ row, score }]; those `without` are left out. */
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

/** Which place a row has, from 1 on; null where it is left out itself. */
export function rankOf(scores, row, without = []) {
  if (without.includes(row)) return null;
  const ahead = (of) => scores[of] > scores[row];
  let rank = 1;
  for (let i = 0; i < scores.length; i++) if (ahead(i)) rank++;
  return rank - new Set(without.filter(ahead)).size;
}

export const neighbours = (space, at, row, measure, count = 10) =>
  best(nearness(space, at, row, measure), count, [row]);

/** b − a + c, each at length 1. */
export function target(space, at, [a, b, c]) {
  const [from, to, third] = [a, b, c].map((row) => unitOf(space, at, row));
  return Float64Array.from(to, (x, j) => x - from[j] + third[j]);
}

/** How far two words are apart, each at length 1. */
export function apart(space, at, one, other) {
  const [from, to] = [one, other].map((row) => unitOf(space, at, row));
  return Math.sqrt(from.reduce((sum, x, j) => sum + (x - to[j]) ** 2, 0));
}

/** The cosine of every word with b − a + c (3CosAdd). */
export const added = (space, at, asked) =>
  along(space.unit[at], normalised(target(space, at, asked)), space.count);

/** The rank of d in every snapshot, the question's own words left out: by 3CosAdd, nearest to c, and nearest to b. */
export function ranks(space, [a, b, c, d]) {
  const asked = [a, b, c];
  return space.updates.map((_, at) => ({
    added: rankOf(added(space, at, asked), d, asked),
    c: rankOf(nearness(space, at, c), d, asked),
    b: rankOf(nearness(space, at, b), d, asked),
  }));
}

/** The direction of an axis, of length 1: from one word to another in the last snapshot. */
export function direction(space, [from, to]) {
  const [start, end] = [from, to].map((row) => unitOf(space, space.last, row));
  return normalised(end.map((x, j) => x - start[j]));
}

/** The picture's axes: `pairs` of rows, or the principal axes; a word stands at its unit vector, less `mean`, along
    each of the two `directions`. */
export function picture(space, pairs) {
  if (pairs.length) {
    return { directions: pairs.map((pair) => direction(space, pair)), mean: new Float64Array(space.width) };
  }
  return { directions: space.principal.axes.map((axis) => Float64Array.from(axis)),
    mean: Float64Array.from(space.principal.mean) };
}

/** Where all words stand in the picture in every snapshot, [snapshot] → [x, y, x, y, …]. */
export function coordinates(space, { directions, mean }) {
  const offset = directions.map((axis) => axis.reduce((sum, x, j) => sum + x * mean[j], 0));
  return space.unit.map((unit) => {
    const found = new Float32Array(2 * space.count);
    directions.forEach((axis, i) => {
      const places = along(unit, axis, space.count);
      for (let row = 0; row < space.count; row++) found[2 * row + i] = places[row] - offset[i];
    });
    return found;
  });
}

/** The cosine of the angle between the picture's two axes. */
export const between = ([one, other]) => one.reduce((sum, x, j) => sum + x * other[j], 0);

/** The rows nearest to a word in the picture. */
export function nearInPicture(xy, row, count = 10) {
  const scores = Float32Array.from({ length: xy.length / 2 }, (_, i) =>
    -Math.hypot(xy[2 * i] - xy[2 * row], xy[2 * i + 1] - xy[2 * row + 1]));
  return best(scores, count, [row]).map((one) => one.row);
}

/** How many letters must be added, taken away, changed or swapped with the next (optimal string alignment). */
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

/** Words that are spelled nearly like a text: at most a third of its letters are otherwise. */
export function spelledLike(text, words, count = 3) {
  const wanted = [...text.toLowerCase()].slice(0, 40);
  const most = Math.max(1, Math.floor(wanted.length / 3));
  return words.map((word, row) => ({ word, row, letters: [...word.toLowerCase()] }))
    .filter(({ letters }) => Math.abs(letters.length - wanted.length) <= most)
    .map(({ word, row, letters }) => ({ word, row, off: edits(wanted, letters) }))
    .filter(({ off }) => off <= most)
    .sort((a, b) => a.off - b.off || a.row - b.row).slice(0, count).map(({ word }) => word);
}
