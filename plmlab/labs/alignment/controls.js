// The controls of the Alignment Lab: what is read, how much of it is shown, and the hand.

import { following, presetBar, radioGroup, select, slider, textField } from "../shared/controls.js";
import { el } from "../shared/dom.js";
import { tell } from "../shared/lab.js";
import { stepper } from "../shared/steps.js";
import { share } from "../shared/words.js";

/** What is read, and how many words are shown: the bars, and `show(count)`. */
export function reading(model, lab, signal) {
  const { presets, looking } = model.get("menu");
  const disabled = model.get("alone");
  const input = textField(model, "a text of the world", signal);
  const who = select({ label: "the model that is drawn", lead: "drawn ", options: looking.map((name) => [name, name]), disabled },
    (drawn) => tell(model, { drawn, held: [], shut: [] }));
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

/** The hand: `node`, and `follow({ held, shut, step, partner })` with what it could do at a step. */
export function hand(model, { give, release, reset, spread }) {
  const disabled = model.get("alone");
  const button = (text, title, click) => el("button", { type: "button", class: "preset", title, on: { click } }, text);
  const partner = button("give this step its partner", "all of this step’s look goes to its gold partner", give);
  const free = button("release this step", "the model looks itself again (Delete)", release);
  const all = button("reset", "nothing is held, nothing is shut off", reset);
  const given = slider({ title: "share given", low: 0.1, high: 1, step: 0.1, value: 1, disabled, said: share }, spread);
  const follow = ({ held, shut, step, partner: position }) => {
    const mine = held.find((one) => one.step === step);
    partner.disabled = disabled || position === undefined || shut.includes(position) || (mine?.position === position && mine.share === 1);
    free.disabled = disabled || !mine;
    all.disabled = disabled || !(held.length + shut.length);
    given.show(mine?.share ?? model.get("share"));
  };
  return { node: el("div", { class: "bar quiet hand-bar", role: "group", "aria-label": "take hold" }, partner, free, all, given.node), follow };
}

/** The switch of what the matrix calls its rows. */
export const labelSwitch = (model, signal) => following(model, "labelled", radioGroup({
  label: "rows are labelled by", lead: "rows labelled by",
  options: [["written", "the word written"], ["read", "the word read (off by one)"]],
}, (labelled) => tell(model, { labelled })), signal);
