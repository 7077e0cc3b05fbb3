// The analogy: its four boxes, the answers with and without the question's own words, and the two baselines.

import { added, apart, best, nearness, rankOf } from "./maths.js";
import { analogyFinding, winnerSaid } from "./told.js";
import { wordBox } from "./words.js";
import { el } from "../shared/dom.js";
import { guess } from "../shared/lab.js";
import { decimal, number, quoted } from "../shared/words.js";

const BOXES = [["a", "a: the word that is to b"], ["b", "b: as c is to the answer"], ["c", "c: the third word"],
  ["d", "the true answer, if you know one"]];
const SHOWN = 8;

/** What an analogy of rows comes to at a snapshot: the answers with the question's words and without, the lengths of
    the steps from a to b and to c, and the ranks of the true answer, or null. */
export function answered(space, at, [a, b, c, d]) {
  const asked = [a, b, c];
  const scores = added(space, at, asked);
  const named = (found) => found.map(({ row, score }) => ({ row, score, word: space.words[row] }));
  return {
    steps: { b: apart(space, at, a, b), c: apart(space, at, a, c) },
    kept: named(best(scores, SHOWN)), left: named(best(scores, SHOWN, asked)),
    ranks: d === undefined ? null : { added: rankOf(scores, d, asked), kept: rankOf(scores, d),
      c: rankOf(nearness(space, at, c), d, asked), b: rankOf(nearness(space, at, b), d, asked) },
  };
}

/** The boxes for the words; `choose(words)` hears of three words or four that all have vectors. */
export function analogyBoxes({ space, list, words, choose, complain }) {
  const now = { ...words() };
  const send = () => {
    const [a, b, c, d] = [0, 1, 2, 3].map((i) => now[i]);
    if (a && b && c) choose(d ? [a, b, c, d] : [a, b, c]);
  };
  const boxes = BOXES.map(([name, label], i) => wordBox({ label, list, space, complain, kind: `word ${name}`,
    placeholder: name === "d" ? "?" : name,
    choose: (row) => {
      if (now[i] === space().words[row]) return;
      now[i] = space().words[row];
      send();
    },
    empty: i === 3 ? () => {
      now[3] = undefined;
      send();
    } : null }));
  const follow = () => {
    const given = words();
    if (given.length) for (let i = 0; i < 4; i++) now[i] = given[i];
    boxes.forEach((box, i) => box.show(now[i] ?? ""));
  };
  follow();
  const [a, b, c, d] = boxes.map(({ node }) => node);
  const node = el("div", { class: "bar asked", role: "group", "aria-label": "the analogy" },
    a, el("span", {}, "is to"), b, el("span", {}, "as"), c, el("span", {}, "is to"), d);
  return { node, follow };
}

function answerList(words, answers) {
  return el("ol", { class: "answers" }, ...answers.map(({ word, score }) => {
    const role = words.slice(0, 3).indexOf(word);
    return el("li", { class: [role >= 0 ? "own" : "", word === words[3] ? "true" : ""].join(" ") },
      el("bdi", {}, word), el("span", { class: "score" }, decimal(score)),
      el("span", { class: "note" }, role >= 0 ? `a word of the question (${"abc"[role]}): usually left out`
        : word === words[3] ? "the true answer" : ""));
  }));
}

/** What is told of an analogy at a snapshot. `words` are those of the boxes, `rows` theirs, and `chart(rows, words)`
    draws the ranks along training. */
export function analogyPanel({ space, at, words, rows, view, chart }) {
  if (!rows.length) {
    return el("p", { class: "note" }, "Type three words, and the lab looks for the word that is to the third as the " +
      "second is to the first: the one nearest to b − a + c.");
  }
  const found = answered(space, at, rows);
  const [a, b, c, d] = words;
  const question = `Which word is nearest to ${quoted(b)} − ${quoted(a)} + ${quoted(c)}, ` +
    "if the question's own words may win?";
  const figures = d === undefined ? [] : [["b − a + c", found.ranks.added],
    [`nearest to ${quoted(c)} alone`, found.ranks.c], [`nearest to ${quoted(b)} alone`, found.ranks.b]];
  const first = found.left.length ? quoted(found.left[0].word) : "no other word";
  const finding = d === undefined ? `Nearest to b − a + c: ${first}` : analogyFinding(words, found.ranks);
  const charted = d !== undefined && found.ranks.added !== null && space.last > 0;
  return el("div", { class: "told" },
    el("h4", { class: "finding" }, finding),
    el("div", { class: "halves" },
      el("div", {},
        ...(figures.length && found.ranks.added !== null ? [el("p", { class: "note" }, `Rank of ${quoted(d)} among ` +
          `${number(space.count - new Set(rows.slice(0, 3)).size)} words, the question's own left out:`),
        el("dl", { class: "numbers" }, ...figures.map(([what, rank]) =>
          el("div", {}, el("dt", {}, what), el("dd", {}, number(rank)))))] : []),
        el("p", { class: "note" }, "Without the question's own words: ",
          ...found.left.slice(0, 4).flatMap(({ word, score }, i) =>
            [i ? ", " : "", el("bdi", { class: i ? "" : "first" }, word), ` ${decimal(score)}`]), "."),
        guess(view, question, [winnerSaid(words, found.kept, found.left, found.steps),
          answerList(words, found.kept)], "winner")),
      charted ? chart(rows, words) : el("div", {})));
}
