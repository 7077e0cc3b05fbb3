// The reader's own text on its way to Python: read here, and refused here where it is no text.

import { el } from "../shared/dom.js";
import { number } from "../shared/words.js";

const mega = (bytes) => (bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1 });

/** The text of a file's bytes, { text } or { error } in the reader's words. */
export function readText(bytes, name, limit) {
  if (bytes.byteLength > limit) {
    return { error: `“${name}” has ${mega(bytes.byteLength)} MB; ${mega(limit)} MB are read at most. Cut it, and try ` +
      "again." };
  }
  if (!bytes.byteLength) return { error: `“${name}” is empty: there is nothing to train on.` };
  if (new Uint8Array(bytes).includes(0)) {
    return { error: `“${name}” is not a text: it holds zero bytes, as pictures, archives and programs do.` };
  }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return { error: `“${name}” is not written in UTF-8. Save a copy as UTF-8 in your editor, and try that.` };
  }
}

/** The part of the lab for a text of one's own. `ask(request)` tells Python; `answered()` hears that Python has done
    with it, and `follow(own)` whether its vectors are shown. */
export function ownText({ limit, disabled, ask, signal }) {
  const said = el("p", { class: "note said", role: "status", "aria-live": "polite" });
  const clock = el("span", { class: "note", "aria-hidden": "true" });
  const input = el("input", { type: "file", accept: ".txt,text/plain", "aria-label": "a text file of your own",
    disabled });
  const back = el("button", { type: "button", hidden: true, disabled, on: { click: () => ask({ do: "back" }) } },
    "back to the first vectors");
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
    said.textContent = error ? `${error} What is drawn is from before.` : `Python is training on “${file.name}”: ` +
      `${number([...text].length)} characters. What is drawn is from before …`;
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
    el("p", {}, el("b", {}, "A text of your own. "), "Choose a text file, or drop one here: UTF-8, at most " +
      `${mega(limit)} MB; Chinese is read character by character. ` + "Python trains vectors on it, and the lab shows them."),
    el("div", { class: "bar" }, input, back), el("div", {}, said, clock));
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
    said.textContent = "";
  } };
}
