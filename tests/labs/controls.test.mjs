import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as controls from "../../plmlab/labs/shared/controls.js";
import { shownOf, stepper } from "../../plmlab/labs/shared/steps.js";

/** As much of an element as controls ask for. */
class Part {
  constructor(tag) { Object.assign(this, { tag, attributes: {}, dataset: {}, children: [], handlers: {} }); }
  setAttribute(name, value) {
    this.attributes[name] = String(value);
    if (["value", "max"].includes(name)) this[name] = String(value);
    if (name === "checked") this.checked = true;
  }
  append(...children) { this.children.push(...children); }
  replaceChildren(...children) { this.children = children; }
  addEventListener(name, handler) { this.handlers[name] = handler; }
  fire(name, event = {}) { this.handlers[name](event); }
  click() { this.fire("click"); }
  get words() { return this.textContent ?? this.children.map((one) => one.words ?? one).join(""); }
  all(tag) { return [...(this.tag === tag ? [this] : []), ...this.children.flatMap((one) => one.all?.(tag) ?? [])]; }
}

before(() => { globalThis.document = { createElement: (tag) => new Part(tag) }; });
after(() => { delete globalThis.document; });

/** A model with one trait. */
function modelOf(trait, value) {
  const told = new Set();
  return { get: (name) => (name === trait ? value : undefined), on: (_, handler) => told.add(handler),
    off: (_, handler) => told.delete(handler), set(now) {
      value = now;
      for (const handler of told) handler();
    } };
}

test("radio buttons are a labelled group; the chosen one follows the trait, and each tells its own value", () => {
  const told = [];
  const model = modelOf("wrong", true);
  const life = new AbortController();
  const group = controls.radioGroup({ label: "the way", lead: "split by", kind: "bar", disabled: true,
    options: [[false, "rearrange", { "data-at": "right" }], [true, [new Part("b"), "view"], {}, { class: "chip" }]] },
  (value) => told.push(value));
  const node = controls.following(model, "wrong", group, life.signal);
  const inputs = node.all("input");
  const checked = () => inputs.map((input) => input.checked);
  assert.deepEqual([node.attributes.role, node.attributes["aria-label"], node.attributes.class, node.words],
    ["radiogroup", "the way", "bar", "split byrearrangeview"]);
  assert.equal(new Set(inputs.map((input) => input.attributes.name)).size, 1);
  assert.deepEqual([inputs[0].attributes["data-at"], node.all("label")[1].attributes.class], ["right", "chip"]);
  assert.ok(inputs.every((input) => "disabled" in input.attributes));
  assert.deepEqual(checked(), [false, true]);
  model.set(false);
  assert.deepEqual(checked(), [true, false]);
  inputs[1].fire("change");
  assert.deepEqual(told, [true]);
  life.abort();
  model.set(true);
  assert.deepEqual(checked(), [true, false], "a lab that was taken away follows no more");
  const other = controls.radioGroup({ label: "another", options: [["a", "A"]], value: "a" }, () => {}).node.all("input")[0];
  assert.notEqual(other.attributes.name, inputs[0].attributes.name, "two groups do not share their choice");
  assert.equal(other.checked, true);
});

test("a menu tells the value of what is chosen, of whatever kind, and can offer others", () => {
  const told = [];
  const menu = controls.select({ label: "head", lead: "head ", options: [[-1, "mean"], [0, "0"]], disabled: true },
    (value) => told.push(value));
  assert.deepEqual([menu.node.tag, menu.node.words, menu.input.attributes["aria-label"]], ["label", "head mean0", "head"]);
  assert.ok("disabled" in menu.input.attributes);
  menu.show(0);
  assert.equal(menu.input.selectedIndex, 1);
  menu.input.fire("change");
  menu.offer([[3, "three", { disabled: true }], [null, "all"]]);
  assert.deepEqual(menu.input.all("option").map(({ attributes }) => attributes), [{ value: "3", disabled: "" }, { value: "" }]);
  menu.show(null);
  menu.input.fire("change");
  assert.deepEqual(told, [0, null]);
  menu.show(7);
  assert.equal(menu.input.selectedIndex, -1, "what is not offered is not chosen");
  assert.equal(controls.select({ label: "alone" }, () => {}).node.tag, "select");
});

test("a box says what it is for, and whether it is ticked", () => {
  const told = [];
  const box = controls.checkbox({ title: "trails", kind: "edit", role: "switch", checked: true }, (on) => told.push(on));
  assert.deepEqual([box.node.words, box.node.attributes.class, box.input.attributes.role, box.input.checked],
    ["trails", "edit", "switch", true]);
  box.show(false);
  box.input.fire("change");
  assert.deepEqual(told, [false]);
});

test("a slider tells its number as it is, moved by the reader or by the trait", () => {
  const told = [];
  const read = ({ node }) => [node.words, node.all("input")[0].attributes["aria-valuetext"]];
  const plain = controls.slider({ title: "T", low: -2, high: 2, step: 0.25, value: -0.5 }, (value) => told.push(value));
  assert.deepEqual(read(plain), ["T−0.50", "−0.50"]);
  plain.input.value = "1.25";
  plain.input.fire("input");
  assert.deepEqual([told, ...read(plain)], [[1.25], "T1.25", "1.25"]);
  const steps = controls.slider({ title: "step", low: 1, high: 1, step: 1, said: (at, count) => `${at} of ${count}` }, () => {});
  steps.show(2, 5);
  assert.deepEqual([steps.input.max, steps.input.value, ...read(steps)], [5, 2, "step2 of 5", "2 of 5"]);
  steps.show(3);
  assert.deepEqual(read(steps), ["step3 of 5", "3 of 5"]);
});

test("a slider over a list holds the value that is set, and tells values, not places", () => {
  assert.deepEqual([controls.stopsWith([1, 2, 5, null], 3), controls.stopsWith([4, 8], 8), controls.stopsWith([1, null], null)],
    [[1, 2, 3, 5, null], [4, 8], [1, null]]);
  const told = [];
  const { node, show } = controls.stopSlider({ title: "n" }, (value) => told.push(value));
  const [input] = node.all("input");
  show(1000, [8, 1000, 5000]);
  assert.deepEqual([input.value, input.max, node.words], [1, 2, "n1,000"]);
  input.value = "0";
  input.fire("input");
  assert.deepEqual([told, node.words], [[8], "n8"]);
  show(9000, [8, 1000]);
  assert.deepEqual([input.value, node.words], [1, "n1,000"], "what lies beyond shows as the last");
});

test("presets tell their values and no title; without any there is no bar", () => {
  const sent = [];
  const model = { get: () => false, set: (name, value) => sent.push([name, value]), save_changes: () => sent.push("saved") };
  const bar = controls.presetBar(model, [{ title: "short", text: "a" }], (preset, i) => ({ ...preset, preset: i }));
  assert.deepEqual([bar.words, "hidden" in bar.attributes], ["try this short", false]);
  bar.all("button")[0].click();
  assert.deepEqual(sent, [["text", "a"], ["preset", 0], "saved"]);
  assert.ok("hidden" in controls.presetBar(model, []).attributes);
});

test("steps go back and forward between the first and the last, by buttons and by keys", () => {
  assert.deepEqual([shownOf(null, 5), shownOf(0, 5), shownOf(9, 5), shownOf(3, 5)], [5, 1, 5, 3]);
  const lab = new Part("section");
  const walked = [];
  const steps = stepper({ unit: "word", lab }, (to) => walked.push(to));
  const [back, forward, all] = steps.node.all("button");
  const able = () => [back, forward, all].map(({ disabled }) => !disabled);
  steps.show(null, 3);
  assert.deepEqual([steps.node.words, able()], ["words shown3 of 3◂ backforward ▸all", [true, false, false]]);
  back.click();
  steps.show(2, 3);
  assert.deepEqual(able(), [true, true, true]);
  const press = (key, typing = false) => lab.fire("keydown",
    { key, target: { matches: () => typing }, preventDefault() {}, stopPropagation() {} });
  press("]");
  press("[");
  press("[", true);
  press("x");
  all.click();
  assert.deepEqual(walked, [2, 3, 1, null], "what is typed into a field moves nothing");
  steps.show(1, 1);
  assert.deepEqual(able(), [false, false, false]);
});
