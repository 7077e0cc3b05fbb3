// Upload of the user's own text: the file is read and validated here, and sent to Python.

import { el } from "../shared/dom.js";
import { number } from "../shared/words.js";

const mega = (bytes) => (bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1 });

/** Decode a file: { text }, or { error } with a message for the user. */
export function readText(bytes, name, limit) {
  if (bytes.byteLength > limit) {
    return { error: `“${name}” has ${mega(bytes.byteLength)} MB; the limit is ${mega(limit)} MB. Shorten it, and try ` +
      "again." };
  }
  if (!bytes.byteLength) return { error: `“${name}” is empty: there is nothing to train on.` };
  if (new Uint8Array(bytes).includes(0)) {
    return { error: `“${name}” is not a text file: it contains zero bytes, as images, archives and programs do.` };
  }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return { error: `“${name}” is not encoded in UTF-8. Save a copy as UTF-8 in your editor, and try again.` };
  }
}

/** The part of the lab for the user's own text. `ask(request)` sends a request to Python; call `answered()` when Python
    has responded, and `follow(own)` with whether the vectors of that text are shown. */
export function ownText({ limit, disabled, ask, signal }) {
  const status = el("p", { class: "note said", role: "status", "aria-live": "polite" });
  const clock = el("span", { class: "note", "aria-hidden": "true" });
  const input = el("input", { type: "file", accept: ".txt,text/plain", "aria-label": "your own text file",
    disabled });
  const back = el("button", { type: "button", hidden: true, disabled, on: { click: () => ask({ do: "back" }) } },
    "back to the original vectors");
  let [timer, busy] = [0, false];
  const wait = (since) => {
    clearInterval(timer);
    const tell = () => { clock.textContent = ` ${Math.round((Date.now() - since) / 1000)} s`; };
    timer = since ? setInterval(tell, 1000) : 0;
    clock.textContent = "";
  };
  signal.addEventListener("abort", () => wait(0));
  const take = async (file) => {
    if (!file || disabled || busy) return;
    const content = file.size > limit ? { byteLength: file.size } : await file.arrayBuffer();
    const { text, error } = readText(content, file.name, limit);
    status.textContent = error ? `${error} The previous vectors are still shown.` : "Python is training on " +
      `“${file.name}”: ${number([...text].length)} characters. The previous vectors are still shown …`;
    if (error) return;
    busy = true;
    input.disabled = true;
    wait(Date.now());
    ask({ do: "train", text, name: file.name });
  };
  input.addEventListener("change", () => {
    take(input.files[0]);
    input.value = "";
  });
  const node = el("div", { class: "own-text" },
    el("p", {}, el("b", {}, "Your own text. "), "Choose a text file, or drop one here: UTF-8, at most " +
      `${mega(limit)} MB; Chinese is tokenized by character. Python trains vectors on it, and the lab shows them.`),
    el("div", { class: "bar" }, input, back), el("div", {}, status, clock));
  for (const kind of ["dragover", "drop"]) {
    node.addEventListener(kind, (event) => {
      event.preventDefault();
      event.stopPropagation();
      node.classList.toggle("over", kind === "dragover");
      if (kind === "drop") take(event.dataTransfer.files[0]);
    });
  }
  node.addEventListener("dragleave", () => node.classList.remove("over"));
  return { node, follow(own) {
    const held = document.activeElement === back;
    back.hidden = !own;
    if (held && !own) input.focus();
  }, answered() {
    wait(0);
    busy = false;
    input.disabled = disabled;
    status.textContent = "";
  } };
}
