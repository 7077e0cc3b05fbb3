// The Small World Lab, first view: generated sentences, with optional gold labels.

import { checkbox } from "../shared/controls.js";
import { el, svg } from "../shared/dom.js";
import { tell } from "../shared/lab.js";
import { KINDS, facts, link } from "../shared/probabilities.js";
import { plural } from "../shared/words.js";

const TAGS = {
  NOUN: "noun", VERB: "verb", ADJ: "adjective", ADV: "adverb", PROPN: "proper noun", DET: "determiner",
  PRON: "pronoun", ADP: "preposition", AUX: "auxiliary", CCONJ: "and, or, but", SCONJ: "because, that, if",
  PART: "particle", NUM: "number", INTJ: "interjection", PUNCT: "punctuation",
};
const LAYERS = [
  { name: "tags", title: "parts of speech" }, { name: "senses", title: "senses" }, { name: "names", title: "names" },
  { name: "arcs", title: "agreement" }, { name: "chinese", title: "Chinese" }, { name: "facts", title: "facts" },
];

/** An agreement arc in words: its ends, their distance, and the attractors. */
export function arcText({ subject, verb, number, attractors, distance }, words) {
  const form = number === "pl" ? "plural" : "singular";
  const between = distance === 0 ? "side by side" : `${plural(distance, "word")} between`;
  const lure = attractors === 0 ? "" : `, ${plural(attractors, "attractor")}`;
  return `${words[subject]} … ${words[verb]}: both ${form}; ${between}${lure}`;
}

/** The SVG path of an arc over the words between two x coordinates, `height` px high. */
export const arcPath = (from, to, height) =>
  `M${from} ${height}C${from} ${height * -0.15} ${to} ${height * -0.15} ${to} ${height}`;

function annotated(sentence, go) {
  const { words, tags, senses, mentions, agreement } = sentence;
  const cell = (name, column, end, content) =>
    el("div", { class: `layer ${name}`, style: `grid-column:${column + 1}/${end + 1}` }, content);
  const line = el("div", { class: "line", style: `grid-template-columns:repeat(${words.length},max-content)` },
    svg("svg", { class: "layer arcs", width: 1, height: 0, "aria-hidden": "true", style: "grid-column:1" }),
    ...words.map((word, i) => el("div", { class: "word", style: `grid-column:${i + 1}` }, word)),
    ...tags.map((tag, i) => cell("tags", i, i + 1, el("abbr", { title: TAGS[tag] ?? tag }, tag.toLowerCase()))),
    ...senses.flatMap((sense, i) => (sense ? [cell("senses", i, i + 1, sense)] : [])),
    ...mentions.map(({ start, end, key, kind, name }) => cell("names", start, end,
      link(KINDS[kind], key, go, { kind: "mention", title: `${name}: to the article` }))));
  const below = [
    el("p", { class: "layer chinese", lang: "zh" }, sentence.chinese),
    ...(sentence.facts.length ? [el("div", { class: "layer facts" }, facts("it states", sentence.facts, go, ""))] : []),
    ...agreement.filter(({ attractors }) => attractors > 0)
      .map((link) => el("p", { class: "layer arcs arc-text" }, arcText(link, words))),
  ];
  const paint = () => {
    const drawing = line.querySelector("svg");
    const places = [...line.querySelectorAll(".word")].map((node) => node.offsetLeft + node.offsetWidth / 2);
    const tall = agreement.length ? 26 : 0;
    drawing.setAttribute("height", tall);
    drawing.replaceChildren(...agreement.map((link) => svg("path", {
      class: link.attractors ? "arc lured" : "arc", d: arcPath(places[link.subject], places[link.verb], tall),
    }, svg("title", {}, arcText(link, words)))));
  };
  return { node: el("li", {}, el("div", { class: "scroll" }, line), ...below), paint };
}

/** The view: { node, draw(part) }. */
export function sentencesView(model, { go }) {
  const shown = new Set(["names", "senses", "arcs", "chinese", "facts"]);
  const list = el("ul", { class: "sentences" });
  const choose = () => {
    for (const { name } of LAYERS) list.classList.toggle(`without-${name}`, !shown.has(name));
  };
  const toggle = ({ name, title }) => checkbox({ title, checked: shown.has(name) }, (on) => {
    shown[on ? "add" : "delete"](name);
    choose();
    repaint();
  }).node;
  const more = el("button", { type: "button", disabled: model.get("alone"),
    on: { click: () => tell(model, { drawn: model.get("drawn") + 1 }) } }, "generate others");
  let lines = [];
  const repaint = () => { for (const line of lines) line.paint(); };
  const node = el("div", {}, el("div", { class: "bar quiet" }, more,
    el("span", { class: "layers", role: "group", "aria-label": "labels of each sentence" },
      ...LAYERS.map(toggle))), list);
  choose();
  return {
    node,
    draw(sentences) {
      lines = sentences.map((sentence) => annotated(sentence, go));
      list.replaceChildren(...lines.map((line) => line.node));
      repaint();
    },
    repaint,
  };
}
