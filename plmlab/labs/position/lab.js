// The Position Lab: the switch between the kinds of positions, their sliders, and redrawing.

import { clocksView, inWords } from "./clocks.js";
import { comparedView } from "./comparison.js";
import { allDots, bulk, unpacked } from "./maths.js";
import { sentenceControls, sentenceView } from "./sentence.js";
import { encodingView, learned, relativeView, sinusoidal } from "./views.js";
import { bytesOf } from "../shared/bytes.js";
import { following, radioGroup, stopSlider, stopsWith, textField } from "../shared/controls.js";
import { eachFrame, el, keepingFocus, resized } from "../shared/dom.js";
import { diverging } from "../shared/heat.js";
import { lab, observe, setter, tell } from "../shared/lab.js";
import { capital } from "../shared/words.js";

const KIND_NAMES = {
  sinusoidal: "sinusoidal", learned: "learned", relative: "relative", sentence: "in a real sentence",
  compared: "side by side",
};
const WIDTHS = [4, 8, 16, 32, 64, 128, 256, 512];
const LENGTHS = [8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512];
const BASES = [10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000];
const NUMBERS = ["width", "length", "base", "window", "position", "back", "dimension", "query", "key"];
const REDRAW = ["kind", "width", "length", "base", "window", "axis", "state", "learned", "table", "comparison", "scores"];

const upTo = (count, first = 0) => Array.from({ length: count - first }, (_, i) => first + i);

/** The byte range of an axis's table in the model's data, with the axis's `title`, `positions` and scales. */
export function tableOf({ axes = [] }, axis) {
  const size = ({ positions, low }) => positions * low.length;
  const from = axes.slice(0, axis).reduce((sum, before) => sum + size(before), 0);
  const { positions = 2, low = [], ...more } = axes[axis] ?? {};
  return { from, to: from + positions * low.length, positions, low, ...more };
}

/** How a model with several position axes uses them, in words. */
export const axesSaid = ({ name, axes }) =>
  `${capital(inWords(axes.length))} axes: ${name} adds one vector from each of its position tables to the embedding.`;

/** The sliders of a kind, [{ trait, title, values, asks }]; a slider with `asks` needs a Python kernel. */
export function dialsOf(get) {
  const { positions, low } = tableOf(get("learned"), get("axis"));
  const of = (trait, title, values) => ({ trait, title, values: stopsWith(values, get(trait)) });
  const length = of("length", "positions n", LENGTHS);
  const position = (count) => ({ trait: "position", title: "position", values: upTo(count) });
  const dimension = (count) => ({ trait: "dimension", title: "dimension", values: upTo(count) });
  return {
    sinusoidal: [of("width", "dimensions d", WIDTHS), length, of("base", "base", BASES), position(get("length")),
      of("back", "positions back", upTo(33, 1)), dimension(get("width"))],
    learned: [{ ...length, values: stopsWith(length.values, positions).filter((v) => v <= positions) },
      position(Math.min(get("length"), positions)), dimension(low.length)],
    relative: [length, of("window", "window k", upTo(33, 1)), { ...position(get("length")), title: "query" }],
    sentence: [],
    compared: [{ trait: "moved", title: "shift (positions)", values: upTo(51), asks: true }],
  }[get("kind")];
}

const nothing = { node: "", point() {} };

/** Views one below the other with a common crosshair. */
const together = (...views) => ({
  node: el("div", {}, ...views.map(({ node }) => node)),
  point: (traits) => views.forEach(({ point }) => point(traits)),
});

function kindSwitch(model, choose, signal) {
  const options = Object.entries(KIND_NAMES).map(([kind, title]) => {
    const disabled = kind === "learned" && !model.get("learned").axes;
    return [kind, title, { disabled }, { title: disabled ? "this model has no learned positions" : null }];
  });
  return following(model, "kind",
    radioGroup({ label: "kind of positions", kind: "bar kinds", options }, (kind) => choose({ kind })), signal);
}

/** The switch between the tables of a model with several position axes; empty for other models. */
function axisSwitch(model, choose, signal) {
  const { axes = [] } = model.get("learned");
  if (axes.length < 2) return el("div");
  return following(model, "axis", radioGroup({ label: "position axis", kind: "bar kinds",
    lead: axesSaid(model.get("learned")), options: axes.map(({ title }, axis) => [axis, title]) },
  (axis) => choose({ axis })), signal);
}

export default lab({
  title: "Where is each word? Positional encoding",
  lead: "Attention alone treats a text as a set of words. Positions encode their order: three encodings, a model " +
    "without its positions, and all encodings side by side.",
}, ({ model, signal, parts }) => {
  parts.node.classList.add("places");
  const views = Object.fromEntries(Object.keys(KIND_NAMES).map((kind) => [kind, { open: false }]));
  Object.assign(views.compared, { revealed: false, after: false });
  const choose = setter(model);
  const dials = el("div", { class: "bar quiet dials" });
  const { shuffle, picks } = sentenceControls(model, signal);
  const sentence = el("div", { class: "bar" }, textField(model, "your sentence", signal), shuffle);
  const axes = axisSwitch(model, choose, signal);
  parts.controls.prepend(kindSwitch(model, choose, signal), axes, sentence, dials, picks);

  const cached = {};
  const table = () => {
    const { name, axes } = model.get("learned");
    const { from, to, title, positions, low, ...more } = tableOf(model.get("learned"), model.get("axis"));
    if (cached.bytes !== model.get("table") || cached.from !== from) {
      const numbers = unpacked(new Uint8Array(bytesOf(model.get("table"))).subarray(from, to), { low, ...more });
      const [all, limit] = [allDots(numbers, positions, low.length), bulk(numbers)];
      Object.assign(cached, { bytes: model.get("table"), from, table: numbers, all, limit });
    }
    return { ...cached, name, axis: axes.length > 1 ? title : "", positions, width: low.length };
  };
  const get = (name) => model.get(name);
  const traits = () => Object.fromEntries(NUMBERS.map((name) => [name, get(name)]));
  const drawings = {
    sinusoidal: (context) => together(clocksView(traits(), context), encodingView(sinusoidal(traits()), context)),
    learned: (context) => encodingView(learned(traits(), table()), context),
    relative: (context) => relativeView(traits(), context),
    sentence: (context) => (get("state").tokens ? sentenceView(get("state"), context) : nothing),
    compared: (context) => (get("comparison").tokens
      ? comparedView(get("comparison"), new Float32Array(bytesOf(get("scores"))), context) : nothing),
  };

  let now = nothing;
  let shown = { kind: null, dials: [] };
  const turn = () => {
    const wanted = dialsOf(get);
    if (shown.kind !== get("kind")) {
      const ask = (traits) => tell(model, traits);
      const made = wanted.map(({ trait, title, asks }) =>
        stopSlider({ title, disabled: asks && get("alone") }, (value) => (asks ? ask : choose)({ [trait]: value })));
      shown = { kind: get("kind"), dials: made };
      dials.replaceChildren(...shown.dials.map(({ node }) => node));
      dials.hidden = !wanted.length;
      sentence.hidden = !["sentence", "compared"].includes(shown.kind);
      axes.hidden = shown.kind !== "learned" || !axes.childElementCount;
      for (const node of [shuffle, picks]) node.hidden = shown.kind !== "sentence";
    }
    wanted.forEach(({ trait, values }, i) => shown.dials[i].show(get(trait), values));
  };
  const draw = () => keepingFocus(parts.body, () => {
    turn();
    const kind = get("kind");
    const [room, stops] = [parts.body.clientWidth, diverging(parts.node)];
    now = drawings[kind]({ room, stops, lab: parts.node, choose, view: views[kind] });
    parts.body.replaceChildren(now.node);
    now.point(traits());
  });
  observe(model, REDRAW, eachFrame(draw), signal);
  observe(model, ["moved"], () => Object.assign(views.compared, { revealed: true, after: true }), signal);
  observe(model, ["position", "back", "dimension", "query", "key", "moved"], eachFrame(() => {
    turn();
    now.point(traits());
  }), signal);
  resized(parts.body, draw, signal);
  draw();
});
