// Computations of the Position Lab in JavaScript: sinusoids, dot products of positions, rows of a distance table.

import { clamp } from "../shared/dom.js";

/** The angle by which `tokens` positions rotate a pair of dimensions (sin, cos): p / base^{2i/d}. */
export const turnOf = (tokens, dimension, width, base) => tokens / base ** ((dimension - (dimension % 2)) / width);

/** sin(p / base^{2i/d}) in dimension 2i, cos of the same in 2i + 1 (Vaswani et al. 2017, §3.5). */
export function sinusoid(position, dimension, width, base) {
  const angle = turnOf(position, dimension, width, base);
  return dimension % 2 ? Math.cos(angle) : Math.sin(angle);
}

/** The sinusoids of positions 0 … length − 1, position by position, each computed by rotating the previous one. */
export function sinusoids(length, width, base) {
  const table = new Float32Array(length * width);
  for (let even = 0; even < width; even += 2) {
    const angle = 1 / base ** (even / width);
    const [stepSin, stepCos] = [Math.sin(angle), Math.cos(angle)];
    let [sin, cos] = [0, 1];
    for (let p = 0; p < length; p++) {
      table[p * width + even] = sin;
      table[p * width + even + 1] = cos;
      const turned = sin * stepCos + cos * stepSin;
      cos = cos * stepCos - sin * stepSin;
      sin = turned;
    }
  }
  return table;
}

/** The wavelength of a dimension in tokens: 2π · base^{2i/d}. */
export const wavelength = (dimension, width, base) => 2 * Math.PI * base ** ((dimension - (dimension % 2)) / width);

/** The dot product of two sinusoids at a distance δ, at any position: Σ_i cos(δ / base^{2i/d}). */
export function sinusoidDot(distance, width, base) {
  let sum = 0;
  for (let even = 0; even < width; even += 2) sum += Math.cos(distance / base ** (even / width));
  return sum;
}

/** The dot product of two rows of a table. */
export function dot(table, width, p, q) {
  let sum = 0;
  for (let i = 0; i < width; i++) sum += table[p * width + i] * table[q * width + i];
  return sum;
}

/** The dot products of all pairs p ≤ q of `length` rows, at [p · length + q]. */
export function allDots(table, length, width) {
  const all = new Float32Array(length * length);
  for (let p = 0; p < length; p++) for (let q = p; q < length; q++) all[p * length + q] = dot(table, width, p, q);
  return all;
}

/** Minimum, mean and maximum of the dot products at each distance, among the first `length` of `size` positions. */
export function byDistance(all, size, length) {
  const [least, mean, most] = [0, 1, 2].map(() => new Float64Array(length));
  least.fill(Infinity);
  most.fill(-Infinity);
  for (let p = 0; p < length; p++) {
    for (let d = 0; p + d < length; d++) {
      const value = all[p * size + p + d];
      mean[d] += value / (length - d);
      if (value < least[d]) least[d] = value;
      if (value > most[d]) most[d] = value;
    }
  }
  return { least, mean, most };
}

/** The row of a relative table for a pair: j − i, clipped to ±window, counted from 0 (Shaw et al. 2018, eqs. 3–5). */
export const distanceRow = (query, key, window) => clamp(key - query, -window, window) + window;

/** The number of pairs, out of length², that use each of the 2 · window + 1 rows. */
export function pairsOfRows(length, window) {
  const counts = new Array(2 * window + 1).fill(0);
  for (let d = 1 - length; d < length; d++) counts[distanceRow(0, d, window)] += length - Math.abs(d);
  return counts;
}

/** Dequantise a learned table, position by position: size_p · (low_i + step_i · byte). */
export function unpacked(bytes, { size, low, step }) {
  const table = new Float32Array(bytes.length);
  const width = low.length;
  for (let i = 0; i < bytes.length; i++) {
    table[i] = size[Math.floor(i / width)] * (low[i % width] + step[i % width] * bytes[i]);
  }
  return table;
}

/** The `share` quantile of the absolute values, as the end of a colour scale. */
export function bulk(values, share = 0.99) {
  const sizes = Float32Array.from(values, Math.abs).sort();
  return sizes[Math.floor(share * (sizes.length - 1))];
}
