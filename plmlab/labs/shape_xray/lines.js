// The tensors of each line of the forward method as slabs of cells, with the token and the source of each element.

/** The index of the line that splits the projections into heads and is shown in both ways. */
export const SPLIT = 2;
const REARRANGE = 'q, k, v = (rearrange(p,\n  "batch time (head width) -> batch head time width",\n' +
  "  head=HEADS) for p in (q, k, v))";
const VIEW = "q, k, v = (p.view(batch, head, time, width)\n  for p in (q, k, v))";
export const ROLES = { q: "query", k: "key", v: "value" };
const AFTER = { q: "queries", k: "keys", v: "values" };

/** The eight lines, each with its code, the named axes of its result, and the result as slabs, one per tensor and
    head. */
export function linesOf(state, wrong) {
  const pass = wrong ? state.wrong : state.right;
  const [time, heads, width] = [state.tokens.length, state.heads, state.width];
  const each = [...Array(heads).keys()];
  const whole = (of, numbers, role = "") => ({ of, role, head: null, title: of, numbers });
  const piece = (of, head, numbers, role = "", title = `head ${head}`) => ({ of, role, head, title, numbers });
  const model = [["batch", 1], ["time", time], ["model", heads * width]];
  const split = [["batch", 1], ["head", heads], ["time", time], ["width", width]];
  const pairs = [["batch", 1], ["head", heads], ["query", time], ["key", time]];
  return [
    { kind: "token", code: "def forward(self, x, attn_mask):", axes: model, note: "one row per word",
      slabs: [whole("x", state.x)] },
    { kind: "token", code: "q, k, v = self.q(x), self.k(x), self.v(x)", axes: model,
      note: "each row times a matrix: words do not mix",
      slabs: [..."qkv"].map((of) => whole(of, pass[of], ROLES[of])) },
    { kind: "token", code: wrong ? VIEW : REARRANGE.replace("HEADS", heads), axes: split,
      note: wrong ? "the same order of elements, with a new shape" : `each row split into ${heads}: one slice per head`,
      slabs: [..."qkv"].flatMap((of) => each.map((h) =>
        piece(of, h, pass[AFTER[of]][h], ROLES[of], `${of} head ${h}`))) },
    { kind: "score", code: "scores = q @ k.transpose(-2, -1) / sqrt(width)", axes: pairs,
      note: "one number per pair: how well query and key match",
      slabs: each.map((h) => piece("scores", h, pass.scores[h])) },
    { kind: "weight", code: "weights = masked_softmax(scores, attn_mask)", axes: pairs,
      note: "each row sums to 1; the fuller a cell, the larger the weight",
      slabs: each.map((h) => piece("weights", h, pass.weights[h])) },
    { kind: "share", code: "mixed = weights @ v", axes: [...pairs.slice(0, 3), ["width", width]],
      note: "the only line where words mix",
      slabs: each.map((h) => piece("mixed", h, pass.mixed[h], "value")) },
    { kind: "share", code: 'joined = rearrange(mixed,\n  "batch head query width -> batch query (head width)")',
      axes: [["batch", 1], ["query", time], ["model", heads * width]], note: "the heads’ slices concatenated",
      slabs: [whole("joined", pass.joined, "value")] },
    { kind: "share", code: "return self.out(joined)", axes: [["batch", 1], ["query", time], ["model", heads * width]],
      note: "the output projection mixes the heads", slabs: [whole("out", pass.out, "value")] },
  ];
}

/** The element of the projection in a cell after the split: its position and its column. */
export function sourceOf(state, pass, head, row, column) {
  const model = state.heads * state.width;
  const index = pass.sources[head][row][column];
  return { position: Math.floor(index / model), column: index % model };
}

/** The position of the token whose elements a row of a head holds. */
export const holder = (state, pass, head, row) => sourceOf(state, pass, head, row, 0).position;

/** The total attention weight of each token, by position, in a row of a head; they add up to 1. */
export function sharesOf(state, pass, head, query) {
  const shares = state.tokens.map(() => 0);
  pass.weights[head][query].forEach((weight, row) => { shares[holder(state, pass, head, row)] += weight; });
  return shares;
}

/** The absolute contribution of one token to a cell of the output, relative to the sum over all tokens. */
export function outShare(pass, position, query, column) {
  const given = pass.parts.map((part) => Math.abs(part[query][column]));
  const all = given.reduce((sum, part) => sum + part, 0);
  return all ? given[position] / all : 0;
}

/**
 * One cell with respect to the followed token: `position` is the position of the token that the element belongs to (that of
 * the row if it is a pair or a mixture), `fill` the role of the followed token in it ("" for none), `level` the filled
 * fraction. After a split, `astray` marks an element of the followed token in another token's row, `missing` the
 * reverse.
 */
export function cellOf(state, pass, line, slab, row, column, followed) {
  const { head, role } = slab;
  if (line.kind === "token") {
    const position = head === null ? row : sourceOf(state, pass, head, row, column).position;
    const [mine, inPlace] = [position === followed, position === row];
    return { position, fill: mine ? role || "token" : "", level: 1, astray: mine && !inPlace,
      missing: row === followed && !inPlace };
  }
  if (line.kind === "share") {
    const at = head ?? Math.floor(column / state.width);
    const level = slab.of === "out" ? outShare(pass, followed, row, column) : sharesOf(state, pass, at, row)[followed];
    return { position: row, fill: level > 0 ? "value" : "", level };
  }
  const position = holder(state, pass, head, row);
  const fill = position === followed ? "query" : holder(state, pass, head, column) === followed ? "key" : "";
  if (line.kind === "score") return { position, fill, level: 1 };
  const level = pass.weights[head][row][column];
  return { position, fill, level, blocked: state.causal && column > row };
}

/** The marks of all cells of a line: [slab][row][column]. */
export const marksOf = (state, pass, line, followed) => line.slabs.map((slab) => slab.numbers.map((numbers, row) =>
  numbers.map((_, column) => cellOf(state, pass, line, slab, row, column, followed))));

/** The number of cells with the followed token, of those in a wrong row, and of all cells. */
export function countOf(marks) {
  const all = marks.flat(2);
  return { count: all.filter(({ fill, blocked }) => fill && !blocked).length, all: all.length,
    astray: all.filter(({ astray }) => astray).length };
}

/** The positions of the tokens that contribute to a row of the output. */
export const madeOf = (state, pass, query) => state.tokens.flatMap((_, position) =>
  (pass.parts[position][query].some((value) => value !== 0) ? [position] : []));

const range = (count) => [...Array(count).keys()];
const rowOf = (row, columns) => range(columns).map((column) => [row, column]);

/** The cells that a cell is made of: [{ line, slab, cells: [[row, column], …] }, …]. */
export function feedsOf(state, pass, { line, slab, row, column }) {
  const [time, heads, width] = [state.tokens.length, state.heads, state.width];
  const model = heads * width;
  const at = (of, head) => of * heads + head;
  if (line === 1) return [{ line: 0, slab: 0, cells: rowOf(row, model) }];
  if (line === 2) {
    const source = sourceOf(state, pass, slab % heads, row, column);
    return [{ line: 1, slab: Math.floor(slab / heads), cells: [[source.position, source.column]] }];
  }
  if (line === 3) {
    return [{ line: 2, slab: at(0, slab), cells: rowOf(row, width) },
      { line: 2, slab: at(1, slab), cells: rowOf(column, width) }];
  }
  if (line === 4) {
    if (state.causal && column > row) return [];
    return [{ line: 3, slab, cells: rowOf(row, state.causal ? row + 1 : time) }];
  }
  if (line === 5) {
    const seen = range(state.causal ? row + 1 : time);
    return [{ line: 4, slab, cells: seen.map((key) => [row, key]) },
      { line: 2, slab: at(2, slab), cells: seen.map((key) => [key, column]) }];
  }
  if (line === 6) return [{ line: 5, slab: Math.floor(column / width), cells: [[row, column % width]] }];
  return line === 7 ? [{ line: 6, slab: 0, cells: rowOf(row, model) }] : [];
}

/**
 * The cell that a keyboard key moves to, across slabs and lines; null for any other key. `lines` are those of
 * `linesOf`. For cells of the split, `wrong` tells which of both ways they belong to; the last column of the correct
 * split is adjacent to the first one of the wrong split.
 */
export function walk(key, cursor, lines) {
  const columns = (line, slab) => lines[line].slabs[slab].numbers[0].length;
  const rows = lines[0].slabs[0].numbers.length;
  const { line, slab, row, column } = cursor;
  const into = (to, at) => {
    if (to < 0 || to >= lines.length) return cursor;
    const near = Math.min(slab, lines[to].slabs.length - 1);
    return { line: to, slab: near, row: at, column: Math.min(column, columns(to, near) - 1) };
  };
  const last = lines[line].slabs.length - 1;
  switch (key) {
    case "ArrowLeft":
      if (column > 0) return { ...cursor, column: column - 1 };
      if (slab > 0) return { ...cursor, slab: slab - 1, column: columns(line, slab - 1) - 1 };
      return cursor.wrong ? { ...cursor, wrong: false, slab: last, column: columns(line, last) - 1 } : cursor;
    case "ArrowRight":
      if (column + 1 < columns(line, slab)) return { ...cursor, column: column + 1 };
      if (slab < last) return { ...cursor, slab: slab + 1, column: 0 };
      return cursor.wrong === false ? { ...cursor, wrong: true, slab: 0, column: 0 } : cursor;
    case "ArrowUp": return row > 0 ? { ...cursor, row: row - 1 } : into(line - 1, rows - 1);
    case "ArrowDown": return row + 1 < rows ? { ...cursor, row: row + 1 } : into(line + 1, 0);
    case "Home": return { ...cursor, slab: 0, column: 0 };
    case "End": return { ...cursor, slab: last, column: columns(line, last) - 1 };
    case "PageUp": return into(line - 1, row);
    case "PageDown": return into(line + 1, row);
    default: return null;
  }
}
