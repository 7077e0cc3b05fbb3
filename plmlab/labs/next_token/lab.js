// The Next-token Lab: the reader types, the distribution changes, and the logit lens shows each layer's prediction.

import { barsOf } from "./bars.js";
import { lensOf } from "./lens.js";
import { distribution, logitsOf, temperatures } from "./maths.js";
import { presetBar, stopSlider, stopsWith, textField } from "../shared/controls.js";
import { eachFrame, el, resized } from "../shared/dom.js";
import { guess, lab, observe, setter, tell } from "../shared/lab.js";
import { chance, choices, entropyOf } from "../shared/softmax.js";
import { plural } from "../shared/words.js";

const TEMPERATURES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.75, 2, 2.5, 3, 4, 5];
const KEEP = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 50, 100, 200, 500, 1000, 5000, 10_000];
const MASS = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.92, 0.95, 0.97, 0.98, 0.99, 0.995, 1];
const SETTINGS = { temperature: 1, top_k: null, top_p: 1 };
const SIDE_BY_SIDE = 760;

/** A slider's value as text. */
export const settingText = (name, value) => (value === null || (name === "top_p" && value === 1) ? "all"
  : value.toLocaleString("en", { maximumFractionDigits: 4 }));

/** The tokens generated since the reader last typed. */
function history(written) {
  const nats = written.reduce((sum, [, p]) => sum - Math.log(p), 0);
  return [el("ol", { class: "written" }, ...written.map(([token, p]) =>
    el("li", {}, el("bdi", { class: "chip" }, token), el("span", {}, chance(p))))),
  el("p", { class: "note" }, written.length
    ? `Generated: ${plural(written.length, "token")} with a total loss of ${nats.toFixed(2)} nats under the ` +
      "model's own distribution."
    : "Press a bar to append its token, or let the model generate.")];
}

export default lab({
  title: "What comes next?",
  lead: "A language model outputs a probability for each possible next token. Type, and watch the distribution change; " +
  "then set temperature, top-k and top-p.",
}, ({ model, signal, parts }) => {
  const disabled = model.get("alone");
  parts.node.classList.add("next-token");
  const view = { open: false, cell: null };
  let drawn = null;
  let wishes = 0;

  const input = textField(model, "your text", signal);
  const request = (wanted) => tell(model, {
    text: input.text, request: { ...wanted, text: input.text, number: `${Date.now()}-${wishes++}` },
  });
  const button = (title, wanted, hint) => el("button", { type: "button", title: hint, disabled,
    on: { click: () => request(wanted) } }, title);
  const writers = [
    button("greedy", { do: "greedy" }, "append the most probable token"),
    button("sample", { do: "sample" }, "sample one token"),
    button("sample 10", { do: "sample", count: 10 }, "sample ten tokens, one after another"),
  ];
  const undo = button("undo", { do: "undo" }, "undo the last addition");
  const { presets } = model.get("menu");
  const tries = presetBar(model, presets.map(([title, text]) => ({ title, text })), (preset) => {
    input.text = preset.text;
    return preset;
  });

  const send = setter(model);
  const knobs = [["temperature", "temperature", () => TEMPERATURES],
    ["top_k", "top-k", () => [...KEEP.filter((k) => k < drawn.count), null]], ["top_p", "top-p", () => MASS]]
    .map(([name, title, values]) => {
      const { node, show } = stopSlider({ title, said: (value) => settingText(name, value) },
        (value) => send({ [name]: value }));
      return { node, follow: () => show(model.get(name), stopsWith(values(), model.get(name))) };
    });
  const reset = el("button", { type: "button", class: "preset", on: { click: () => send(SETTINGS) } },
    "the model's own");
  parts.controls.prepend(
    el("div", { class: "bar" }, input, ...writers, undo),
    tries,
    el("div", { class: "bar quiet knobs" }, ...knobs.map(({ node }) => node), reset));

  const settings = () =>
    ({ temperature: model.get("temperature"), topK: model.get("top_k"), topP: model.get("top_p") });
  const weigh = () => {
    if (!drawn) return;
    for (const { follow } of knobs) follow();
    reset.disabled = Object.entries(SETTINGS).every(([name, value]) => model.get(name) === value);
    drawn.bars.paint(settings());
  };
  const question = (logits) => {
    const own = choices(entropyOf(distribution(logits).chances));
    return guess(view, `At temperature 1 the perplexity of this step is ${own}. What is it at temperature 2, and at ½? ` +
      "And will another token become the most probable?", temperatures(logits), true);
  };

  const draw = () => {
    const state = model.get("state");
    if (!state.rows) return;
    const focused = document.activeElement?.closest?.(".choice")?.dataset.at;
    const lensFocused = drawn?.lens.held();
    const logits = logitsOf(state.logits);
    const same = drawn?.state === state;
    const room = parts.body.clientWidth;
    const bars = barsOf({ state, disabled, onTake: (token) => request({ do: "take", token }) });
    const last = { row: state.lens.layers.length - 1, column: state.lens.tokens.length - 1 };
    const start = same ? drawn.lens.at() : { ...last, row: drawn?.lens.at().row ?? last.row };
    const lens = lensOf({ lens: state.lens, room, start });
    const inside = parts.node.contains(document.activeElement);
    drawn = { state, bars, lens, count: logits.length };
    for (const writer of writers) writer.disabled = disabled || state.ended;
    undo.disabled = disabled || !state.undo;
    parts.body.replaceChildren(
      el("div", { class: room >= SIDE_BY_SIDE ? "step" : "step stacked" }, bars.node,
        el("div", { class: "facts" }, bars.said, bars.numbers, ...history(state.written), question(logits))),
      lens.node);
    weigh();
    lens.toEnd();
    if (lensFocused) lens.focus();
    else if (inside && focused !== undefined) bars.focus(Number(focused));
  };
  observe(model, ["state"], draw, signal);
  observe(model, Object.keys(SETTINGS), eachFrame(weigh), signal);
  resized(parts.body, draw, signal);
  draw();
});
