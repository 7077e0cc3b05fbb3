// The statement, the things to try, and the three knobs.

import { el } from "../shared/dom.js";
import { observe, presetButtons, slider, textField } from "../shared/lab.js";

/** The text of a temperature: 0.25 to 4, in steps of a quarter of an octave. */
export const degrees = (octaves) => String(Number((2 ** octaves).toPrecision(2)));

/** A slider of the temperature, even in its logarithm. */
function temperature(model, send, disabled) {
  const number = el("output", {}, "");
  const input = el("input", { type: "range", min: -2, max: 2, step: 0.25, "aria-label": "temperature", disabled });
  const show = () => {
    number.textContent = degrees(input.value);
    input.setAttribute("aria-valuetext", number.textContent);
  };
  const follow = () => {
    input.value = Math.log2(model.get("temperature"));
    show();
  };
  input.addEventListener("input", () => {
    show();
    send({ temperature: 2 ** Number(input.value) });
  });
  return { node: el("label", { class: "slider" }, el("span", {}, "temperature of p(z|x)"), input, number), follow };
}

export function controls(model, signal, send) {
  const { presets, most } = model.get("menu");
  const disabled = model.get("alone");
  const k = slider({ title: "k, looked up", low: 1, high: most, step: 1, value: model.get("k"), disabled }, (value) => send({ k: value }));
  const heat = temperature(model, send, disabled);
  const nothing = el("input", { type: "checkbox", disabled, on: { change: () => send({ null: nothing.checked }) } });
  const follow = () => {
    const input = k.querySelector("input");
    input.value = model.get("k");
    k.querySelector("output").textContent = model.get("k");
    nothing.checked = model.get("null");
    heat.follow();
  };
  observe(model, ["k", "temperature", "null"], follow, signal);
  follow();
  return [
    el("div", { class: "bar" }, textField(model, "the statement, with [MASK] for each hidden word", signal)),
    el("div", { class: "bar quiet" }, presetButtons(model, presets, (preset) => ({ ...preset, also: "", chosen: "" }))),
    el("div", { class: "bar quiet" }, k, heat.node, el("label", {}, nothing, "null document")),
  ];
}

/** A field for an answer of the reader's own. */
export const ownAnswer = (model, signal) => textField(model, "an answer of your own", signal,
  { trait: "also", kind: "own-answer", placeholder: "another answer y" });
