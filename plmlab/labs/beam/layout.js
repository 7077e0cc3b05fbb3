// The layout of the beam search tree, and keyboard navigation between its branches.

export const [WIDE, DENSE] = ["wide", "dense"];
const ROWS = { [WIDE]: 46, [DENSE]: 24 }; // px, from a branch to the next one below
const HIGH = { [WIDE]: 39, [DENSE]: 20 };
export const GAP = 34; // px, between columns
export const ROOT = 112;
export const HEAD = 22;

/** A branch shows all its figures if the beam is narrow. */
export const formOf = ({ width }) => (width <= 4 ? WIDE : DENSE);

/** The width of a branch in px, depending on what it shows. */
export function columnOf({ width, alpha, world }) {
  return formOf({ width }) === DENSE ? 98 + (world ? 52 : 0) : 104 + (alpha > 0 ? 44 : 0) + (world ? 30 : 0);
}

/**
 * The coordinates of every branch: columns side by side, each centred, ordered by parent, so that no two lines cross.
 * `lanes` is the number of columns of the longest path outside the tree.
 */
export function layoutOf(state, lanes = 0) {
  const form = formOf(state);
  const [row, high, across] = [ROWS[form], HIGH[form], columnOf(state)];
  const most = Math.max(...state.columns.map((column) => column.length));
  const x = (step) => ROOT + GAP + step * (across + GAP);
  const middle = HEAD + (most * row) / 2;
  const places = state.columns.map((column, step) => column.map((_, i) => ({
    x: x(step), y: middle + (i - column.length / 2) * row + (row - high) / 2,
  })));
  const count = Math.max(state.columns.length, lanes);
  return {
    form, high, across, places, x, root: { x: 0, y: middle - high / 2 }, row,
    width: x(count - 1) + across + 2, height: HEAD + most * row,
  };
}

/** The line from a parent to a branch. */
export function linkOf({ places, root, across, high }, step, place, parent) {
  const from = parent < 0 ? { x: root.x + ROOT, y: root.y } : { ...places[step - 1][parent] };
  const [x0, y0] = [parent < 0 ? from.x : from.x + across, from.y + high / 2];
  const { x, y } = places[step][place];
  const half = (x + x0) / 2;
  return `M${x0} ${y0}C${half} ${y0} ${half} ${y + high / 2} ${x} ${y + high / 2}`;
}

/** The branch that an arrow key leads to, or null: right to the most likely child, left to the parent, up and down
    within the step. `shown` is the number of columns shown. */
export function stepTo(key, columns, { step, place }, shown) {
  const inside = (to) => (columns[to.step]?.[to.place] && to.step < shown ? to : null);
  if (key === "ArrowUp") return inside({ step, place: place - 1 });
  if (key === "ArrowDown") return inside({ step, place: place + 1 });
  if (key === "ArrowLeft") return inside({ step: step - 1, place: columns[step][place].parent });
  if (key === "Home") return inside({ step: 0, place: 0 });
  if (key === "End") return inside(lastOf(columns, shown));
  if (key !== "ArrowRight" || step + 1 >= shown) return null;
  const children = columns[step + 1].map((branch, i) => ({ ...branch, i })).filter(({ parent }) => parent === place);
  if (!children.length) return null;
  return { step: step + 1, place: children.reduce((best, one) => (one.rank < best.rank ? one : best)).i };
}

/** The branch in which the best text ends, or the most likely one of the last step. */
export function lastOf(columns, shown) {
  for (let step = shown - 1; step >= 0; step--) {
    const place = columns[step].findIndex(({ best }) => best);
    if (place >= 0) return { step, place };
  }
  return { step: shown - 1, place: columns[shown - 1].findIndex(({ rank }) => rank === 1) };
}

/** The branch where the best text diverges from the greedy path; its last branch if they do not diverge. */
export function partingOf(columns) {
  for (const [step, column] of columns.entries()) {
    const place = column.findIndex(({ best, greedy }) => best && !greedy);
    if (place >= 0) return { step, place };
  }
  return lastOf(columns, columns.length);
}

/** The branches from the prompt to a branch. */
export function pathTo(columns, { step, place }) {
  const branch = columns[step][place];
  return [...(step ? pathTo(columns, { step: step - 1, place: branch.parent }) : []), branch];
}

/** The branches finished up to a step, best first, at most as many as the beam width. */
export function finishedBy(columns, shown, width) {
  const found = columns.slice(0, shown).flatMap((column) =>
    column.filter(({ fate }) => fate === "finished").sort((a, b) => a.rank - b.rank));
  return found.sort((a, b) => b.score - a.score).slice(0, width);
}
