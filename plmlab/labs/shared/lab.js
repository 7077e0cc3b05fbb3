// Shared by all labs. What a person or a model wrote enters the page as text nodes only.

const SVG = "http://www.w3.org/2000/svg";
const FOCUSABLE = new Set(["button", "input", "select", "summary", "textarea"]);

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** An HTML element; strings among the children become text. JupyterLab leaves its keys alone. */
export function el(tag, attributes = {}, ...children) {
  const node = build(document.createElement(tag), attributes, children);
  if (FOCUSABLE.has(tag) || "tabindex" in attributes) node.dataset.lmSuppressShortcuts = "true";
  return node;
}

/** An SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/** `fn`, called once the calls have paused for `wait` ms. */
export function settled(fn, wait) {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => fn(...args), wait);
  };
}

/** `fn`, called at most once a frame. */
export function eachFrame(fn) {
  let asked = 0;
  return () => {
    asked ||= requestAnimationFrame(() => {
      asked = 0;
      fn();
    });
  };
}

/** Call `draw` when the room for a node has another width, until `signal` is aborted. */
export function resized(node, draw, signal) {
  let width = node.clientWidth;
  const watch = new ResizeObserver(eachFrame(() => {
    if (node.clientWidth === width) return;
    width = node.clientWidth;
    draw();
  }));
  watch.observe(node);
  signal.addEventListener("abort", () => watch.disconnect());
}

/** Set traits together, so that Python sees them in one message. */
export function tell(model, traits) {
  for (const [name, value] of Object.entries(traits)) model.set(name, value);
  model.save_changes();
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
export function frame(model, root, { title, lead, signal }) {
  const message = el("p", { class: "message", role: "status", "aria-live": "polite" });
  const head = el("header", {}, saveButtons(model, () => node, LAB_NAME, signal),
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
  if (model.get("alone")) {
    controls.append(el("p", { class: "alone" }, "A saved page: open the notebook to change the sentence."));
  }
  root.replaceChildren(node);
  return { node, controls, body };
}

/** The reader's sentence; Python hears of it when the typing pauses. */
export function textField(model, label, signal) {
  const input = el("input", {
    type: "text", class: "sentence", dir: "auto", spellcheck: "false", autocomplete: "off",
    "aria-label": label, disabled: model.get("alone"),
  });
  const send = settled(() => tell(model, { text: input.value }), 120);
  input.value = model.get("text");
  input.addEventListener("input", send);
  observe(model, ["text"], () => {
    if (input !== input.ownerDocument.activeElement) input.value = model.get("text");
  }, signal);
  return input;
}

/** A slider that shows its number; `send(value)` on every move. */
export function slider({ title, low, high, step, value, disabled }, send) {
  const digits = (String(step).split(".")[1] ?? "").length;
  const number = el("output", {}, Number(value).toFixed(digits));
  const input = el("input", { type: "range", min: low, max: high, step, "aria-label": title, disabled });
  input.value = value;
  input.addEventListener("input", () => {
    number.textContent = Number(input.value).toFixed(digits);
    send(Number(input.value));
  });
  return el("label", { class: "slider" }, title, input, number);
}

/** The pieces of a template such as "{key} comes later", the two roles told apart: [{ text, role }]. */
export function fill(template, names) {
  return template
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

/** Bytes as Jupyter hands them over, or as a page of its own holds them, in base64. */
export function bytesOf(sent) {
  if (typeof sent === "string") return Uint8Array.from(atob(sent), (letter) => letter.charCodeAt(0)).buffer;
  return sent.buffer.slice(sent.byteOffset, sent.byteOffset + sent.byteLength);
}
