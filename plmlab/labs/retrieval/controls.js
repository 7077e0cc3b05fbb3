// The query field, the presets, and the controls: k, the temperature, and the null document.

import { wordsOf } from "./wording.js";
import { checkbox, following, presetBar, slider, textField } from "../shared/controls.js";
import { el } from "../shared/dom.js";

/** The temperature 2 ** `octaves` as text: 0.25 to 4, in steps of a quarter of an octave. */
export const degrees = (octaves) => String(Number((2 ** octaves).toPrecision(2)));

export function controls(model, signal, send) {
  const { presets, most } = model.get("menu");
  const words = wordsOf(model.get("state"));
  const disabled = model.get("alone");
  const k = slider({ title: `k ${words.many}`, low: 1, high: most, step: 1, disabled }, (value) => send({ k: value }));
  const heat = slider({ title: "temperature of p(z|x)", low: -2, high: 2, step: 0.25, disabled, said: degrees },
    (octaves) => send({ temperature: 2 ** octaves }));
  const nothing = checkbox({ title: words.toggle, disabled }, (on) => send({ null: on }));
  return [
    el("div", { class: "bar" }, textField(model, words.field, signal)),
    presetBar(model, presets, (preset) => ({ ...preset, also: "" })),
    el("div", { class: "bar quiet" }, following(model, "k", k, signal),
      following(model, "temperature", { node: heat.node, show: (value) => heat.show(Math.log2(value)) }, signal),
      words.toggle ? following(model, "null", nothing, signal) : ""),
  ];
}

/** A field for an answer that the user types. */
export const ownAnswer = (model, signal) => textField(model, "an answer of your own", signal,
  { trait: "also", kind: "own-answer", placeholder: "another answer y" });
