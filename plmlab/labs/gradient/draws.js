// The weights and inputs of the map: sampled once per seed and width, then only scaled by the sliders.

import { CELLS, directions, normals, pushSizes, seeded, spectralRadius } from "./maths.js";

const PUSHES = 8;
const LONGEST = 32;
const samples = new Map();

/** A random stream for a seed and a use. */
const stream = (seed, use) => seeded(Math.imul(seed + 1, 0x9e3779b1) + use);

/** A recurrent matrix [gates · n, n], random or the identity, in which each gate's block has spectral radius 1. */
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

/** The sampled weights, inputs and directions of a cell, a width and a seed; the last sample of each cell is cached. */
function draw(cell, n, seed) {
  const cached = samples.get(cell);
  if (cached?.n === n && cached.seed === seed) return cached;
  const sample = { n, seed, U: unitRadius(cell, n, stream(seed, 0)),
    inputs: normals(LONGEST * CELLS[cell].gates * n, stream(seed, 1)),
    directions: directions(n, Math.min(n, PUSHES), stream(seed, 2)) };
  samples.set(cell, sample);
  return sample;
}

/** The sizes of all perturbations under the lab's settings. */
export function mapOf({ cell, radius, bias, inputs, width: n, steps, seed, push }) {
  const sample = draw(cell, n, seed);
  const { gates } = CELLS[cell];
  const open = gates > 1 ? bias : 0;
  return pushSizes({ cell, n, steps, push, directions: sample.directions,
    U: sample.U.map((weight) => radius * weight),
    bias: Float64Array.from({ length: gates * n }, (_, r) => (Math.floor(r / n) === 1 ? open : 0)),
    read: sample.inputs.subarray(0, steps * gates * n).map((input) => inputs * input) });
}
