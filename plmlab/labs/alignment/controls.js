// The controls of the Alignment Lab: what is read, how much of it is shown, and the hand.

import { clamp, el } from "../shared/dom.js";
import { presetButtons, slider, tell, textField } from "../shared/lab.js";

/** How many words are shown; `steps` null is all. */
export const shownOf = (steps, count) => (steps === null ? count : clamp(steps, 1, count));

const button = (title, said, click) => el("button", { type: "button", class: "preset", title: said, on: { click } }, title);

/** A slider that follows a trait; `follow(value, high, said)` moves it. */
function knob(of, send) {
  const node = slider(of, send);
  const [input, number] = [node.querySelector("input"), node.querySelector("output")];
  return { node, follow(value, high = of.high, said = String(value)) {
    input.max = high;
    input.value = value;
    number.textContent = said;
    input.setAttribute("aria-valuetext", said);
  } };
}

/** What is read, and how many words are shown: the bars, and `follow(count)`. */
export function reading(model, signal) {
  const { presets, looking } = model.get("menu");
  const disabled = model.get("alone");
  const input = textField(model, "a text of the world", signal);
  const who = el("select", { "aria-label": "the model that is drawn", disabled }, ...looking.map((name) => el("option", { value: name }, name)));
  who.addEventListener("change", () => tell(model, { drawn: who.value, held: [], shut: [] }));
  const tries = presetButtons(model, presets, (preset) => {
    input.text = preset.text;
    return preset;
  });
  let count = 1;
  const walk = (value) => tell(model, { steps: clamp(value, 1, count) });
  const now = () => shownOf(model.get("steps"), count);
  const steps = knob({ title: "words shown", low: 1, high: 1, step: 1, value: 1 }, walk);
  const back = button("◂ back", "one word back (key [)", () => walk(now() - 1));
  const forward = button("forward ▸", "one word forward (key ])", () => walk(now() + 1));
  const all = button("all", "all words", () => tell(model, { steps: null }));
  const follow = (steps_) => {
    count = steps_;
    const shown = now();
    steps.follow(shown, count, `${shown} of ${count}`);
    back.disabled = shown <= 1;
    forward.disabled = all.disabled = shown >= count;
    who.value = model.get("drawn");
  };
  const bars = [
    el("div", { class: "bar" }, input, ...(looking.length > 1 ? [el("label", {}, "drawn ", who)] : [])),
    ...(presets.length ? [el("div", { class: "bar quiet" }, tries)] : []),
    el("div", { class: "bar quiet knobs" }, steps.node, back, forward, all),
  ];
  return { bars, follow, back, forward };
}

/** The hand: `node`, and `follow({ held, shut, step, partner })` with what it could do at a step. */
export function hand(model, { give, release, reset, spread }) {
  const disabled = model.get("alone");
  const partner = button("give this step its partner", "all of this step’s look goes to its gold partner", give);
  const free = button("release this step", "the model looks itself again (Delete)", release);
  const all = button("reset", "nothing is held, nothing is shut off", reset);
  const share = knob({ title: "share given", low: 0.1, high: 1, step: 0.1, value: 1, disabled }, spread);
  const follow = ({ held, shut, step, partner: slot }) => {
    const mine = held.find((one) => one.step === step);
    partner.disabled = disabled || slot === undefined || shut.includes(slot) || (mine?.slot === slot && mine.share === 1);
    free.disabled = disabled || !mine;
    all.disabled = disabled || !(held.length + shut.length);
    const value = mine?.share ?? model.get("share");
    share.follow(value, 1, `${Math.round(100 * value)} %`);
  };
  return { node: el("div", { class: "bar quiet hand-bar", role: "group", "aria-label": "take hold" }, partner, free, all, share.node), follow };
}

let groups = 0;

/** The switch of what the matrix calls its rows. */
export function labelSwitch(model) {
  const name = `plm-alignment-${groups++}`;
  const inputs = Object.entries({ written: "the word written", read: "the word read (off by one)" }).map(([value, title]) => {
    const input = el("input", { type: "radio", name, value, on: { change: () => tell(model, { labelled: value }) } });
    return { value, input, label: el("label", {}, input, title) };
  });
  const follow = () => inputs.forEach(({ value, input }) => { input.checked = model.get("labelled") === value; });
  const node = el("div", { class: "bar quiet", role: "radiogroup", "aria-label": "rows are labelled by" }, "rows labelled by",
    ...inputs.map(({ label }) => label));
  return { node, follow };
}
