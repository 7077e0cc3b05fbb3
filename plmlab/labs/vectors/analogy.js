// The analogy: its four fields, the answers with and without the words of the question, and the two baselines.

import { added, apart, best, nearness, rankOf } from "./maths.js";
import { analogyFinding, winnerSaid } from "./messages.js";
import { wordBox } from "./words.js";
import { el } from "../shared/dom.js";
import { guess } from "../shared/lab.js";
import { decimal, number, quoted } from "../shared/words.js";

const BOXES = [["a", "word a"], ["b", "word b"], ["c", "word c"], ["d", "the correct answer (optional)"]];
const SHOWN = 8;

/** The results of an analogy at a snapshot: the answers with and without the words of the question, the distances from
    a to b and to c, and the ranks of the correct answer, or null. */
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

/** The fields for the words; `choose(words)` is called with three or four words once all of them have vectors. */
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
      el("span", { class: "note" }, role >= 0 ? `a word of the question (${"abc"[role]}), usually excluded`
        : word === words[3] ? "the correct answer" : ""));
  }));
}

/** The panel about an analogy at a snapshot. `words` are those of the fields, `rows` their rows, and
    `chart(rows, words)` draws the ranks during training. */
export function analogyPanel({ space, at, words, rows, view, chart }) {
  if (!rows.length) {
    return el("p", { class: "note" }, "Type three words a, b and c: the lab finds the word that is to c as b is to " +
      "a, the nearest one to b − a + c.");
  }
  const found = answered(space, at, rows);
  const [a, b, c, d] = words;
  const question = `Which word is nearest to ${quoted(b)} − ${quoted(a)} + ${quoted(c)}, ` +
    "if the words of the question are allowed as answers?";
  const figures = d === undefined ? [] : [["b − a + c", found.ranks.added],
    [`neighbour of ${quoted(c)} alone`, found.ranks.c], [`neighbour of ${quoted(b)} alone`, found.ranks.b]];
  const first = found.left.length ? quoted(found.left[0].word) : "no other word";
  const finding = d === undefined ? `Nearest to b − a + c: ${first}` : analogyFinding(words, found.ranks);
  const charted = d !== undefined && found.ranks.added !== null && space.last > 0;
  return el("div", { class: "told" },
    el("h4", { class: "finding" }, finding),
    el("div", { class: "halves" },
      el("div", {},
        ...(figures.length && found.ranks.added !== null ? [el("p", { class: "note" }, `Rank of ${quoted(d)} among ` +
          `${number(space.count - new Set(rows.slice(0, 3)).size)} words, excluding those of the question:`),
        el("dl", { class: "numbers" }, ...figures.map(([what, rank]) =>
          el("div", {}, el("dt", {}, what), el("dd", {}, number(rank)))))] : []),
        el("p", { class: "note" }, "Excluding the words of the question: ",
          ...found.left.slice(0, 4).flatMap(({ word, score }, i) =>
            [i ? ", " : "", el("bdi", { class: i ? "" : "first" }, word), ` ${decimal(score)}`]), "."),
        guess(view, question, [winnerSaid(words, found.kept, found.left, found.steps),
          answerList(words, found.kept)], "winner")),
      charted ? chart(rows, words) : el("div", {})));
}
