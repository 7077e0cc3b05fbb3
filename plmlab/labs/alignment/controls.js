// The controls of the Alignment Lab: the text, the number of words shown, and the interventions.

import { following, presetBar, radioGroup, select, slider, textField } from "../shared/controls.js";
import { el } from "../shared/dom.js";
import { tell } from "../shared/lab.js";
import { stepper } from "../shared/steps.js";
import { share } from "../shared/words.js";

/** The text, the model and the number of words shown: the bars, and `show(count)`. */
export function reading(model, lab, signal) {
  const { presets, looking } = model.get("menu");
  const disabled = model.get("alone");
  const input = textField(model, "your text", signal);
  const who = select({ label: "model", lead: "model ", options: looking.map((name) => [name, name]), disabled },
    (drawn) => tell(model, { drawn, moved: [], masked: [] }));
  const tries = presetBar(model, presets, (preset) => {
    input.text = preset.text;
    return preset;
  });
  const walk = stepper({ unit: "word", lab }, (steps) => tell(model, { steps }));
  const bars = [el("div", { class: "bar" }, input, ...(looking.length > 1 ? [who.node] : [])), tries, walk.node];
  return { bars, show(count) {
    walk.show(model.get("steps"), count);
    who.show(model.get("drawn"));
  } };
}

/** The interventions: `node`, and `follow({ moved, masked, step, partner })`, which enables what is possible at a step. */
export function hand(model, { give, release, reset, spread }) {
  const disabled = model.get("alone");
  const button = (text, title, click) => el("button", { type: "button", class: "preset", title, on: { click } }, text);
  const partner = button("attend to the aligned word", "move all attention of this step to the gold-aligned word", give);
  const free = button("release this step", "use the model’s own attention at this step again (Delete)", release);
  const all = button("reset", "remove all interventions", reset);
  const given = slider({ title: "attention moved", low: 0.1, high: 1, step: 0.1, value: 1, disabled, said: share }, spread);
  const follow = ({ moved, masked, step, partner: position }) => {
    const mine = moved.find((one) => one.step === step);
    partner.disabled = disabled || position === undefined || masked.includes(position) || (mine?.position === position && mine.share === 1);
    free.disabled = disabled || !mine;
    all.disabled = disabled || !(moved.length + masked.length);
    given.show(mine?.share ?? model.get("share"));
  };
  return { node: el("div", { class: "bar quiet hand-bar", role: "group", "aria-label": "interventions" }, partner, free, all, given.node), follow };
}

/** The switch between the two row labels of the matrix. */
export const labelSwitch = (model, signal) => following(model, "labelled", radioGroup({
  label: "rows are labelled by", lead: "rows labelled by",
  options: [["written", "the generated word"], ["read", "the input word (off by one)"]],
}, (labelled) => tell(model, { labelled })), signal);
