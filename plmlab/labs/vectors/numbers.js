// Decode the word vectors that Python sends as bytes into unit vectors and lengths.

import { bytesOf } from "../shared/bytes.js";

const NEAREST = 10;

/** The vectors of every snapshot: unit vectors `unit[i]`, [word, width], and `length[i]`, [word]; zeros stay zeros. */
function decoded({ numbers, steps }, snapshots, count, width) {
  const [sent, step] = [new Int16Array(bytesOf(numbers)), new Float32Array(bytesOf(steps))];
  const [unit, length] = [[], []];
  for (let i = 0; i < snapshots; i++) {
    const [rows, sizes] = [new Float32Array(count * width), new Float32Array(count)];
    for (let word = 0; word < count; word++) {
      const from = (i * count + word) * width;
      let square = 0;
      for (let j = 0; j < width; j++) square += sent[from + j] * sent[from + j];
      const size = Math.sqrt(square) || 1;
      for (let j = 0; j < width; j++) rows[word * width + j] = sent[from + j] / size;
      sizes[word] = size * step[i * count + word];
    }
    unit.push(rows);
    length.push(sizes);
  }
  return { unit, length };
}

/** The ten nearest neighbours of each word in the vectors of another seed, by cosine and by dot product. */
function twin(sent, count) {
  const rows = new Uint16Array(bytesOf(sent));
  const half = count * NEAREST;
  const of = (from) => (row) => rows.subarray(from + row * NEAREST, from + (row + 1) * NEAREST);
  return { cosine: of(0), dot: of(half) };
}

/** The decoded state; `row` maps words to rows, `groupOf` rows to groups or −1, `last` is the last snapshot. */
export function spaceOf(state) {
  const { words, width, updates, groups, counts, principal } = state;
  const count = words.length;
  const groupOf = new Int8Array(count).fill(-1);
  groups.forEach(({ rows }, group) => { for (const row of rows) groupOf[row] = group; });
  return {
    words, width, updates, groups, groupOf, counts, principal, count, last: updates.length - 1,
    row: new Map(words.map((word, row) => [word, row])), own: state.own,
    twins: state.twins.map((sent) => twin(sent, count)),
    ...decoded(state, updates.length, count, width),
  };
}
