// What stands beside the drawing: the texts before and after the hand, other models, the tally, and what marks mean.

import { el } from "../shared/dom.js";
import { plural } from "../shared/words.js";

/** Words as text, each with its mark: `lost`, `wrong` or `missed`, told by a line, not by colour alone. */
function textOf(words, marked, kind, title) {
  return el("span", { class: "said", dir: "auto" }, ...words.flatMap((word, i) => [
    i ? " " : "", marked(i) ? el("bdi", { class: kind, title }, word) : el("bdi", {}, word)]));
}

const wrongIn = (told) => (i) => Boolean(told.positions) && i < told.positions.length && told.positions[i] === null;

/** The texts that belong to the translation drawn: what stood there before the hand, and what is right. */
export function textsOf({ before, now, gold }, changes, touched, count) {
  const rows = [];
  if (touched) {
    rows.push(["before", textOf(before.tokens, (i) => changes.lost.has(i), "lost", "changed since")]);
  }
  if (gold && count >= now.tokens.length) {
    const found = new Set(now.positions);
    rows.push(["right", textOf(gold, (i) => !found.has(i), "missed", "not written, or not here")]);
  }
  return el("dl", { class: "texts" }, ...rows.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]));
}

/** What every model writes, the one drawn first. */
export function modelsOf({ before, others, gold }, drawn) {
  if (!others.length) return "";
  const row = (name, told, first) => el("tr", { class: first ? "first" : "" },
    el("th", { scope: "row" }, name, el("small", {}, told.weights === null ? "no attention" : first ? "drawn above" : "attention")),
    el("td", { class: "said-by" }, textOf(told.tokens, wrongIn(told), "wrong", "wrong")),
    ...(gold ? [el("td", {}, `${told.right} of ${gold.length}`), el("td", {}, told.exact ? "✓ exact" : "✗ not exact")] : []));
  return el("table", { class: "models" }, el("caption", {}, "The same text, by each model"),
    el("thead", {}, el("tr", {}, el("th", {}, "model"), el("th", {}, "writes"),
      ...(gold ? [el("th", {}, "right words"), el("th", {}, "")] : []))),
    el("tbody", {}, row(drawn, before, true), ...others.map((told) => row(told.name, told, false))));
}

const bar = (parts, total) => el("span", { class: "tally-bar", "aria-hidden": "true" }, ...parts.map(([kind, count]) =>
  el("i", { class: kind, style: `width:${total ? (100 * count) / total : 0}%` })));

/** The tally in words and bars. */
export function tallyOf(counted) {
  const { texts, words, wrong, missed, right } = counted;
  const same = missed.count - missed.fixed - missed.closer - missed.worse;
  const line = (said, parts, total, legend) => el("li", {}, el("p", {}, said), bar(parts, total), el("p", { class: "note" }, legend));
  const rest = same ? `, ${same} as likely as before` : "";
  return [
    el("p", {}, `Over ${plural(texts, "text")}, each word asked for after the right words before it: ` +
      `${plural(words, "word")} with a known partner, ${wrong} of them wrong.`),
    el("ul", {},
      line(missed.count ? `${missed.count} wrong ones looked past the partner. With the look put there, ${missed.fixed} ` +
        `become right; with it on some other word, ${missed.other} do.` : "None of the wrong ones looked past its partner.",
      [["fixed", missed.fixed], ["closer", missed.closer], ["worse", missed.worse]], missed.count,
      `fixed ${missed.fixed}; still wrong: the right word likelier ${missed.closer}, less likely ${missed.worse}${rest}`),
      line(`Of ${plural(right.count, "right one")}, ${right.stay} stay right when the look is put on some other word.`,
        [["fixed", right.stay], ["worse", right.count - right.stay]], right.count,
        `right still ${right.stay}; wrong now ${right.count - right.stay}`)),
    ...(Math.min(missed.count, right.count) < 30 ? [el("p", { class: "note" }, `Of ${Math.min(missed.count, right.count)} ` +
      "a share says little.")] : []),
  ];
}

/** What the marks mean; only those that are there. */
export function legendOf({ now, gold, held, shut }, changes) {
  const entry = (mark, text) => el("li", {}, mark, text);
  const line = (kind) => el("span", { class: `mark-line ${kind}` });
  const cell = (kind) => el("span", { class: `mark-cell ${kind}` });
  return el("ul", { class: "legend keys" }, entry(line("link-mark"), "a look: the thicker, the more weight"),
    ...(now.partners.length ? [entry(line("gold-mark"), "gold: the two translate each other"), entry(cell("gold-cell"), "the cell of a gold pair")] : []),
    ...(gold && !now.exact ? [entry(el("span", { class: "wrong" }, "词"), "a wrong word")] : []),
    ...(changes.count ? [entry(el("span", { class: "chip changed" }, ""), "changed by the hand")] : []),
    ...(held.length ? [entry(cell("held-cell"), "held by the hand")] : []),
    ...(shut.length ? [entry(cell("shut-column"), "shut off")] : []));
}
