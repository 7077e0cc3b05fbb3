// A real model's attention on the user's sentence: with the original, with shuffled, and with equal positions.

import { tokenMap } from "./token_map.js";
import { select } from "../shared/controls.js";
import { clamp, el, ruler } from "../shared/dom.js";
import { pixels, ramp, scaleBar, sequential } from "../shared/heat.js";
import { fill, guess, observe, tell, written } from "../shared/lab.js";

const GAP_OF_MAPS = 14;
const WIDEST_MAP = 400;
const ASK_SENTENCE = {
  question: "All tokens have position 0. Can the model still distinguish “dog bites man” from “man bites dog”?",
  answer: "No. Without positions the input is a bag of words: in another order every token gets the same vector and " +
    "the same attention weights, only in a different row. With shuffled positions the model processes the sentence " +
    "in the order of those positions: a head that attends to the previous token attends to the token with the " +
    "previous position.",
};

/** The layout of the maps in `room` px: the side of a cell, the number of maps per row, and the spacing of token and
    position labels. */
export function mapsLayout(count, label, room) {
  const third = Math.floor((room - label - 2 * GAP_OF_MAPS) / 3 / count);
  const abreast = third >= 3 && room >= 560 ? 3 : 1;
  const alone = Math.floor(Math.min(room - label, WIDEST_MAP) / count);
  const cell = clamp(abreast === 3 ? third : alone, 3, 30);
  return { cell, abreast, tokens: cell < 10 ? Math.ceil(12 / cell) : 1, positions: Math.ceil(14 / cell) };
}

const headName = ({ layer, head }) => `layer ${layer}, ${head === null ? "mean of heads" : `head ${head}`}`;
const share = (value) => (value === null ? "–" : value.toFixed(2));

/** The shuffle button, and the choice of layer and head with presets. */
export function sentenceControls(model, signal) {
  const disabled = model.get("alone");
  const button = (text, click, more = {}) => el("button", { type: "button", disabled, ...more, on: { click } }, text);
  let wanted = {};
  const pick = (label) => select({ label, disabled }, (value) => {
    wanted = { ...wanted, [label]: value };
    tell(model, wanted);
  });
  const [layers, heads] = [pick("layer"), pick("head")];
  const presets = el("span", { class: "presets" });
  let drawn = "";
  const follow = () => {
    const state = model.get("state");
    if (!state.tokens) return;
    const offered = JSON.stringify([state.layers, state.heads, state.finders]);
    if (offered !== drawn) {
      drawn = offered;
      const numbered = (name, count) =>
        Array.from({ length: count }, (_, i) => [i, `${name} ${i}`]);
      layers.offer(numbered("layer", state.layers));
      heads.offer([...numbered("head", state.heads), [null, "mean of heads"]]);
      presets.replaceChildren("the head that ", ...state.finders.map(({ title, layer, head }) =>
        button(title, () => tell(model, { layer, head }), { class: "preset", title: headName({ layer, head }) })));
    }
    wanted = { layer: state.layer, head: state.head };
    layers.show(state.layer);
    heads.show(state.head);
  };
  observe(model, ["state"], follow, signal);
  follow();
  return {
    shuffle: button("shuffle again", () => tell(model, { shuffles: model.get("shuffles") + 1 })),
    picks: el("div", { class: "bar quiet" }, el("span", { class: "picks" }, layers.node, heads.node), presets),
  };
}

const HEADS = ["weight on the previous token", "weight on the previous position", "weight shifted to other tokens"];

/** The table of measures: one row per variant. */
function measures({ variants }) {
  const cells = (tag, texts) => texts.map((text, i) => el(i ? tag : "th", i ? {} : { scope: "row" }, text));
  return el("table", { class: "measures" },
    el("thead", {}, el("tr", {}, el("td"), ...HEADS.map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, ...variants.map(({ title, previous, placed, moved }, i) =>
      el("tr", {}, ...cells("td", [title, share(previous), share(placed),
        i ? `${Math.round(100 * moved)} %` : "–"])))));
}

/** The three maps with a common crosshair, and the table of measures. */
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
    const parts = written(fill(`{query} attends to {key} with weight ${weight(variants[0])}; ` +
      `${weight(variants[1])} with shuffled positions, ${weight(variants[2])} with all at position 0`,
    { query: names[cell.row], key: names[cell.column] }));
    why.replaceChildren(...parts);
    for (const { map, mark } of maps) {
      map.point(cell, why.textContent);
      mark(cell);
    }
  };
  const maps = variants.map((variant, i) => {
    const figure = tokenMap({ tokens, at, label, measure, head, withRows: i % at.abreast === 0, title: variant.title,
      told: variant.position_ids, onCell: go,
      name: `attention, ${variant.title}: one row per query, one column per key` });
    paint(figure.map, variant);
    return figure;
  });
  const node = el("div", { class: "sentence-view" }, el("h4", { class: "finding" }, state.finding), why,
    el("div", { class: "maps scroll" }, ...maps.map((map) => map.node)),
    el("div", { class: `below${room < 760 ? " stacked" : ""}` },
      el("div", {}, el("p", { class: "axes" }, el("b", { class: "query" }, "query"), " ↓ attends to ",
        el("b", { class: "key" }, "key"), ` →; the numbers are positions${state.axes > 1 ? " on the first axis" : ""}`),
      scaleBar(sequential(), ["0", most.toFixed(2)], "attention weight")), measures(state),
      guess(view, ASK_SENTENCE.question, ASK_SENTENCE.answer)));
  go(view.cell);
  return { node, point() {} };
}
