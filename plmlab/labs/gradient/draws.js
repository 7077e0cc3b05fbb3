// The weights and inputs of the map: drawn once for a seed and a width, then only scaled as the sliders say.

import { CELLS, directions, normals, pushSizes, seeded, spectralRadius } from "./maths.js";

const PUSHES = 8;
const LONGEST = 32;
const drawn = new Map();

/** Random numbers of a seed, a stream for each use. */
const stream = (seed, use) => seeded(Math.imul(seed + 1, 0x9e3779b1) + use);

/** A recurrent matrix [gates · n, n] whose gates each have spectral radius 1: random, or the identity. */
function unitRadius(cell, n, random) {
  const { gates } = CELLS[cell];
  if (cell === "irnn") return Float64Array.from({ length: n * n }, (_, i) => Number(i % (n + 1) === 0));
  const U = normals(gates * n * n, random);
  for (let gate = 0; gate < gates; gate++) {
    const block = U.subarray(gate * n * n, (gate + 1) * n * n);
    const radius = spectralRadius(block, n);
    for (let i = 0; i < block.length; i++) block[i] /= radius;
  }
  return U;
}

/** What is drawn for a cell, a width and a seed; the last of each cell is kept. */
function draw(cell, n, seed) {
  const kept = drawn.get(cell);
  if (kept?.n === n && kept.seed === seed) return kept;
  const made = { n, seed, U: unitRadius(cell, n, stream(seed, 0)),
    inputs: normals(LONGEST * CELLS[cell].gates * n, stream(seed, 1)),
    directions: directions(n, Math.min(n, PUSHES), stream(seed, 2)) };
  drawn.set(cell, made);
  return made;
}

/** The sizes of all pushes, for the lab's settings. */
export function mapOf({ cell, radius, bias, inputs, width: n, steps, seed, push }) {
  const made = draw(cell, n, seed);
  const { gates } = CELLS[cell];
  const open = gates > 1 ? bias : 0;
  return pushSizes({ cell, n, steps, push, directions: made.directions,
    U: made.U.map((weight) => radius * weight),
    bias: Float64Array.from({ length: gates * n }, (_, r) => (Math.floor(r / n) === 1 ? open : 0)),
    read: made.inputs.subarray(0, steps * gates * n).map((input) => inputs * input) });
}
