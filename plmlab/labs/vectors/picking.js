// Find the word under the pointer, and the next word in a direction.

/** A spatial grid for fast lookup: `nearest(x, y, reach)` is the nearest row, or −1. `xy` alternates x and y, and
    `seen(row)` tells whether a point can be picked. */
export function gridOf(xy, seen = () => true) {
  const count = xy.length / 2;
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < count; i++) {
    [left, right] = [Math.min(left, xy[2 * i]), Math.max(right, xy[2 * i])];
    [top, bottom] = [Math.min(top, xy[2 * i + 1]), Math.max(bottom, xy[2 * i + 1])];
  }
  const side = Math.max(1, Math.ceil(Math.sqrt(count / 3)));
  const size = Math.max(right - left, bottom - top, 1e-9) / side;
  const cells = new Map();
  const key = (column, row) => row * (side + 1) + column;
  for (let i = 0; i < count; i++) {
    const at = key(Math.floor((xy[2 * i] - left) / size), Math.floor((xy[2 * i + 1] - top) / size));
    if (cells.has(at)) cells.get(at).push(i);
    else cells.set(at, [i]);
  }
  const within = (from, to, low) => [Math.max(0, Math.floor((from - low) / size)),
    Math.min(side, Math.floor((to - low) / size))];
  return { nearest(x, y, reach) {
    let [closest, least] = [-1, reach * reach];
    const [firstColumn, lastColumn] = within(x - reach, x + reach, left);
    const [firstRow, lastRow] = within(y - reach, y + reach, top);
    for (let row = firstRow; row <= lastRow; row++) {
      for (let column = firstColumn; column <= lastColumn; column++) {
        for (const i of cells.get(key(column, row)) ?? []) {
          const far = (xy[2 * i] - x) ** 2 + (xy[2 * i + 1] - y) ** 2;
          if (far <= least && seen(i)) [closest, least] = [i, far];
        }
      }
    }
    return closest;
  } };
}

const WAYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** The next word from a row in the direction of an arrow key: the nearest one in that quadrant, with sideways distances
    counted double; the row itself if there is none. */
export function toward(xy, row, key, seen = () => true) {
  const [dx, dy] = WAYS[key];
  let [closest, least] = [row, Infinity];
  for (let i = 0; i < xy.length / 2; i++) {
    if (i === row || !seen(i)) continue;
    const [x, y] = [xy[2 * i] - xy[2 * row], xy[2 * i + 1] - xy[2 * row + 1]];
    const [ahead, aside] = [x * dx + y * dy, Math.abs(x * dy - y * dx)];
    if (ahead <= 0 || aside > ahead) continue;
    const far = ahead + 2 * aside;
    if (far < least) [closest, least] = [i, far];
  }
  return closest;
}
