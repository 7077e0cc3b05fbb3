// The mosaic: a column for each document, as wide as p(z|x), filled as high as p(y|z,x); below it heads of equal widths.

import { REACH, along, areasOf, arrowOf, bandsOf, cellsOf, columnsOf } from "./layout.js";
import { NULL, moved, pull, share } from "./told.js";
import { el, svg, walked } from "../shared/dom.js";

const [FIELD, FALL] = [1000, 26]; // units, the bands are stretched to the room there is
const NAMED = { width: 0.1, height: 0.11 }; // a cell with room for its word
const ROOM = 2 * REACH + 8; // px, the arrows
const pc = (value) => `${(100 * value).toFixed(3)}%`;

const cell = (answer, { y, height }, { answers, a, wide }) => el("i", {
  class: `cell fill-${answer}${answer === a ? " chosen" : ""}`, style: `top:${pc(y)};height:${pc(height)}` },
...(wide >= NAMED.width && height >= NAMED.height ? [el("span", { class: "word" }, answers[answer].text)] : []));

/** The columns in a box. */
function columns(documents, { answers, letters }, a, letter) {
  return columnsOf(documents).map(({ x, width }, i) => el("div", {
    class: "column", "data-doc": documents[i].number, style: `left:${pc(x)};width:${pc(width)}` },
  ...cellsOf(documents[i]).map((place, answer) => cell(answer, place, { answers, a, wide: width })),
  ...(letter && width > 0.04 ? [el("b", { class: "letter" }, letters[documents[i].number])] : [])));
}

/** The whole as a picture: its columns, and beside them the sum of each answer's area. */
function picture(documents, state, a, { title, letter = false }) {
  const sums = areasOf(documents);
  const said = sums.map((p, answer) => `${state.answers[answer].text} ${share(p)}`).join(", ");
  const bar = cellsOf({ likelihoods: sums }).map((place, answer) => cell(answer, place, { answers: state.answers, a, wide: 1 }));
  return [
    el("div", { class: "mosaic", role: "img", "aria-label": `${title}: ${documents.length} columns; ${said}` },
      ...columns(documents, state, a, letter)),
    el("div", { class: "sums", role: "img", "aria-label": `p(y|x): ${said}` }, ...bar),
  ];
}

/** The head of a document: its name, both chances, and the arrow. */
function head(state, document, a, { old, open, point }) {
  const { number, title, prior, likelihoods, pulls } = document;
  const nothing = number === NULL;
  const [wide, high] = old ? [moved(old.prior, prior), moved(old.likelihoods[a], likelihoods[a])] : [prior, likelihoods[a]].map(share);
  return el("button", { type: "button", class: `head${old === null ? " new" : ""}`, "data-doc": number, "data-at": `head ${number}`,
    "aria-label": `${nothing ? "the null document" : `${state.letters[number]}, ${title}`}: p(z|x) ${wide}, p(y|z,x) ${high}, ` +
      `r ${pull(pulls[a])}`,
    on: { click: () => open(number), focus: () => point(number), blur: () => point(null) } },
  el("span", { class: "title" }, el("b", { class: "badge" }, state.letters[number]), " ",
    el("bdi", {}, nothing ? "nothing" : title)),
  el("span", { class: "number" }, wide), el("span", { class: "number" }, high),
  svg("svg", { class: `arrow ${pulls[a] < 0 ? "down" : "up"}`, width: 40, height: ROOM, "aria-hidden": "true" },
    svg("path", { class: "level", d: `M2 ${ROOM / 2}H38` }), svg("path", { class: "tip", d: arrowOf(pulls[a], 20, ROOM / 2) })),
  el("span", { class: "number" }, pull(pulls[a])));
}

/** The answers, the likeliest first: a press chooses one. */
function list(state, a, { choose, gone }) {
  return el("ul", { class: "answers", "aria-label": "answers: choose the one that training would be told" },
    ...state.answers.map(({ text, p, before, right }, answer) => el("li", {}, el("button", {
      type: "button", class: "answer", "aria-pressed": String(answer === a), "data-at": `answer ${text}`,
      on: { click: () => choose(text) } },
    el("i", { class: `swatch fill-${answer}` }), el("bdi", {}, text), right ? el("small", { title: "what is true" }, "✓ true") : "",
    el("span", { class: "amount" }, before === null ? share(p) : moved(before, p))))),
    el("li", { class: "rest" }, el("i", { class: "swatch" }), "any other words ", el("span", { class: "amount" }, share(gone))));
}

const RULES = ["100\u00a0%", "50\u00a0%", "0"];
const side = (kind, ...parts) => el("div", { class: `side ${kind}` }, ...parts);

/** All of it: before, where there was one; now; bands; heads with arrows; and the answers. */
export function mosaicOf(state, a, { open, point, choose, signal }) {
  const { documents, before } = state;
  const bands = svg("svg", { class: "bands", viewBox: `0 0 ${FIELD} ${FALL}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    ...bandsOf(columnsOf(documents), FIELD, FALL).map((d, i) => svg("path", { d, "data-doc": documents[i].number })));
  const oldOf = ({ number }) => (before ? before.find((one) => one.number === number) ?? null : undefined);
  const heads = el("div", { class: "heads", role: "group", "aria-label": "the documents in sight; the arrow keys lead from one to the next",
    style: `grid-template-columns:repeat(${documents.length}, minmax(0, 1fr))` },
  ...documents.map((one) => head(state, one, a, { old: oldOf(one), open, point })));
  walked(heads, along, signal);
  const answer = state.answers[a].text;
  const label = (...words) => el("span", {}, ...words);
  const gone = Math.max(0, 1 - state.answers.reduce((sum, { p }) => sum + p, 0));
  const node = el("div", { class: `board${before ? " edited" : ""}` },
    ...(before ? [side("twin", label("as it was")), ...picture(before, state, a, { title: "before", letter: true }),
      el("div", { class: "beside" })] : []),
    side("scale", label("height:"), label("p(y|z,x)"), ...RULES.map((text, i) => el("small", { style: `top:${50 * i}%` }, text))),
    ...picture(documents, state, a, { title: "now" }),
    el("div", { class: "beside" }, el("p", { class: "over" }, "p(y|x), area summed"), list(state, a, { choose, gone })),
    side("fall"), bands, el("div", {}), el("div", {}),
    side("names", label("document z"), label("width p(z|x)"), label("height of ", el("bdi", {}, `“${answer}”`)),
      el("span", { class: "arrows", style: `height:${ROOM}px` }, label("pull on its score, if told "), el("bdi", {}, `“${answer}”`)),
      label("r(z)")), heads);
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
