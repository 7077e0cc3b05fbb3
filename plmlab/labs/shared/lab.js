// The parts common to all labs: the frame, and the communication with Python.

import { el, settled } from "./dom.js";
import { saveButtons } from "./export.js";

const set = (model, traits) => {
  for (const [name, value] of Object.entries(traits)) model.set(name, value);
};

/** Set traits and send them to Python in one message. */
export function tell(model, traits) {
  set(model, traits);
  model.save_changes();
}

/** A function that sets traits immediately in JavaScript and sends them to Python after a short pause (debounced). */
export function setter(model) {
  const save = settled(() => model.save_changes(), 150);
  return (traits) => {
    set(model, traits);
    save();
  };
}

/** Call `handler` when any of the traits changes, until `signal` aborts. */
export function observe(model, names, handler, signal) {
  for (const name of names) {
    model.on(`change:${name}`, handler);
    signal.addEventListener("abort", () => model.off(`change:${name}`, handler));
  }
}

/** The lab's frame: title, lead, export buttons, a live region for the message, and the body, which is greyed out
    after an error. */
function frame(model, root, { title, lead, signal }) {
  const message = el("p", { class: "message", role: "status", "aria-live": "polite" });
  const head = el("header", {}, saveButtons(model, () => node, signal),
    el("h3", {}, title), el("p", { class: "lead" }, lead));
  const controls = el("div", { class: "controls" });
  const body = el("div", { class: "body" });
  const node = el("section", { class: "plm-lab", "aria-label": title }, head, controls, message, body);
  const show = () => {
    message.textContent = model.get("message");
    message.classList.toggle("error", model.get("stale"));
    body.classList.toggle("stale", model.get("stale"));
  };
  observe(model, ["message", "stale"], show, signal);
  show();
  if (model.get("alone") && Object.keys(model.get("state") ?? {}).length) {
    controls.append(el("p", { class: "alone" }, "This is a saved page: open the notebook to change the input."));
  }
  root.replaceChildren(node);
  return { node, controls, body };
}

/** A lab as an anywidget module. Title and lead are texts, or functions of the model that return texts.
    `begin({ model, signal, parts })` fills the frame and draws; `signal` aborts when the lab is removed. */
export const lab = ({ title, lead }, begin) => ({
  render({ model, el: root }) {
    const life = new AbortController();
    const { signal } = life;
    const [named, led] = [title, lead].map((text) => (typeof text === "function" ? text(model) : text));
    begin({ model, signal, parts: frame(model, root, { title: named, lead: led, signal }) });
    return () => life.abort();
  },
});

/** A question to answer before the solution is shown. `view.open` keeps the solution open as long as the question, or
    `key`, stays the same; an answer is text or nodes. */
export function guess(view, question, answer, key = question) {
  const node = el("details", { class: "ask", open: view.open === key },
    el("summary", {}, el("b", {}, "Predict first. "), question, el("span", {}, "Show the answer")),
    el("p", {}, ...[answer].flat()));
  node.addEventListener("toggle", () => { view.open = node.open ? key : null; });
  return node;
}

/** Split a template such as "{key} comes later" into [{ text, role }], with the names of query and key filled in;
    `names` may also have the number of `steps`. */
export function fill(template, names) {
  return template
    .replaceAll("{steps}", names.steps)
    .split(/(\{query\}|\{key\})/)
    .filter((part) => part !== "")
    .map((part) => {
      const role = part === "{query}" ? "query" : part === "{key}" ? "key" : "";
      return role ? { text: names[role], role } : { text: part, role };
    });
}

/** Those parts as nodes; each word keeps its own writing direction. */
export const written = (parts) =>
  parts.map(({ text, role }) => (role ? el("bdi", { class: role }, text) : text));
