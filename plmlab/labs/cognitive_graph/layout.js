// Layout of a cognitive graph: coordinates of nodes, paths of edges, and keyboard navigation.

import { clamp } from "../shared/dom.js";

export const HIGH = 74; // px, the height of a node
const ROW = HIGH + 34;
const GAP = 56; // px, between columns
export const HEAD = 26;
const LANE = 15; // px, from a node to the edges that run below its row
const [TIP, APART] = [11, 4]; // px, distances from a node to the end of a line and to its arrow tip

/** Whether a node or an edge is drawn at a step: if found by then or, with the gold graph shown, if it is missed. */
export const drawn = ({ since }, step, gold) => (since === null ? gold : since <= step);

/** The coordinates of every node for `room` px, including those not found yet, so that nodes never move. */
export function layoutOf(nodes, room) {
  const columns = 1 + Math.max(-1, ...nodes.map(({ column }) => column));
  const rows = 1 + Math.max(-1, ...nodes.map(({ row }) => row));
  const across = Math.floor(clamp((room - 12 - (columns - 1) * GAP) / Math.max(1, columns), 128, 210));
  const x = (column) => 6 + column * (across + GAP);
  return {
    columns, across, x, places: nodes.map(({ column, row }) => ({ x: x(column), y: HEAD + 6 + row * ROW })),
    width: x(columns) - GAP + 6, height: HEAD + rows * ROW,
  };
}

/** The path of an edge, { d, tip }: direct to the next column; below its row, where there are no nodes, to other columns;
    around the right side within a column. `tip` is its arrow. */
export function lineOf({ places, across }, nodes, { source, target }) {
  const [from, to] = [places[source], places[target]];
  const hops = nodes[target].column - nodes[source].column;
  const [x0, y0, y1] = [from.x + across, from.y + HIGH / 2, to.y + HIGH / 2];
  if (hops === 0) {
    const [x1, far] = [to.x + across, x0 + 30];
    return { d: `M${x0} ${y0}C${far} ${y0} ${far} ${y1} ${x1 + TIP} ${y1}`, tip: arrow(x1 + APART, y1, 1, 0) };
  }
  if (hops < 0) {
    const [x1, beside, low] = [to.x + across, to.x + across + GAP / 2, to.y + HIGH - 14];
    return { d: `M${from.x + across / 2} ${from.y + HIGH}V${from.y + HIGH + LANE}H${beside}V${low}H${x1 + TIP}`,
      tip: arrow(x1 + APART, low, 1, 0) };
  }
  const end = to.x - TIP;
  if (hops === 1) {
    const half = (x0 + to.x) / 2;
    return { d: `M${x0} ${y0}C${half} ${y0} ${half} ${y1} ${end} ${y1}`, tip: arrow(to.x - APART, y1, -1, 0) };
  }
  const lane = from.y + HIGH + LANE;
  return {
    d: `M${x0} ${y0}C${x0 + 26} ${y0} ${x0 + 14} ${lane} ${x0 + 40} ${lane}H${to.x - 44}` +
      `C${to.x - 18} ${lane} ${to.x - 30} ${y1} ${end} ${y1}`,
    tip: arrow(to.x - APART, y1, -1, 0),
  };
}

/** A triangle with its tip at (x, y) and its body in the direction (dx, dy). */
const arrow = (x, y, dx, dy) => {
  const [bx, by] = [x + 9 * dx, y + 9 * dy];
  return `M${x} ${y}L${bx - 4.5 * dy} ${by + 4.5 * dx}L${bx + 4.5 * dy} ${by - 4.5 * dx}Z`;
};

/** The node that a key leads to, or null: up and down within the column, left and right to the nearest row of the nearest
    column; Home and End to the first and the last node. `among` are the indices of the drawn nodes. */
export function nodeAfter(key, nodes, among, at) {
  const { column, row } = nodes[at];
  const others = among.filter((n) => n !== at);
  const nearest = (list, far) => list.reduce((best, n) => (best === null || far(n) < far(best) ? n : best), null);
  const beside = (sign) => nearest(others.filter((n) => sign * (nodes[n].column - column) > 0),
    (n) => 1000 * Math.abs(nodes[n].column - column) + Math.abs(nodes[n].row - row));
  const along = (sign) => nearest(others.filter((n) => nodes[n].column === column && sign * (nodes[n].row - row) > 0),
    (n) => Math.abs(nodes[n].row - row));
  const order = (n) => 1000 * nodes[n].column + nodes[n].row;
  const to = { ArrowLeft: () => beside(-1), ArrowRight: () => beside(1), ArrowUp: () => along(-1), ArrowDown: () => along(1),
    Home: () => nearest(among, order), End: () => nearest(among, (n) => -order(n)) }[key];
  return to ? to() : null;
}
