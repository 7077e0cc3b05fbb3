// What the Shape X-ray says: of one cell, its address, its value and where it comes from; of one token, where it is.

import { holder, madeOf, sharesOf, sourceOf } from "./lines.js";
import { decimal, listed, share } from "../shared/words.js";

const percents = (part) => share(part).replaceAll(" ", "\u00a0");
const rowsOf = (rows) => `${rows.length > 1 ? "rows" : "row"} ${listed(rows)}`;

/** Pieces with commas and an "and" between them. */
function joinedUp(groups) {
  return groups.flatMap((group, i) => [...(i === 0 ? [] : [i === groups.length - 1 ? " and " : ", "]), ...group]);
}

const pieces = (...parts) => parts.flat().map((part) => (typeof part === "string" ? { text: part, role: "" } : part));

/** A cell's index by the names of its axes. */
export function address(line, slab, row, column) {
  const places = { batch: 0, head: slab.head, time: row, query: row, model: column, width: column, key: column };
  return `${slab.of}[${line.axes.map(([name]) =>}`${name} ${places[name]}`).join(", ")}]`;
}

/** The sentence on one cell, in pieces. */
export function cellSentence(state, pass, lines, { line: at, slab: which, row, column }, followed) {
  const line = lines[at];
  const slab = line.slabs[which];
  const who = (position, role = "who") => ({ text: state.names[position], role });
  const value = slab.numbers[row][column];
  const head = slab.head;
  const said = () => {
    if (at === 0) return ["one of the numbers that ", who(row), " comes in with."];
    if (at === 1) return [who(row), "’s row of x times a column of a matrix, plus a bias; no other word is in it."];
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
    if (source.position === row) return [`it is ${from}, a number of `, who(row), "."];
    return [`view put ${from} here, a number of `, who(source.position),
      `; the next lines take row ${row} for `, who(row), "."];
  };
  const taken = (q, k) => {
    const wrong = [[q, row], [k, column]].filter(([position, place]) => position !== place);
    return wrong.length ? [" They are taken for ", who(row), " and ", who(column), "."] : [];
  };
  const ofScore = () => {
    const [q, k] = [holder(state, pass, head, row), holder(state, pass, head, column)];
    return [who(q, "query"), " asks, ", who(k, "key"),
      `: the products of their ${state.width} numbers in head ${head}, added up and divided by √${state.width}.`,
      ...taken(q, k)];
  };
  const ofWeight = () => {
    const held = holder(state, pass, head, column);
    if (state.causal && column > row) {
      return [who(row, "query"), " may not look at ", who(column, "key"),
        ", which comes later: its score became −∞ before the softmax."];
    }
    const wrong = held > row && state.causal
      ? [` But row ${column} holds `, who(held, "key"), ", which comes later: the mask closes rows, not words."]
      : held === column ? [] : [` But row ${column} holds `, who(held, "key"), "."];
    return ["in head ", String(head), ", ", who(row, "query"), ` takes ${percents(value)} of what it takes from `,
      who(column, "key"), ".", ...wrong];
  };
  const ofOutput = () => {
    const given = pass.parts.map((part) => part[row][column]);
    const all = given.reduce((sum, part) => sum + part, 0);
    return [who(followed, "value"), ` gives ${decimal(given[followed])} of it, the other words ` +
      `${decimal(all - given[followed])}, and the bias of the last matrix ${decimal(value - all)}.`];
  };
  return pieces(`${address(line, slab, row, column)} = ${decimal(value)}: `, said());
}

/** The followed token's rows after the split, by head: [[head, [row, …]], …]. */
export function whereabouts(state, pass, followed) {
  return pass.sources.map((rows, head) => [head, rows.flatMap((_, row) =>
    (holder(state, pass, head, row) === followed ? [row] : []))]).filter(([, rows]) => rows.length);
}

const wordOf = (state, position) => ({ text: state.names[position], role: "who" });
const named = (state, positions) => (positions.length ? joinedUp(positions.map((position) => [wordOf(state, position)])) : ["no word"]);

/** What is said where both ways to split come to the same. */
const same = (state) => `With one ${state.tokens.length === 1 ? "word" : "head"}, both ways to split give the same ` +
  "numbers: there is nothing to mix.";

/** Where both ways to split put the followed token's numbers, in pieces. */
export function splitFinding(state, followed) {
  if (state.same) return pieces(same(state));
  const places = whereabouts(state, state.wrong, followed);
  const taken = places.map(([head, rows]) => `${rowsOf(rows)} of head ${head}`);
  const mistaken = [...new Set(places.flatMap(([, rows]) => rows))].filter((row) => row !== followed);
  const inside = joinedUp(state.wrong.sources.map((_, head) =>
    [wordOf(state, holder(state, state.wrong, head, followed)), ` in head ${head}`]));
  return pieces("rearrange leaves ", wordOf(state, followed), ` a piece in row ${followed} of each head; view alone ` +
    `puts all its numbers into ${listed(taken)}`,
  mistaken.length ? [", where they are taken for ", ...named(state, mistaken)] : [],
  `, and row ${followed} holds `, ...inside, ".");
}

/** Which tokens' numbers the followed token's row of the output is made of after the wrong split, in pieces. */
function wronglyMade(state, followed) {
  const made = madeOf(state, state.wrong, followed);
  const later = state.causal ? made.filter((position) => position > followed) : [];
  return [...named(state, made), made.includes(followed) ? [] : [", and not of ", wordOf(state, followed), " itself"],
    later.length ? ["; ", ...named(state, later), ` ${later.length > 1 ? "come" : "comes"} later in the text`] : [],
  ].flat();
}

/** What following one token shows in lines 4 to 8, in pieces: with the right reshape, and with the wrong one. */
export function finding(state, wrong, followed) {
  if (wrong && state.same) return pieces(same(state));
  if (!wrong) {
    const takes = (row) => row !== followed && state.right.weights.some((head) => head[row][followed] > 0);
    const takers = state.tokens.flatMap((_, row) => (takes(row) ? [row] : []));
    return pieces(wordOf(state, followed), `’s numbers stay in row ${followed}, a piece in each head. Lines 4 and ` +
      "5 compare them with the other words’; line 6 alone passes them on",
    takers.length ? [": to ", ...named(state, takers), "."] : [", and here to nobody else."]);
  }
  const leak = state.leaks ? ` In ${state.leaks} of ${state.rows} rows a word takes something from one that comes ` +
    "later: the mask closes rows, not words." : "";
  return pieces(wordOf(state, followed), "’s row of the output is made of ", ...wronglyMade(state, followed),
    ". No error is raised, since every shape is as before; the output is off by " +
    `${percents(state.apart)} of its length.${leak}`);
}

/** The guess that the first picture leaves open, in pieces: whose numbers the wrong split leads into a word's row. */
export const question = (state, followed) => pieces("Let lines 4 to 8 use view alone; the mask stays as it is. Whose " +
  "numbers will then be in ", wordOf(state, followed), `’s row of the output, row ${followed} of line 8?`);

const MEMORY = " In memory a tensor is one long row of numbers, all of the first word’s before all of the " +
  "second’s. view keeps that row and only cuts it anew: the first words fill head 0, those after them head 1, and " +
  "so on. To give each head a piece of every word, axes must change places: " +
  "view(batch, time, head, width).transpose(1, 2), or rearrange, which says the axes by name.";

/** Its answer, in pieces. */
export function answer(state, followed) {
  if (state.same) return pieces(same(state));
  return pieces("With rearrange the row is made of ", ...named(state, madeOf(state, state.right, followed)),
    "; with view alone of ", ...wronglyMade(state, followed), ". Switch to “view alone”, and follow each of them " +
    "to line 8 to see it.", MEMORY);
}

/** How many numbers of a line a token is in, in words. */
export function countSentence(kind, { count, all, astray }, name) {
  const who = { text: name, role: "who" };
  const strayed = astray ? `; ${astray}, hatched, in another word’s row` : "";
  if (kind === "token") return pieces(`${count} of ${all} numbers are `, who, `’s${strayed}`);
  if (kind === "share") return pieces(`${count} of ${all} numbers have `, who, " in them");
  return pieces(`${count} of ${all} numbers are about `, who);
}
