// Beside the drawing: the texts before and after the intervention, other models, the statistics, and the legend.

import { el } from "../shared/dom.js";
import { plural } from "../shared/words.js";

/** Words as text; those `marked` get the class `kind` (`lost`, `wrong` or `missed`), shown by a line, not by colour alone. */
function textOf(words, marked, kind, title) {
  return el("span", { class: "said", dir: "auto" }, ...words.flatMap((word, i) => [
    i ? " " : "", marked(i) ? el("bdi", { class: kind, title }, word) : el("bdi", {}, word)]));
}

const wrongIn = (told) => (i) => Boolean(told.positions) && i < told.positions.length && told.positions[i] === null;

/** The translation before the intervention, and the reference. */
export function textsOf({ before, now, gold }, changes, touched, count) {
  const rows = [];
  if (touched) {
    rows.push(["before", textOf(before.tokens, (i) => changes.lost.has(i), "lost", "changed since")]);
  }
  if (gold && count >= now.tokens.length) {
    const found = new Set(now.positions);
    rows.push(["reference", textOf(gold, (i) => !found.has(i), "missed", "missing, or at another place")]);
  }
  return el("dl", { class: "texts" }, ...rows.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]));
}

/** The translations of all models, the drawn one first. */
export function modelsOf({ before, others, gold }, drawn) {
  if (!others.length) return "";
  const row = (name, told, first) => el("tr", { class: first ? "first" : "" },
    el("th", { scope: "row" }, name, el("small", {}, told.weights === null ? "no attention" : first ? "drawn above" : "attention")),
    el("td", { class: "said-by" }, textOf(told.tokens, wrongIn(told), "wrong", "wrong")),
    ...(gold ? [el("td", {}, `${told.right} of ${gold.length}`), el("td", {}, told.exact ? "✓ exact" : "✗ not exact")] : []));
  return el("table", { class: "models" }, el("caption", {}, "The same text, translated by each model"),
    el("thead", {}, el("tr", {}, el("th", {}, "model"), el("th", {}, "translation"),
      ...(gold ? [el("th", {}, "correct words"), el("th", {}, "")] : []))),
    el("tbody", {}, row(drawn, before, true), ...others.map((told) => row(told.name, told, false))));
}

const bar = (parts, total) => el("span", { class: "tally-bar", "aria-hidden": "true" }, ...parts.map(([kind, count]) =>
  el("i", { class: kind, style: `width:${total ? (100 * count) / total : 0}%` })));

/** The statistics in words and bars. */
export function tallyOf(counted) {
  const { texts, words, wrong, missed, right } = counted;
  const same = missed.count - missed.fixed - missed.closer - missed.worse;
  const line = (text, parts, total, legend) => el("li", {}, el("p", {}, text), bar(parts, total), el("p", { class: "note" }, legend));
  const rest = same ? `, ${same} as likely as before` : "";
  return [
    el("p", {}, `Over ${plural(texts, "text")}, each word predicted after the correct previous words (teacher forcing): ` +
      `${plural(words, "word")} with a gold link, ${wrong} of them predicted wrongly.`),
    el("ul", {},
      line(missed.count ? `In ${missed.count} of the wrong predictions, the largest weight was not on the aligned word. If all attention is moved ` +
        `to that word, ${missed.fixed} become correct; if it is moved to another word, ${missed.other} become correct.` :
        "In all wrong predictions, the largest weight was on the aligned word.",
      [["fixed", missed.fixed], ["closer", missed.closer], ["worse", missed.worse]], missed.count,
      `corrected ${missed.fixed}; still wrong: correct word more likely ${missed.closer}, less likely ${missed.worse}${rest}`),
      line(`Of ${plural(right.count, "correct prediction")}, ${right.stay} stay correct when all attention is moved to another word.`,
        [["fixed", right.stay], ["worse", right.count - right.stay]], right.count,
        `still correct ${right.stay}; now wrong ${right.count - right.stay}`)),
    ...(Math.min(missed.count, right.count) < 30 ? [el("p", { class: "note" }, `With only ${Math.min(missed.count, right.count)} ` +
      "words, these proportions are unreliable.")] : []),
  ];
}

/** The legend, for the marks that occur. */
export function legendOf({ now, gold, moved, masked }, changes) {
  const entry = (mark, text) => el("li", {}, mark, text);
  const line = (kind) => el("span", { class: `mark-line ${kind}` });
  const cell = (kind) => el("span", { class: `mark-cell ${kind}` });
  return el("ul", { class: "legend keys" }, entry(line("link-mark"), "attention (line width: weight)"),
    ...(now.partners.length ? [entry(line("gold-mark"), "gold alignment"), entry(cell("gold-cell"), "cell of a gold link")] : []),
    ...(gold && !now.exact ? [entry(el("span", { class: "wrong" }, "词"), "a wrong word")] : []),
    ...(changes.count ? [entry(el("span", { class: "chip changed" }, ""), "changed by the intervention")] : []),
    ...(moved.length ? [entry(cell("moved-cell"), "attention moved here")] : []),
    ...(masked.length ? [entry(cell("masked-column"), "masked")] : []));
}
