// Gradient descent on the error surface of one unit, with and without clipping (Pascanu et al. 2013, eq. 8, fig. 6).

export const TARGET = 0.7;
const [BEGIN, STEPS] = [0.5, 50];

const sigmoid = (x) => 1 / (1 + Math.exp(-x));

/** The loss (σ(x_50) − 0.7)² of x_t = w σ(x_{t−1}) + b from x_0 = 0.5, and its gradient. */
export function errorAt(w, b) {
  let [x, byW, byB] = [BEGIN, 0, 0];
  for (let t = 0; t < STEPS; t++) {
    const activation = sigmoid(x);
    const slope = w * activation * (1 - activation);
    [x, byW, byB] = [w * activation + b, activation + slope * byW, 1 + slope * byB];
  }
  const output = sigmoid(x);
  const outer = 2 * (output - TARGET) * output * (1 - output);
  return { loss: (output - TARGET) ** 2, byW: outer * byW, byB: outer * byB };
}

/** The points of `steps` steps of gradient descent, [{ w, b, loss, norm }]. A gradient whose norm exceeds `clip` is
    rescaled to that norm. */
export function descend({ w, b, rate, clip = Infinity, steps }) {
  const points = [];
  for (let i = 0; ; i++) {
    const { loss, byW, byB } = errorAt(w, b);
    const norm = Math.hypot(byW, byB);
    points.push({ w, b, loss, norm });
    if (i === steps) return points;
    const scale = rate * (norm > clip ? clip / norm : 1);
    [w, b] = [w - scale * byW, b - scale * byB];
  }
}

/** The longest step of a path: its index, its length, and the points before and after it. */
export function longestStep(points) {
  let longest = { step: 1, length: 0, from: points[0], to: points[1] };
  for (let i = 1; i < points.length; i++) {
    const [from, to] = [points[i - 1], points[i]];
    const length = Math.hypot(to.w - from.w, to.b - from.b);
    if (length > longest.length) longest = { step: i, length, from, to };
  }
  return longest;
}
