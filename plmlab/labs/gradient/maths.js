// The effect of a perturbation on later steps: exact derivatives of four cells, in forward mode.

const sigmoid = (x) => 1 / (1 + Math.exp(-x));

/** The cells. `gates`: number of row blocks of U, in PyTorch's order; `memory`: there is a cell state besides h. */
export const CELLS = {
  rnn: { title: "RNN, tanh", gates: 1 },
  irnn: { title: "RNN with ReLU and identity initialization (Le et al. 2015)", gates: 1 },
  lstm: { title: "LSTM", gates: 4, memory: true },
  gru: { title: "GRU", gates: 3 },
};

/** A pseudo-random generator of numbers in [0, 1) from a seed (mulberry32). */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `count` samples from N(0, 1) (Box and Muller 1958). */
export function normals(count, random) {
  const samples = new Float64Array(count);
  for (let i = 0; i < count; i += 2) {
    const [size, angle] = [Math.sqrt(-2 * Math.log(1 - random())), 2 * Math.PI * random()];
    samples[i] = size * Math.cos(angle);
    if (i + 1 < count) samples[i + 1] = size * Math.sin(angle);
  }
  return samples;
}

/** out = A B for the first `columns` columns of B. A is [rows, n]; B and `out` have rows of length `stride`. Four rows
    of B are processed at a time, which halves the run time. */
function product(A, B, out, rows, n, stride, columns = stride) {
  const fours = n - (n % 4);
  for (let r = 0; r < rows; r++) {
    const to = r * stride;
    for (let i = 0; i < columns; i++) out[to + i] = 0;
    for (let j = 0; j < fours; j += 4) {
      const at = r * n + j;
      const a = A[at], b = A[at + 1], c = A[at + 2], d = A[at + 3];
      const one = j * stride, two = one + stride, three = two + stride, four = three + stride;
      for (let i = 0; i < columns; i++) {
        out[to + i] += a * B[one + i] + b * B[two + i] + c * B[three + i] + d * B[four + i];
      }
    }
    for (let j = fours; j < n; j++) {
      const a = A[r * n + j], one = j * stride;
      for (let i = 0; i < columns; i++) out[to + i] += a * B[one + i];
    }
  }
}

/** The largest |eigenvalue| of an n × n matrix: ‖U^m‖^(1/m) for m = 2^30, by squaring (Gelfand's formula). */
export function spectralRadius(U, n) {
  let [power, next] = [Float64Array.from(U), new Float64Array(n * n)];
  let [logarithm, share] = [0, 1];
  for (let k = 0; k <= 30; k++, share /= 2) {
    const size = Math.sqrt(power.reduce((sum, x) => sum + x * x, 0));
    if (size === 0) return 0;
    logarithm += share * Math.log(size);
    for (let i = 0; i < n * n; i++) power[i] /= size;
    product(power, power, next, n, n, n);
    [power, next] = [next, power];
  }
  return Math.exp(logarithm);
}

/** `count` orthonormal directions in n dimensions, [n, count]: the axes if count = n, otherwise random. */
export function directions(n, count, random) {
  const basis = [];
  while (basis.length < count) {
    const vector = count === n ? Float64Array.from({ length: n }, (_, i) => Number(i === basis.length))
      : normals(n, random);
    for (const previous of basis) {
      const along = vector.reduce((sum, x, i) => sum + x * previous[i], 0);
      for (let i = 0; i < n; i++) vector[i] -= along * previous[i];
    }
    const size = Math.hypot(...vector);
    basis.push(vector.map((x) => x / size));
  }
  return Float64Array.from({ length: n * count }, (_, i) => basis[i % count][Math.floor(i / count)]);
}

/** One step of each cell, from z = U h + b and the input term `read` = W x, with its derivatives. The change of the
    recurrent state (c in an LSTM, otherwise h) is keep · (its previous change) + Σ slopes · U dh; in an LSTM the
    change of h is out · dc + shown · U dh. */
const STEPS = {
  rnn({ n, read, z, h, slopes }) {
    for (let j = 0; j < n; j++) {
      h[j] = Math.tanh(read[j] + z[j]);
      slopes[j] = 1 - h[j] * h[j];
    }
  },
  irnn({ n, read, z, h, slopes }) {
    for (let j = 0; j < n; j++) {
      h[j] = Math.max(read[j] + z[j], 0);
      slopes[j] = h[j] > 0 ? 1 : 0;
    }
  },
  lstm({ n, read, z, h, c, keep, slopes, out, shown }) {
    for (let j = 0; j < n; j++) {
      const [i, f, g, o] = [0, 1, 2, 3].map((gate) => {
        const sum = read[gate * n + j] + z[gate * n + j];
        return gate === 2 ? Math.tanh(sum) : sigmoid(sum);
      });
      slopes[j] = g * i * (1 - i);
      slopes[n + j] = c[j] * f * (1 - f);
      slopes[2 * n + j] = i * (1 - g * g);
      keep[j] = f;
      c[j] = f * c[j] + i * g;
      const squashed = Math.tanh(c[j]);
      h[j] = o * squashed;
      out[j] = o * (1 - squashed * squashed);
      shown[j] = squashed * o * (1 - o);
    }
  },
  gru({ n, read, z, h, keep, slopes }) {
    for (let j = 0; j < n; j++) {
      const [r, u, from] = [sigmoid(read[j] + z[j]), sigmoid(read[n + j] + z[n + j]), z[2 * n + j]];
      const candidate = Math.tanh(read[2 * n + j] + r * from);
      const slope = (1 - u) * (1 - candidate * candidate);
      slopes[j] = slope * from * r * (1 - r);
      slopes[n + j] = (h[j] - candidate) * u * (1 - u);
      slopes[2 * n + j] = slope * r;
      keep[j] = u;
      h[j] = u * h[j] + (1 - u) * candidate;
    }
  },
};

/** Propagates the first `columns` changes through a step: updates `dh` and `dc` [n, stride] in place. */
function carry({ n, slopes, keep, out, shown }, { dh, dc, dz }, { gates, memory }, stride, columns) {
  const carried = memory ? dc : dh;
  for (let j = 0; j < n; j++) {
    const at = j * stride;
    const [a, b, g, o] = [0, 1, 2, 3].map((gate) => (gate * n + j) * stride);
    const [kept, first, second, third] = [keep[j], slopes[j], slopes[n + j], slopes[2 * n + j]];
    for (let i = 0; i < columns; i++) {
      let sum = kept * carried[at + i] + first * dz[a + i];
      if (gates > 1) sum += second * dz[b + i] + third * dz[g + i];
      carried[at + i] = sum;
      if (memory) dh[at + i] = out[j] * sum + shown[j] * dz[o + i];
    }
  }
}

/** Root mean square norm of `count` columns, starting at `first`. */
function rootMeanSquare(D, n, stride, first, count) {
  let sum = 0;
  for (let j = 0; j < n; j++) {
    for (let i = j * stride + first; i < j * stride + first + count; i++) sum += D[i] * D[i];
  }
  return Math.sqrt(sum / count);
}

/**
 * Sizes of perturbations at later steps: entry [t · steps + s] is the root mean square of ‖∂h_t/∂h_s · v‖ over the
 * `directions` v, or of ‖∂c_t/∂c_s · v‖ with h_s fixed if the cell state is perturbed. `U` is [gates · n, n], its
 * `bias` [gates · n], and the input term `read`, W x + b, [steps, gates · n]; the state before step 0 is 0.
 */
export function pushSizes({ cell, n, steps, U, bias, read, push = "state", directions: v }) {
  const { gates, memory } = CELLS[cell];
  const rows = gates * n;
  const each = v.length / n;
  const stride = steps * each;
  const at = { n, h: new Float64Array(n), c: new Float64Array(n), z: new Float64Array(rows),
    keep: new Float64Array(n), slopes: new Float64Array(3 * n), out: new Float64Array(n), shown: new Float64Array(n) };
  const [dh, dc, dz] = [n, n, rows].map((count) => new Float64Array(count * stride));
  const followed = memory && push === "memory" ? dc : dh;
  const sizes = new Float64Array(steps * steps);
  for (let t = 0; t < steps; t++) {
    product(U, at.h, at.z, rows, n, 1);
    for (let r = 0; r < rows; r++) at.z[r] += bias[r];
    STEPS[cell]({ ...at, read: read.subarray(t * rows, (t + 1) * rows) });
    product(U, dh, dz, rows, n, stride, t * each);
    carry(at, { dh, dc, dz }, CELLS[cell], stride, t * each);
    for (let j = 0; j < n; j++) followed.set(v.subarray(j * each, (j + 1) * each), j * stride + t * each);
    for (let s = 0; s <= t; s++) sizes[t * steps + s] = rootMeanSquare(followed, n, stride, s * each, each);
  }
  return sizes;
}
