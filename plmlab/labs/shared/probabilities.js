// Parts shared by the views of the Small World Lab: sentences as running text, distributions as bars.

import { el } from "./dom.js";
import { number, percent, plural } from "./words.js";

export const KINDS = {
  person: "person", town: "town", country: "country", river: "river", film: "film", book: "book", cafe: "café",
  company: "company",
};

const CLOSE = new Set([".", "?", "!", ","]);

/** The probability of a sentence with a surprisal of `nats`, as "one in 1,200". */
export function rarity(nats) {
  const times = Math.exp(nats);
  if (times < 1e6) return `one in ${number(Math.round(times))}`;
  const [unit, size] = times < 1e9 ? ["million", 1e6] : times < 1e12 ? ["billion", 1e9] : ["trillion", 1e12];
  return times < 1e15 ? `one in ${(times / size).toPrecision(2)} ${unit}` : `one in 10^${Math.round(nats / Math.LN10)}`;
}

/** The rows of a distribution, [{ word, p, own }], most probable first; the actual `word` is always included. */
export function rowsOf({ likeliest, own }, word) {
  const rows = likeliest.map(([candidate, p]) => ({ word: candidate, p, own: candidate === word }));
  if (word !== null && !rows.some((row) => row.own)) rows.push({ word, p: own, own: true });
  return rows;
}

/** Split words into running text: [{ text, mention, space }], one part per mention or other word; `space` is whether
    a space precedes it. */
export function pieces(words, mentions) {
  const parts = [];
  for (let at = 0; at < words.length;) {
    const mention = mentions.find(({ start }) => start === at) ?? null;
    const end = mention ? mention.end : at + 1;
    parts.push({ text: words.slice(at, end).join(" "), mention, space: at > 0 && !CLOSE.has(words[at]) });
    at = end;
  }
  return parts;
}

/** A link to an entity; on a saved page, which has no kernel, it is plain text in the style of a link. */
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

/** A distribution as a table with bars; the actual word is marked. */
export function bars(title, belief, word, role) {
  const rows = rowsOf(belief, word);
  const rest = belief.choices - belief.likeliest.length - (rows.length > belief.likeliest.length ? 1 : 0);
  const line = ({ word: candidate, p, own }) => el("tr", { class: own ? "own" : "" },
    el("th", { scope: "row" }, el("bdi", {}, candidate), own ? el("span", { class: "mark" }, " ◂ actual word") : ""),
    el("td", { class: "track" }, el("i", { class: role, style: `width:${Math.max(p * 100, 0.4)}%` })),
    el("td", { class: "amount" }, percent(p)));
  return el("table", { class: "beliefs" }, el("caption", {}, title), el("tbody", {}, ...rows.map(line)),
    rest > 0 ? el("tfoot", {}, el("tr", {}, el("td", { colspan: 3 },
      `and ${plural(rest, "other word")}`))) : "");
}

/** A fact as a table row (subject, relation, object); entities that have an article are links. */
function fact({ subject, relation, object }, go, here = "") {
  const end = ({ key, name, named }) => (named && key !== here ? link(name, key, go) : el("span", {}, name));
  return el("tr", {}, el("td", {}, end(subject)), el("td", { class: "relation" }, relation), el("td", {}, end(object)));
}

/** Facts as a table. */
export function facts(title, list, go, here) {
  return el("table", { class: "facts" }, el("caption", {}, title), el("tbody", {}, ...list.map((f) => fact(f, go, here))));
}
