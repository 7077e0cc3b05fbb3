// The mosaic: one column per document, as wide as p(z|x), filled as high as p(y|z,x); below it heads of equal widths.

import { REACH, along, arrowOf, bandsOf, cellsOf, columnsOf, scaleOf } from "./layout.js";
import { NULL, moved, rankedOf, was } from "./messages.js";
import { el, svg, walked } from "../shared/dom.js";
import { quoted, shortPercent, signed } from "../shared/words.js";
import { wordsOf } from "./wording.js";

const [FIELD, FALL] = [1000, 26]; // SVG units: the bands are stretched to the available room
const NAMED = { width: 0.1, height: 0.11 }; // minimum size of a cell that shows its word
const ROOM = 2 * REACH + 10; // px: height of the arrows
const pc = (value) => `${(100 * value).toFixed(3)}%`;

const cell = (answer, { y, height }, { answers, a, wide }) => el("i", {
  class: `cell fill-${answer}${answer === a ? " chosen" : ""}`, style: `top:${pc(y)};height:${pc(height)}` },
...(wide >= NAMED.width && height >= NAMED.height ? [el("span", { class: "word" }, answers[answer].text)] : []));

/** The columns of the mosaic. */
function columns(documents, { answers, letters }, a, letter) {
  return columnsOf(documents).map(({ x, width }, i) => el("div", {
    class: "column", "data-doc": documents[i].number, style: `left:${pc(x)};width:${pc(width)}` },
  ...cellsOf(documents[i]).map((place, answer) => cell(answer, place, { answers, a, wide: width })),
  ...(letter && width > 0.04 ? [el("b", { class: "letter" }, letters[documents[i].number])] : [])));
}

/** The mosaic as a picture: the columns, and next to them the summed area of each answer. */
function picture(documents, state, a, { title, kind, sums, letter = false }) {
  const amounts = sums.map((p, answer) => `${state.answers[answer].text} ${shortPercent(p)}`).join(", ");
  const bar = cellsOf({ likelihoods: sums }).map((place, answer) => cell(answer, place, { answers: state.answers, a, wide: 1 }));
  return [
    el("div", { class: `mosaic ${kind}`, role: "img", "aria-label": `${title}: ${documents.length} columns; ${amounts}` },
      ...columns(documents, state, a, letter)),
    el("div", { class: `sums ${kind}`, role: "img", "aria-label": `p(y|x): ${amounts}` }, ...bar),
  ];
}

/** The head of a document: its name, both probabilities, and the arrow. */
function head(state, document, a, { old, full, open, point }) {
  const { number, title, prior, likelihoods, pulls } = document;
  const nothing = number === NULL;
  const pairs = [[old?.prior ?? null, prior], [old?.likelihoods[a] ?? null, likelihoods[a]]];
  const amount = ([then, now]) => el("span", { class: "number" }, shortPercent(now), el("small", {}, was(then, now)));
  const [wide, high] = pairs.map(([then, now]) => `${shortPercent(now)} ${was(then, now)}`.trim());
  return el("button", { type: "button", class: `head${old === null ? " new" : ""}`, "data-doc": number, "data-at": `head ${number}`,
    "aria-label": `${nothing ? wordsOf(state).nothing : `${state.letters[number]}, ${title}`}: p(z|x) ${wide}, p(y|z,x) ${high}, ` +
      `r ${signed(pulls[a])}`,
    on: { click: () => open(number), focus: () => point(number), blur: () => point(null) } },
  el("span", { class: "title" }, el("b", { class: "badge" }, state.letters[number]), " ",
    el("bdi", {}, nothing ? wordsOf(state).nothing.replace(/^the /, "") : title)),
  ...pairs.map(amount),
  svg("svg", { class: `arrow ${pulls[a] < 0 ? "down" : "up"}`, width: 40, height: ROOM, "aria-hidden": "true" },
    svg("path", { class: "level", d: `M2 ${ROOM / 2}H38` }), svg("path", { class: "tip", d: arrowOf(pulls[a], full, 20, ROOM / 2) })),
  el("b", { class: "number" }, signed(pulls[a])));
}

/** The answers, most probable first; a click selects one. */
function list(state, a, { choose, gone }) {
  return el("ul", { class: "answers", "aria-label": "answers: choose the training target" },
    ...rankedOf(state).map((answer) => [answer, state.answers[answer]]).map(([answer, { text, p, before, right }]) => el("li", {}, el("button", {
      type: "button", class: "answer", "aria-pressed": String(answer === a), "data-at": `answer ${text}`,
      on: { click: () => choose(text) } },
    el("i", { class: `swatch fill-${answer}` }), el("bdi", {}, text), right ? el("small", { title: "the correct answer", "aria-label": "correct" }, "✓") : "",
    el("span", { class: "amount" }, before === null ? shortPercent(p) : moved(before, p))))),
    el("li", { class: "rest" }, el("i", { class: "swatch" }), "any other answer ", el("span", { class: "amount" }, shortPercent(gone))));
}

const RULES = ["100\u00a0%", "50\u00a0%", "0"];
const side = (kind, ...parts) => el("div", { class: `side ${kind}` }, ...parts);

/** The whole board: the mosaic before (if edited) and now, bands, heads with arrows, and the answers. */
export function mosaicOf(state, a, { open, point, choose, own, signal }) {
  const { documents, before } = state;
  const words = wordsOf(state);
  const bands = svg("svg", { class: "bands", viewBox: `0 0 ${FIELD} ${FALL}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    ...bandsOf(columnsOf(documents), FIELD, FALL).map((d, i) => svg("path", { d, "data-doc": documents[i].number })));
  const full = scaleOf(documents.map(({ pulls }) => pulls[a]));
  const oldOf = ({ number }) => (before ? before.find((document) => document.number === number) ?? null : undefined);
  const heads = el("div", { class: "heads", role: "group", "aria-label": `the retrieved ${words.many}; the arrow keys move between them`,
    style: `grid-template-columns:repeat(${documents.length}, minmax(0, 1fr))` },
  ...documents.map((document) => head(state, document, a, { old: oldOf(document), full, open, point })));
  walked(heads, along, signal);
  const answer = el("bdi", {}, quoted(state.answers[a].text));
  const label = (...words) => el("span", {}, ...words);
  const gone = Math.max(0, 1 - state.answers.reduce((sum, { p }) => sum + p, 0));
  const node = el("div", { class: `board${before ? " edited" : ""}`, style: `--columns:${documents.length}` },
    ...(before ? [side("then", label("before")), ...picture(before, state, a, { title: "before", kind: "then", sums: state.answers.map((one) => one.before), letter: true })] : []),
    side("scale", label("height:"), label("p(y|z,x)"), ...RULES.map((text, i) => el("small", { style: `top:${50 * i}%` }, text))),
    ...picture(documents, state, a, { title: "now", kind: "now", sums: state.answers.map(({ p }) => p) }), bands,
    side("names", label(`${words.one} z`), label("width p(z|x)"), label("height p(y|z,x)"),
      el("span", { class: "arrows", style: `height:${ROOM}px` }, "gradient on the score for target ", answer,
        ...[full, -full].map((r, i) => el("small", { style: i ? "bottom:2px" : "top:3px" }, signed(r)))),
      label("r(z)")), heads,
    el("div", { class: "beside" }, el("p", { class: "over" }, `p(y|x)${words.form}${words.sum}`), list(state, a, { choose, gone }), own));
  node.addEventListener("pointerover", (event) => {
    const on = event.target.closest("[data-doc]");
    point(on ? Number(on.dataset.doc) : null);
  });
  node.addEventListener("pointerleave", () => point(null));
  node.addEventListener("click", (event) => {
    const on = event.target.closest(".column");
    if (on) open(Number(on.dataset.doc));
  });
  return node;
}
