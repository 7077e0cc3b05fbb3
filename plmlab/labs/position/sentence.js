// A real model's attention on the reader's sentence: as it reads, with shuffled positions, and with all the same.

import { clamp, el, ruler, svg } from "../shared/dom.js";
import { heatMap, pixels, ramp, scaleBar, sequential } from "../shared/heat.js";
import { fill, guess, observe, tell, textField, written } from "../shared/lab.js";

const GAP_OF_MAPS = 14;
const EDGE = 8;
const WIDEST_MAP = 400;
const BOLD = 1.15; // how much wider bold type runs
const ASK_SENTENCE = {
  question: "All tokens stand at position 0. Can the model still tell “dog bites man” from “man bites dog”?",
  answer: "No. Without positions the words are a bag: in another order every token gets the same vector and the same " +
    "attention, only in another row. With shuffled positions the model reads the sentence in the order of those " +
    "positions: a head that looks one token back looks at whichever token was told the position before.",
};

/** How the maps stand in `room` px: the side of a cell, how many maps share a line, each which token and each which
    position is written. */
export function mapsLayout(count, label, room) {
  const third = Math.floor((room - label - 2 * GAP_OF_MAPS) / 3 / count);
  const abreast = third >= 3 && room >= 560 ? 3 : 1;
  const alone = Math.floor(Math.min(room - label, WIDEST_MAP) / count);
  const cell = clamp(abreast === 3 ? third : alone, 3, 30);
  return { cell, abreast, tokens: cell < 10 ? Math.ceil(12 / cell) : 1, positions: Math.ceil(14 / cell) };
}

/** Whether a label is written where each `every`th has room; the marked one always is, those beside it give way. */
export const isWritten = (i, every, marked) => i === marked || (i % every === 0 && Math.abs(i - marked) >= every);

/** As much of a text as is `room` px wide, the rest an ellipsis. */
export function trimmed(text, room, measure) {
  if (measure(text) <= room) return text;
  const letters = [...text];
  while (letters.length && measure(`${letters.join("")}…`) > room) letters.pop();
  return `${letters.join("")}…`;
}

const headName = ({ layer, head }) => `layer ${layer}, ${head === null ? "mean of heads" : `head ${head}`}`;
const share = (value) => (value === null ? "–" : value.toFixed(2));

/** The sentence, its layer and head, and things to try. */
export function sentenceControls(model, signal) {
  const disabled = model.get("alone");
  const button = (text, click, more = {}) => el("button", { type: "button", disabled, ...more, on: { click } }, text);
  const pick = (label) => el("select", { "aria-label": label, disabled });
  const [layers, heads] = [pick("layer"), pick("head")];
  const presets = el("span", { class: "presets" });
  const send = () =>
    tell(model, { layer: Number(layers.value), head: heads.value === "" ? null : Number(heads.value) });
  for (const select of [layers, heads]) select.addEventListener("change", send);
  let drawn = "";
  const follow = () => {
    const state = model.get("state");
    if (!state.tokens) return;
    const wanted = JSON.stringify([state.layers, state.heads, state.finders]);
    if (wanted !== drawn) {
      drawn = wanted;
      const numbered = (name, count) =>
        Array.from({ length: count }, (_, i) => el("option", { value: i }, `${name} ${i}`));
      layers.replaceChildren(...numbered("layer", state.layers));
      heads.replaceChildren(...numbered("head", state.heads), el("option", { value: "" }, "mean of heads"));
      presets.replaceChildren("the head that ", ...state.finders.map(({ title, layer, head }) =>
        button(title, () => tell(model, { layer, head }), { class: "preset", title: headName({ layer, head }) })));
    }
    layers.value = state.layer;
    heads.value = state.head ?? "";
  };
  observe(model, ["state"], follow, signal);
  follow();
  return [
    el("div", { class: "bar" }, textField(model, "your sentence", signal),
      button("shuffle again", () => tell(model, { shuffles: model.get("shuffles") + 1 }))),
    el("div", { class: "bar quiet" }, el("span", { class: "picks" }, layers, heads), presets),
  ];
}

/** A square of cells with the tokens on its sides and the positions that they were told. */
function mapOf(reading, { state, at, label, measure, head, withRows, paint, onCell }) {
  const { tokens } = state;
  const count = tokens.length;
  const size = at.cell * count;
  const left = withRows ? label : EDGE;
  const top = 20 + head;
  const map = heatMap({ rows: count, columns: count, width: size, height: size, onCell,
    label: `attention, ${reading.title}: a row a query, a column a key` });
  Object.assign(map.node.style, { left: `${left}px`, top: `${top}px` });
  paint(map, reading);
  const middle = (i) => (i + 0.5) * at.cell;
  const rows = !withRows ? [] : tokens.map((token, i) =>
    svg("text", { x: left - 7, y: top + middle(i) + 4, "text-anchor": "end" }, trimmed(token, label - 12, measure)));
  const keys = tokens.map((token, i) =>
    svg("text", { transform: `translate(${left + middle(i) + 4} ${top - 6}) rotate(-90)` },
      trimmed(token, head - 26, measure)));
  const told = reading.positions.map((position, i) =>
    svg("text", { x: left + middle(i), y: 32, "text-anchor": "middle" }, String(position)));
  const wide = Math.max(size, measure(reading.title) * BOLD);
  const drawing = svg("svg", { class: "plot-of", width: left + wide + EDGE, height: top + size + EDGE,
    "aria-hidden": "true", style: `font-size:${clamp(at.cell, 10, 12)}px` },
  svg("text", { class: "map-title", x: left, y: 12 }, reading.title),
  ...told, ...keys, ...rows);
  const follow = (labels, every, marked, name) => labels.forEach((text, i) => {
    text.classList.toggle(name, i === marked);
    text.style.visibility = isWritten(i, every, marked) ? "" : "hidden";
  });
  const mark = ({ row, column }) => {
    follow(rows, at.tokens, row, "is-query");
    follow(keys, at.tokens, column, "is-key");
    follow(told, at.positions, column, "is-key");
  };
  return { map, mark, node: el("div", { class: "map-figure" }, drawing, map.node) };
}

const HEADS = ["weight on the token before", "weight on the position before", "weight that moved"];

/** What moved, in numbers: a line a reading. */
function measures({ variants }) {
  const cells = (tag, texts) => texts.map((text, i) => el(i ? tag : "th", i ? {} : { scope: "row" }, text));
  return el("table", { class: "measures" },
    el("thead", {}, el("tr", {}, el("td"), ...HEADS.map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, ...variants.map(({ title, previous, placed, moved }, i) =>
      el("tr", {}, ...cells("td", [title, share(previous), share(placed),
        i ? `${Math.round(100 * moved)} %` : "–"])))));
}

/** The three maps, their crosshair, and the numbers. */
export function sentenceView(state, { room, lab, view }) {
  const { tokens, names, variants } = state;
  const count = tokens.length;
  const measure = ruler(lab, "12px");
  const widest = Math.ceil(Math.max(...tokens.map(measure)));
  const label = clamp(widest + 14, 50, 108);
  const head = clamp(widest + 30, 56, 112);
  const at = mapsLayout(count, label, room - 8);
  const most = Math.max(...variants.flatMap(({ weights }) => weights));
  const colours = ramp(sequential());
  const paint = (map, { weights }) => map.paint(pixels(count * count, (i) => weights[i], 0, most, colours));
  const why = el("p", { class: "why", role: "status", "aria-live": "polite" });
  if (view.count !== count) {
    const row = Math.min(4, count - 1);
    Object.assign(view, { count, cell: { row, column: Math.max(row - 1, 0) } });
  }
  const go = (cell) => {
    view.cell = cell;
    const weight = ({ weights }) => weights[cell.row * count + cell.column].toFixed(2);
    const said = written(fill(`{query} looks at {key} with ${weight(variants[0])} of its weight; ` +
      `${weight(variants[1])} with shuffled positions, ${weight(variants[2])} with all at position 0`,
    { query: names[cell.row], key: names[cell.column] }));
    why.replaceChildren(...said);
    for (const { map, mark } of maps) {
      map.point(cell, why.textContent);
      mark(cell);
    }
  };
  const maps = variants.map((reading, i) => mapOf(reading,
    { state, at, label, measure, head, withRows: i % at.abreast === 0, paint, onCell: go }));
  const node = el("div", { class: "sentence-view" }, el("h4", { class: "finding" }, state.finding), why,
    el("div", { class: "maps scroll" }, ...maps.map((map) => map.node)),
    el("div", { class: `below${room < 760 ? " stacked" : ""}` },
      el("div", {}, el("p", { class: "axes" }, el("b", { class: "query" }, "query"), " ↓ looks at ",
        el("b", { class: "key" }, "key"), " →; the numbers are positions"),
      scaleBar(sequential(), ["0", most.toFixed(2)], "attention weight")), measures(state),
      guess(view, ASK_SENTENCE.question, ASK_SENTENCE.answer)));
  go(view.cell);
  return { node, point() {} };
}
