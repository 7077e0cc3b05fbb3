// What every lab is made of: its frame, and how it talks to Python.

import { el, settled } from "./dom.js";
import { saveButtons } from "./export.js";

const set = (model, traits) => {
  for (const [name, value] of Object.entries(traits)) model.set(name, value);
};

/** Set traits together, so that Python sees them in one message. */
export function tell(model, traits) {
  set(model, traits);
  model.save_changes();
}

/** A way to set traits here at once, of which Python hears when they have not moved for a moment. */
export function setter(model) {
  const save = settled(() => model.save_changes(), 150);
  return (traits) => {
    set(model, traits);
    save();
  };
}

/** Calls `handler` when any of the traits changes, until `signal` aborts. */
export function observe(model, names, handler, signal) {
  for (const name of names) {
    model.on(`change:${name}`, handler);
    signal.addEventListener("abort", () => model.off(`change:${name}`, handler));
  }
}

/** The lab's frame: title, lead, the buttons that save it, a live region for the message, and the body that goes
    stale with an error. */
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
    controls.append(el("p", { class: "alone" }, "A saved page: open the notebook to change what is read."));
  }
  root.replaceChildren(node);
  return { node, controls, body };
}

/** A lab as anywidget asks for one. `begin({ model, signal, parts })` fills the frame and draws; `signal` aborts when
    the lab is taken away. */
export const lab = ({ title, lead }, begin) => ({
  render({ model, el: root }) {
    const life = new AbortController();
    const { signal } = life;
    begin({ model, signal, parts: frame(model, root, { title, lead, signal }) });
    return () => life.abort();
  },
});

/** A guess to make before the answer is shown. `view.open` keeps what was opened, while the question, or `key`, stays;
    an answer is text, or nodes. */
export function guess(view, question, answer, key = question) {
  const node = el("details", { class: "ask", open: view.open === key },
    el("summary", {}, el("b", {}, "Predict, then look. "), question, el("span", {}, "Show the answer")),
    el("p", {}, ...[answer].flat()));
  node.addEventListener("toggle", () => { view.open = node.open ? key : null; });
  return node;
}

/** The pieces of a template such as "{key} comes later", the two roles told apart: [{ text, role }]; `names` may hold
    the number of `steps` besides. */
export function fill(template, names) {
  return template
    .replaceAll("{steps}", names.steps)
    .split(/(\{query\}|\{key\})/)
    .filter((piece) => piece !== "")
    .map((piece) => {
      const role = piece === "{query}" ? "query" : piece === "{key}" ? "key" : "";
      return role ? { text: names[role], role } : { text: piece, role };
    });
}

/** Those pieces as nodes; each word keeps its own direction of writing. */
export const written = (pieces) =>
  pieces.map(({ text, role }) => (role ? el("bdi", { class: role }, text) : text));
