// All positional encodings side by side: the scores of one random head, before and after the sentence is shifted.

import { tokenMap } from "./token_map.js";
import { radioGroup } from "../shared/controls.js";
import { clamp, el, ruler, svg } from "../shared/dom.js";
import { pixels, ramp, scaleBar } from "../shared/heat.js";
import { fill, guess, written } from "../shared/lab.js";
import { linear } from "../shared/plot.js";
import { TERMS } from "../shared/terms.js";
import { capital, decimal, number, short } from "../shared/words.js";

const GAP = 18;
const LEAST = 120;
const BAR = { height: 46, top: 6, thick: 22 };
const TERM_RULES = ["rule-0", "rule-3", "rule-2", "rule-4"];
const HONEST = "All methods share one head with random weights: the token vectors, the query and key projections, " +
  "and every parameter that a method would learn. The head is untrained, so the sizes of the scores mean nothing; " +
  "what matters is which of them change when the sentence is shifted.";
const BEYOND = "That a score can be computed does not mean that a trained model can make use of it.";
const FACTS = ["positional encoding", "learned parameters for n positions, h heads, d dimensions",
  "parameters at BERT-base’s size", "beyond the training length"];

/** The largest change of a map as text: 0 only if nothing changes at all; up to `rounded` it is a rounding error. */
export const changeSaid = (largest, rounded) =>
  (largest === 0 ? "0" : largest <= rounded ? `< ${rounded.toFixed(5)}` : short(largest, 3));

/** The cell of a pair in a sentence of `count` tokens; a later key is replaced by the query. */
export function pairOf({ query, key }, count) {
  const row = Math.min(query, count - 1);
  return { row, column: Math.min(key, row) };
}

/** Split the scores sent by Python: `before` and `after` have one list per method, `terms` one per term. */
export function sorted(scores, ways, count) {
  const size = count ** 2;
  const all = Array.from({ length: 2 * ways + TERMS.length }, (_, i) => scores.subarray(i * size, (i + 1) * size));
  return { before: all.slice(0, ways), after: all.slice(ways, 2 * ways), terms: all.slice(2 * ways) };
}

/** The intervals of a stacked bar: positive parts are stacked to the right of zero, negative ones to the left. */
export function stacked(values) {
  const ends = { plus: 0, minus: 0 };
  return values.map((value) => {
    const side = value < 0 ? "minus" : "plus";
    const from = ends[side];
    ends[side] += value;
    return [Math.min(from, ends[side]), Math.max(from, ends[side])];
  });
}

/** The layout of the cards in `room` px: the number per row, their width, and the side of a cell. */
export function cardsLayout(count, label, room) {
  const abreast = room >= 820 ? 4 : room >= 400 ? 2 : 1;
  const share = Math.floor((room - label - (abreast - 1) * GAP) / abreast);
  const width = Math.max(share, LEAST); // a lab is drawn before it has room
  const cell = clamp(Math.floor((width - 16) / count), 3, 20);
  return { abreast, width, cell, tokens: cell < 10 ? Math.ceil(12 / cell) : 1 };
}

/** The positions of a pair and their distance, in words. */
export function pairSaid({ row, column }, moved) {
  return `{query}, at position ${row + moved}, attends to {key}, at position ${column + moved}: ` +
    `${moved ? "still at " : ""}distance ${row - column}`;
}

/** The sentence as chips, each with its position. */
function chipsOf({ tokens, moved }) {
  const others = el("span", { class: "placed others" }, el("span", { class: "chip" }, `${moved} other tokens`),
    el("i", {}, `0 … ${moved - 1}`));
  const chips = tokens.map((token) => el("bdi", { class: `chip${token === "[UNK]" ? " unknown" : ""}` }, token));
  const places = tokens.map(() => el("i", {}));
  const node = el("div", { class: "told-places" }, others,
    ...tokens.map((_, i) => el("span", { class: "placed" }, chips[i], places[i])));
  const point = ({ row, column }, by) => {
    others.hidden = !by;
    places.forEach((place, i) => { place.textContent = i + by; });
    chips.forEach((chip, i) => {
      chip.classList.toggle("is-query", i === row);
      chip.classList.toggle("is-key", i === column);
    });
  };
  return { node, point };
}

/** The four terms of a pair, stacked; their sum is the score. The axis is the same for all pairs. */
function termsOf(terms, count, width) {
  const most = (sign) => Math.max(...Array.from({ length: count ** 2 }, (_, i) =>
    terms.reduce((sum, term) => sum + Math.max(sign * term[i], 0), 0)));
  const x = linear(-most(-1), most(1), 2, width - 2);
  const marks = svg("g", {});
  const drawing = svg("svg", { class: "plot-of", width, height: BAR.height, "aria-hidden": "true" },
    marks, svg("path", { class: "zero", d: `M${x(0)} 0V${BAR.top + BAR.thick + 6}` }),
    svg("text", { x: x(0), y: BAR.height - 2, "text-anchor": "middle" }, "0"),
    svg("text", { x: 0, y: BAR.height - 2 }, short(-most(-1), 2)),
    svg("text", { x: width, y: BAR.height - 2, "text-anchor": "end" }, short(most(1), 2)));
  const cells = TERMS.map(() => el("td", {}));
  const sum = el("td", {});
  const line = (name, letter, title, cell) => el("tr", {}, el("th", { scope: "row" },
    el("i", { class: `swatch ${name}`, "aria-hidden": "true" }, letter), title), cell);
  const table = el("table", { class: "terms" }, el("tbody", {},
    ...TERMS.map(({ letter, title, product }, i) => line(TERM_RULES[i], letter, `${title}, ${product}`, cells[i])),
    line("sum", "", "sum: the score", sum)));
  const point = ({ row, column }) => {
    const values = terms.map((term) => term[row * count + column]);
    const total = values.reduce((a, b) => a + b, 0);
    marks.replaceChildren(...stacked(values).flatMap(([from, to], i) => [
      svg("rect", { class: TERM_RULES[i], x: x(from), y: BAR.top, width: x(to) - x(from), height: BAR.thick }),
      ...(x(to) - x(from) < 11 ? [] : [svg("text", { class: "letter", x: x((from + to) / 2), y: BAR.top + 15,
        "text-anchor": "middle" }, TERMS[i].letter)])]),
    svg("path", { class: "sum", d: `M${x(total)} ${BAR.top - 5}V${BAR.top + BAR.thick + 5}` }));
    cells.forEach((cell, i) => { cell.textContent = decimal(values[i]); });
    sum.textContent = decimal(total);
  };
  const node = el("section", { class: "way" }, el("h5", {}, "Four terms of this pair"),
    el("p", { class: "source" }, "Transformer-XL; bars stacked from 0"), drawing, table);
  return { node, point };
}

/** The colours of a map; cells of later keys stay transparent, so that the hatching shows. */
function coloured(values, { count, limit, colours }) {
  const bytes = pixels(count ** 2, (i) => values[i], -limit, limit, colours);
  const cells = new Uint32Array(bytes.buffer);
  for (let i = 0; i < cells.length; i++) if (i % count > Math.floor(i / count)) cells[i] = 0;
  return bytes;
}

/** The card of a method: its map, the score of the pair, and the effect of the shift. */
function cardOf(way, found, { tokens, limit, rounded, colours, ...figure }) {
  const count = tokens.length;
  const { map, mark, node: drawing } = tokenMap({ tokens, ...figure,
    name: `scores, ${way.name}: one row per query, one column per key` });
  const [pair, most] = [el("p", { class: "pair" }), el("p", { class: "most" })];
  const why = el("p", { class: "because" }, way.error ? `It fails: ${way.error}.` : way.why);
  const node = el("section", { class: "way" }, el("h5", {}, capital(way.name)),
    el("p", { class: "source" }, way.source), drawing, pair, most, el("p", { class: "how" }, way.how), why);
  const score = (values, drawn, at) => (drawn ? decimal(values[at.row * count + at.column]) : "–");
  let shown = null;
  const point = (at, { revealed, after }, sentence) => {
    if (shown !== after) {
      shown = after;
      map.node.classList.toggle("blank", !way.drawn[Number(after)]);
      map.paint(coloured(after ? found.after : found.before, { count, limit, colours }));
    }
    const [before, shifted] = [score(found.before, way.drawn[0], at), score(found.after, way.drawn[1], at)];
    pair.replaceChildren("this pair ", el("b", {}, before), ...(revealed ? [" → ", el("b", {}, shifted)] : []));
    const changes = way.largest === null || way.largest > rounded;
    most.replaceChildren("largest change ", el("b", { class: revealed && changes ? "changes" : "" },
      !revealed ? "?" : way.largest === null ? "it fails" : changeSaid(way.largest, rounded)));
    why.hidden = !revealed && way.drawn[0];
    map.point(at, `${sentence}; the score is ${after ? shifted : before}`);
    mark(at);
  };
  return { node, point };
}

/** The table of learned parameters and of the behaviour beyond the training length. */
function factsOf(ways) {
  const row = ({ name, learned, numbers, beyond }) => el("tr", {}, el("th", { scope: "row" }, capital(name)),
    ...[learned, number(numbers), beyond].map((text) => el("td", {}, text)));
  return el("table", { class: "facts-of-ways" },
    el("thead", {}, el("tr", {}, ...FACTS.map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, ...ways.map(row)));
}

/** The switch between the maps before and after the shift. */
function flipOf({ tokens, moved }, view, flip) {
  const last = tokens.length - 1;
  const label = "the maps show the sentence";
  return radioGroup({ label, lead: label, kind: "bar quiet flips", value: view.after,
    options: [["unshifted", 0], [`shifted by ${moved}`, moved]].map(([text, by], i) =>
      [Boolean(i), `${text}, positions ${by} … ${by + last}`, { class: "flip" }]) }, flip);
}

/** The whole comparison. `scores` come from Python, `choose` sets traits; `view` keeps whether the shift has been
    revealed, and whether the maps show it. */
export function comparedView(state, scores, { room, stops, lab, choose, view }) {
  const { tokens, ways, moved, limit, rounded } = state;
  const count = tokens.length;
  const measure = ruler(lab, "12px");
  const widest = Math.ceil(Math.max(...tokens.map(measure)));
  const label = clamp(widest + 14, 40, 92);
  const at = cardsLayout(count, label, room);
  const found = sorted(scores, ways.length, count);
  const why = el("p", { class: "why", role: "status", "aria-live": "polite" });
  const finding = el("h4", { class: "finding" });
  const chips = chipsOf(state);
  const rounding = el("p", { class: "note" },
    `The largest change is the maximum over all scores of a map; < ${rounded.toFixed(5)} is rounding error.`);
  let pair = { row: 0, column: 0 };
  const onCell = ({ row, column }) => {
    const to = { query: row, key: Math.min(column, row) };
    if (to.query === pair.row && to.key === pair.column) point(to);
    else choose(to);
  };
  const figure = { tokens, limit, rounded, colours: ramp(stops), at, label, measure, onCell,
    head: clamp(widest + 12, 30, 84) };
  const cards = ways.map((way, i) => cardOf(way, { before: found.before[i], after: found.after[i] },
    { ...figure, withRows: i % at.abreast === 0 }));
  const terms = termsOf(found.terms, count, at.width - 16);
  const shown = [...cards, terms];
  const columns = Array.from({ length: at.abreast }, (_, i) => `${at.width + (i ? 0 : label)}px`).join(" ");
  shown.forEach(({ node }, i) => node.classList.toggle("first", i % at.abreast === 0));

  const point = (traits) => {
    pair = pairOf(traits, count);
    const by = view.after ? moved : 0;
    const parts = written(fill(pairSaid(pair, by), { query: tokens[pair.row], key: tokens[pair.column] }));
    why.replaceChildren(...parts);
    finding.textContent = view.revealed ? state.finding
      : "The same words and the same head: each positional encoding gives different scores";
    for (const each of shown) each.point(pair, view, why.textContent);
    chips.point(pair, by);
    rounding.hidden = !view.revealed;
    flip.show(view.after);
  };
  const turn = (after) => {
    Object.assign(view, { after, revealed: view.revealed || after });
    point({ query: pair.row, key: pair.column });
  };
  const flip = flipOf(state, view, turn);
  const ask = guess(view, state.question, state.answer, true);
  ask.addEventListener("toggle", () => { if (ask.open && !view.revealed) turn(true); });
  const node = el("div", { class: "compared" }, finding, el("p", { class: "note" }, HONEST), ask, flip.node, chips.node,
    ...(state.note ? [el("p", { class: "note" }, state.note)] : []),
    el("div", { class: `pair-told${room < 760 ? " stacked" : ""}` },
      el("div", {}, why, el("p", { class: "axes" }, el("b", { class: "query" }, "query"), " ↓ attends to ",
        el("b", { class: "key" }, "key"), " →; hatched: later keys, which the causal mask blocks")),
      scaleBar(stops, [`≤ −${limit}`, "0", `≥ ${limit}`], "score before softmax, one scale for all")),
    el("div", { class: "ways", style: `--label:${label}px;column-gap:${GAP}px;grid-template-columns:${columns}` },
      ...shown.map((each) => each.node)),
    rounding,
    el("h4", { class: "finding" }, "What each method learns, and how far it extends"),
    el("div", { class: "facts-scroll" }, factsOf(ways)), el("p", { class: "note" }, BEYOND));
  return { node, point };
}
