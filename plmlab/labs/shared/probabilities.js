// Parts of the Small World's lab that its views share: sentences as prose, beliefs as bars.

import { el } from "./dom.js";
import { number, percent, plural } from "./words.js";

export const KINDS = {
  person: "person", town: "town", country: "country", river: "river", film: "film", book: "book", cafe: "café",
  company: "company",
};

const CLOSE = new Set([".", "?", "!", ","]);

/** How rarely a sentence of so many nats comes: "one in 1,200". */
export function rarity(nats) {
  const times = Math.exp(nats);
  if (times < 1e6) return `one in ${number(Math.round(times))}`;
  const [unit, size] = times < 1e9 ? ["million", 1e6] : times < 1e12 ? ["billion", 1e9] : ["trillion", 1e12];
  return times < 1e15 ? `one in ${(times / size).toPrecision(2)} ${unit}` : `one in 10^${Math.round(nats / Math.LN10)}`;
}

/** The rows of a belief: [{ word, p, own }], the word that stands there in any case, likeliest first. */
export function rowsOf({ likeliest, own }, word) {
  const rows = likeliest.map(([said, p]) => ({ word: said, p, own: said === word }));
  if (word !== null && !rows.some((row) => row.own)) rows.push({ word, p: own, own: true });
  return rows;
}

/** Where words stand in prose: [{ words: [first, end), mention, space }], one piece a mention or other word. */
export function pieces(words, mentions) {
  const found = [];
  for (let at = 0; at < words.length;) {
    const mention = mentions.find(({ start }) => start === at) ?? null;
    const end = mention ? mention.end : at + 1;
    found.push({ text: words.slice(at, end).join(" "), mention, space: at > 0 && !CLOSE.has(words[at]) });
    at = end;
  }
  return found;
}

/** A link that walks to an entity; on a saved page, where nobody answers, it only looks like one. */
export const link = (text, key, go, { kind = "link", title = null } = {}) => (go
  ? el("button", { type: "button", class: kind, title, on: { click: () => go(key) } }, text)
  : el("span", { class: kind }, text));

/** A sentence as running text; a mention is a link. */
export const prose = ({ words, mentions }, go, here = "") =>
  pieces(words, mentions).flatMap(({ text, mention, space }) => [
    space ? " " : "",
    mention && mention.key !== here
      ? link(text, mention.key, go, { title: `${mention.name}: ${KINDS[mention.kind]}` }) : text,
  ]);

/** A belief as bars in a table, the word that stands there marked. */
export function bars(title, belief, word, role) {
  const rows = rowsOf(belief, word);
  const rest = belief.choices - belief.likeliest.length - (rows.length > belief.likeliest.length ? 1 : 0);
  const line = ({ word: said, p, own }) => el("tr", { class: own ? "own" : "" },
    el("th", { scope: "row" }, el("bdi", {}, said), own ? el("span", { class: "mark" }, " ◂ it stands there") : ""),
    el("td", { class: "track" }, el("i", { class: role, style: `width:${Math.max(p * 100, 0.4)}%` })),
    el("td", { class: "amount" }, percent(p)));
  return el("table", { class: "beliefs" }, el("caption", {}, title), el("tbody", {}, ...rows.map(line)),
    rest > 0 ? el("tfoot", {}, el("tr", {}, el("td", { colspan: 3 },
      `and ${plural(rest, "other word")}`))) : "");
}

/** A fact in three parts, each end a link where it has an article. */
function fact({ subject, relation, object }, go, here = "") {
  const end = ({ key, name, named }) => (named && key !== here ? link(name, key, go) : el("span", {}, name));
  return el("tr", {}, el("td", {}, end(subject)), el("td", { class: "relation" }, relation), el("td", {}, end(object)));
}

/** Facts as a table. */
export function facts(title, list, go, here) {
  return el("table", { class: "facts" }, el("caption", {}, title), el("tbody", {}, ...list.map((f) => fact(f, go, here))));
}
