// Sentences of the Shape X-ray: about a cell (its index, value and source), and about the location of a token.

import { holder, madeOf, sharesOf, sourceOf } from "./lines.js";
import { decimal, listed, share } from "../shared/words.js";

const percents = (part) => share(part).replaceAll(" ", "\u00a0");
const rowsOf = (rows) => `${rows.length > 1 ? "rows" : "row"} ${listed(rows)}`;

/** Parts of a sentence, joined with commas and "and". */
function joinedUp(groups) {
  return groups.flatMap((group, i) => [...(i === 0 ? [] : [i === groups.length - 1 ? " and " : ", "]), ...group]);
}

const pieces = (...parts) => parts.flat().map((part) => (typeof part === "string" ? { text: part, role: "" } : part));

/** The index of a cell with named axes. */
export function address(line, slab, row, column) {
  const places = { batch: 0, head: slab.head, time: row, query: row, model: column, width: column, key: column };
  return `${slab.of}[${line.axes.map(([name]) => `${name} ${places[name]}`).join(", ")}]`;
}

/** The sentence about one cell, in parts. */
export function cellSentence(state, pass, lines, { line: at, slab: which, row, column }, followed) {
  const line = lines[at];
  const slab = line.slabs[which];
  const who = (position, role = "who") => ({ text: state.names[position], role });
  const value = slab.numbers[row][column];
  const head = slab.head;
  const explanation = () => {
    if (at === 0) return ["an element of the input vector of ", who(row), "."];
    if (at === 1) {
      return [who(row), "’s row of x times a column of the weight matrix, plus a bias; no other word contributes."];
    }
    if (at === 2) return ofSplit();
    if (at === 3) return ofScore();
    if (at === 4) return ofWeight();
    if (at === 5) return [`the weighted mean of column ${column} of v in head ${head}: `, ...mixture(head), "."];
    if (at === 6) {
      const from = Math.floor(column / state.width);
      return [`it is mixed[batch 0, head ${from}, query ${row}, width ${column % state.width}] of line 6: `,
        ...mixture(from), "."];
    }
    return ofOutput();
  };
  const mixture = (of) => {
    const shares = sharesOf(state, pass, of, row).map((part, position) => [part, position]);
    return joinedUp(shares.filter(([part]) => part > 0.005).sort(([a], [b]) => b - a).map(([part, position]) =>
      [`${percents(part)} `, who(position, position === followed ? "value" : "who")]));
  };
  const ofSplit = () => {
    const source = sourceOf(state, pass, head, row, column);
    const from = `${slab.of}[batch 0, time ${source.position}, model ${source.column}] of line 2`;
    if (source.position === row) return [`it is ${from}, an element of `, who(row), "."];
    return [`view put ${from} here, an element of `, who(source.position),
      `; the next lines treat row ${row} as `, who(row), "."];
  };
  const taken = (q, k) => {
    const wrong = [[q, row], [k, column]].filter(([position, place]) => position !== place);
    return wrong.length ? [" They are treated as ", who(row), " and ", who(column), "."] : [];
  };
  const ofScore = () => {
    const [q, k] = [holder(state, pass, head, row), holder(state, pass, head, column)];
    return ["query ", who(q, "query"), ", key ", who(k, "key"),
      `: the dot product of their ${state.width}-dimensional vectors in head ${head}, divided by √${state.width}.`,
      ...taken(q, k)];
  };
  const ofWeight = () => {
    const held = holder(state, pass, head, column);
    if (state.causal && column > row) {
      return [who(row, "query"), " cannot attend to ", who(column, "key"),
        ", which comes later: its score became −∞ before the softmax."];
    }
    const wrong = held > row && state.causal
      ? [` But row ${column} holds `, who(held, "key"), ", which comes later: the mask blocks rows, not words."]
      : held === column ? [] : [` But row ${column} holds `, who(held, "key"), "."];
    return ["in head ", String(head), ", ", who(row, "query"), ` gives ${percents(value)} of its attention to `,
      who(column, "key"), ".", ...wrong];
  };
  const ofOutput = () => {
    const given = pass.parts.map((part) => part[row][column]);
    const all = given.reduce((sum, part) => sum + part, 0);
    return [who(followed, "value"), ` contributes ${decimal(given[followed])}, the other words ` +
      `${decimal(all - given[followed])}, and the bias of the output projection ${decimal(value - all)}.`];
  };
  return pieces(`${address(line, slab, row, column)} = ${decimal(value)}: `, explanation());
}

/** The followed token's rows after the split, by head: [[head, [row, …]], …]. */
export function whereabouts(state, pass, followed) {
  return pass.sources.map((rows, head) => [head, rows.flatMap((_, row) =>
    (holder(state, pass, head, row) === followed ? [row] : []))]).filter(([, rows]) => rows.length);
}

const wordOf = (state, position) => ({ text: state.names[position], role: "who" });
const named = (state, positions) => (positions.length ? joinedUp(positions.map((position) => [wordOf(state, position)])) : ["no word"]);

/** The sentence for the case in which both splits are equal. */
const same = (state) => `With one ${state.tokens.length === 1 ? "word" : "head"}, both ways to split give the same ` +
  "result: there is nothing to mix.";

/** The location of the followed token's elements after both splits, in parts. */
export function splitFinding(state, followed) {
  if (state.same) return pieces(same(state));
  const places = whereabouts(state, state.wrong, followed);
  const taken = places.map(([head, rows]) => `${rowsOf(rows)} of head ${head}`);
  const mistaken = [...new Set(places.flatMap(([, rows]) => rows))].filter((row) => row !== followed);
  const inside = joinedUp(state.wrong.sources.map((_, head) =>
    [wordOf(state, holder(state, state.wrong, head, followed)), ` in head ${head}`]));
  return pieces("rearrange keeps a slice of ", wordOf(state, followed), ` in row ${followed} of each head; view ` +
    `alone moves all its elements into ${listed(taken)}`,
  mistaken.length ? [", where they are treated as ", ...named(state, mistaken)] : [],
  `, and row ${followed} holds `, ...inside, ".");
}

/** The tokens that contribute to the followed token's row of the output after the wrong split, in parts. */
function wronglyMade(state, followed) {
  const made = madeOf(state, state.wrong, followed);
  const later = state.causal ? made.filter((position) => position > followed) : [];
  return [...named(state, made), made.includes(followed) ? [] : [", and not from ", wordOf(state, followed), " itself"],
    later.length ? ["; ", ...named(state, later), ` ${later.length > 1 ? "come" : "comes"} later in the text`] : [],
  ].flat();
}

/** The finding about one token in lines 4 to 8, in parts, with the correct or the wrong reshape. */
export function finding(state, wrong, followed) {
  if (wrong && state.same) return pieces(same(state));
  if (!wrong) {
    const takes = (row) => row !== followed && state.right.weights.some((head) => head[row][followed] > 0);
    const takers = state.tokens.flatMap((_, row) => (takes(row) ? [row] : []));
    return pieces(wordOf(state, followed), `’s elements stay in row ${followed}, one slice in each head. Lines 4 and ` +
      "5 compare them with those of the other words; only line 6 passes them on",
    takers.length ? [": to ", ...named(state, takers), "."] : [", and here to no other word."]);
  }
  const leak = state.leaks ? ` Later words contribute to ${state.leaks} of ${state.rows} rows: the mask ` +
    "blocks rows, not words." : "";
  return pieces(wordOf(state, followed), "’s row of the output is computed from ", ...wronglyMade(state, followed),
    ". No error is raised, because every shape is unchanged; the relative error of the output is " +
    `${percents(state.apart)}.${leak}`);
}

/** The lab's question, in parts: which words contribute to a word's row after the wrong split. */
export const question = (state, followed) => pieces("Let lines 4 to 8 use view alone, with the same mask. Which " +
  "words then contribute to ", wordOf(state, followed), `’s row of the output, row ${followed} of line 8?`);

const MEMORY = " In memory a tensor is one sequence of elements: those of the first word, then those of the second, " +
  "and so on. view keeps this sequence and only changes the shape: the first words fill head 0, the next ones head 1, " +
  "and so on. To give each head a slice of every word, axes have to be swapped: " +
  "view(batch, time, head, width).transpose(1, 2), or rearrange, which names the axes.";

/** The answer, in parts. */
export function answer(state, followed) {
  if (state.same) return pieces(same(state));
  return pieces("With rearrange the row is computed from ", ...named(state, madeOf(state, state.right, followed)),
    "; with view alone from ", ...wronglyMade(state, followed), ". Switch to “view alone”, and follow each of them " +
    "to line 8 to see it.", MEMORY);
}

/** The number of elements of a line that involve a token, in words. */
export function countSentence(kind, { count, all, astray }, name) {
  const who = { text: name, role: "who" };
  const strayed = astray ? `; ${astray}, hatched, are in another word’s row` : "";
  if (kind === "token") return pieces(`${count} of ${all} elements belong to `, who, strayed);
  if (kind === "share") return pieces(`${count} of ${all} elements depend on `, who);
  return pieces(`${count} of ${all} elements involve `, who);
}
