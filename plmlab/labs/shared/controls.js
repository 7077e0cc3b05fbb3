// The controls of a lab. Each is labelled and returns { node, show(value) }, plus the members that its comment lists.

import { el, settled } from "./dom.js";
import { observe, tell } from "./lab.js";
import { keepLines } from "./lines.js";
import { decimal, number } from "./words.js";

/** The node of a control, kept in sync with a trait. */
export function following(model, trait, { node, show }, signal) {
  const follow = () => show(model.get(trait));
  observe(model, [trait], follow, signal);
  follow();
  return node;
}

let groups = 0;

/** A radio group: Tab reaches the selected button, the arrow keys the others. `options` are [[value, title, more,
    outer]]: a title is text or nodes, `more` are attributes of the button, `outer` those of its label. `lead` precedes
    the buttons; `choose(value)` is called on selection. */
export function radioGroup({ label, options, value, lead = [], kind = "bar quiet", disabled = false }, choose) {
  const name = `plm-radio-${groups++}`;
  const inputs = options.map(([own, , more]) =>
    el("input", { type: "radio", name, value: own, disabled, ...more, on: { change: () => choose(own) } }));
  const show = (now) => inputs.forEach((input, i) => { input.checked = options[i][0] === now; });
  show(value);
  return { show, node: el("div", { class: kind, role: "radiogroup", "aria-label": label }, ...[lead].flat(),
    ...options.map(([, title, , outer], i) => el("label", outer, inputs[i], ...[title].flat()))) };
}

/** A drop-down menu. `options` are [[value, title, attributes]], and `offer(options)` replaces them; with a `lead`, the
    menu is wrapped in a label with that text. `input` is the <select> element. */
export function select({ label, options = [], lead = null, ...attributes }, choose) {
  let values = [];
  const input = el("select", { "aria-label": label, ...attributes,
    on: { change: () => choose(values[input.selectedIndex]) } });
  const offer = (fresh) => {
    values = fresh.map(([value]) => value);
    input.replaceChildren(...fresh.map(([value, title, more]) => el("option", { value: value ?? "", ...more }, title)));
  };
  offer(options);
  return { node: lead === null ? input : el("label", {}, lead, input), input, offer,
    show: (value) => { input.selectedIndex = values.indexOf(value); } };
}

/** A check box with its label. */
export function checkbox({ title, kind = null, ...attributes }, choose) {
  const input = el("input", { type: "checkbox", ...attributes, on: { change: () => choose(input.checked) } });
  return { node: el("label", { class: kind }, input, title), input, show: (value) => { input.checked = value; } };
}

/** A slider that displays its value, formatted by `said(value, high)`. `show(value, high)` sets the value and the upper
    end; `send(value)` is called on every move. */
export function slider({ title, low, high, step, value, disabled, said = null }, send) {
  const digits = (String(step).split(".")[1] ?? "").length;
  const output = el("output");
  const input = el("input", { type: "range", min: low, max: high, step, "aria-label": title, disabled });
  const say = (now) => {
    output.textContent = said ? said(now, Number(input.max)) : decimal(now, digits);
    input.setAttribute("aria-valuetext", output.textContent);
  };
  const show = (now, end = input.max) => {
    input.max = end;
    input.value = now;
    say(now);
  };
  input.addEventListener("input", () => {
    say(Number(input.value));
    send(Number(input.value));
  });
  if (value !== undefined) show(value);
  return { node: el("label", { class: "slider" }, el("span", {}, title), input, output), input, show };
}

/** The values of a slider over a list, with `value` inserted if it is not among them; null, meaning all, comes last. */
export const stopsWith = (values, value) =>
  [...new Set([...values, value])].sort((a, b) => (a ?? Infinity) - (b ?? Infinity));

/** A slider over a list of values, evenly spaced: `show(value, stops)`. A value not among them shows as the last. */
export function stopSlider({ title, disabled, said = number }, send) {
  let stops = [];
  const { node, show } = slider({ title, low: 0, high: 0, step: 1, disabled, said: (place) => said(stops[place]) },
    (place) => send(stops[place]));
  return { node, show(value, values) {
    stops = values;
    const place = stops.indexOf(value);
    show(place < 0 ? stops.length - 1 : place, stops.length - 1);
  } };
}

/** A button per preset, labelled with its title; a click sets the traits that `traits` derives from the preset. */
export function presetButtons(model, presets, traits = (preset) => preset) {
  const buttons = presets.map(({ title, ...preset }, i) => el("button", {
    type: "button", class: "preset", disabled: model.get("alone"),
    on: { click: () => tell(model, traits(preset, i)) },
  }, title));
  return el("span", { class: "presets" }, ...(buttons.length ? ["try this ", ...buttons] : []));
}

/** The same in a bar of their own, hidden if there are no presets. */
export const presetBar = (model, presets, traits) =>
  el("div", { class: "bar quiet", hidden: !presets.length }, presetButtons(model, presets, traits));

/** A text field for the trait `text` or another; the trait is set when the typing pauses. The property `text` of the
    field is its text with line breaks. */
export function textField(model, label, signal, { trait = "text", kind = "sentence", placeholder = null } = {}) {
  const input = keepLines(el("input", {
    type: "text", class: kind, dir: "auto", spellcheck: "false", autocomplete: "off", placeholder,
    "aria-label": label, disabled: model.get("alone"),
  }));
  const send = settled(() => tell(model, { [trait]: input.text }), 120);
  input.text = model.get(trait);
  input.addEventListener("input", send);
  observe(model, [trait], () => {
    if (input !== input.ownerDocument.activeElement) input.text = model.get(trait);
  }, signal);
  return input;
}
