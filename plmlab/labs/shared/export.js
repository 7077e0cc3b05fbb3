// Export a lab in its current state: as a picture (PNG), rendered here, or as a standalone page (HTML), from Python.

import { el, svg } from "./dom.js";

const PNG_SCALE = 2;
const PNG_LONGEST = 16_000; // px: browsers refuse a canvas with a longer side

/** The text without characters that are invalid in XML: control characters and unpaired surrogates. */
export const writable = (text) => text.replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "");

/** The scale factor for a picture of `width` × `height` px: 2, or less if it would exceed the size of a canvas. */
export const magnified = (width, height) => Math.min(PNG_SCALE, PNG_LONGEST / Math.max(width, height));

/** The labs' own stylesheets, without the duplicates that several labs on one page have. */
function styleOf(node) {
  const sheets = [...node.getRootNode().querySelectorAll("style")].map((sheet) => sheet.textContent);
  return [...new Set(sheets.filter((text) => text.includes(".plm-lab")))].join("\n");
}

/** Font names that also work inside an SVG image, where `system-ui` is not resolved. */
export const drawable = (fonts) => fonts.replace(/\bsystem-ui\b/g, '"Segoe UI"');

/** A self-contained copy of the lab: it includes the state of the inputs and the colours of this page. */
function stillOf(node, style) {
  const copy = node.cloneNode(true);
  const both = (selector, each) => {
    const copies = copy.querySelectorAll(selector);
    node.querySelectorAll(selector).forEach((original, i) => each(original, copies[i]));
  };
  both("input", (original, twin) => {
    twin.setAttribute("value", original.value);
    twin.toggleAttribute("checked", original.checked);
  });
  both("option", (original, twin) => twin.toggleAttribute("selected", original.selected));
  both("canvas", (original, twin) => {
    const image = el("img", { src: original.toDataURL(), class: original.className, style: original.style.cssText });
    const { width, height } = getComputedStyle(original);
    Object.assign(image.style, { width, height });
    twin.replaceWith(image);
  });
  const now = getComputedStyle(node);
  for (const name of new Set(style.match(/--[\w-]+/g))) {
    const value = now.getPropertyValue(name);
    if (value) copy.style.setProperty(name, value);
  }
  Object.assign(copy.style, {
    width: `${node.offsetWidth}px`, maxWidth: "none", margin: "0", fontFamily: drawable(now.fontFamily),
  });
  copy.classList.add("picture");
  return copy;
}

/** Widen the copy until nothing in it scrolls; returns its size in px. */
function unrolled(copy, place) {
  Object.assign(copy.style, { position: "absolute", left: "0", top: "0", visibility: "hidden" });
  place.append(copy);
  const hidden = [...copy.querySelectorAll(".scroll")].map((box) => box.scrollWidth - box.clientWidth);
  const width = copy.offsetWidth + Math.max(0, ...hidden);
  copy.style.width = `${width}px`;
  const height = Math.ceil(copy.getBoundingClientRect().height);
  copy.remove();
  Object.assign(copy.style, { position: "static", visibility: "visible" });
  return { width, height };
}

/** The lab as a PNG at twice the screen resolution: its nodes inside an SVG, drawn on a canvas. */
export async function pngOf(node) {
  const style = styleOf(node);
  const copy = stillOf(node, style);
  const { width, height } = unrolled(copy, node.parentNode);
  const scale = magnified(width, height);
  const page = el("div", {}, el("style", {}, style), copy);
  const drawing = svg("svg", { width: width * scale, height: height * scale, viewBox: `0 0 ${width} ${height}` },
    svg("foreignObject", { width, height }, page));
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(writable(new XMLSerializer().serializeToString(drawing)))}`;
  await image.decode();
  const canvas = el("canvas", { width: Math.round(width * scale), height: Math.round(height * scale) });
  const context = canvas.getContext("2d");
  context.fillStyle = getComputedStyle(node).backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  const png = await new Promise((done) => { canvas.toBlob(done, "image/png"); });
  if (!png) throw new Error("the canvas is empty");
  return png;
}

function download(blob, name) {
  const url = URL.createObjectURL(blob);
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

let pagesRequested = 0;

/** Request the lab's HTML page from Python, in this page's theme; `waiting` is called after two seconds. */
function pageFromPython(model, node, waiting, signal) {
  const id = `page-${Date.now()}-${pagesRequested++}`;
  const dark = node.closest("[data-jp-theme-light]")?.dataset.jpThemeLight === "false";
  return new Promise((done) => {
    const slow = setTimeout(waiting, 2_000);
    const receive = (content) => {
      if (content.page !== id) return;
      clearTimeout(slow);
      model.off("msg:custom", receive);
      done(new Blob([content.html], { type: "text/html" }));
    };
    model.on("msg:custom", receive);
    signal.addEventListener("abort", () => model.off("msg:custom", receive));
    model.send({ page: id, theme: dark ? "dark" : "light" });
  });
}

/** The two export buttons in a lab's frame, and the line for their error messages. `lab()` is the lab's node. */
export function saveButtons(model, lab, signal) {
  const status = el("span", { role: "status" });
  const offer = (kind, what, make, instead) => {
    const press = async () => {
      status.textContent = "";
      try {
        download(await make(), `${model.get("file_name")}.${kind}`);
        status.textContent = "";
      } catch (error) {
        status.textContent = `This browser could not create ${what} (${error.message}). ${instead}`;
      }
    };
    return el("button", { type: "button", title: `save this lab as ${what}`, "aria-label": `save this lab as ${what}`,
      on: { click: press } }, kind.toUpperCase());
  };
  const waiting = () => {
    status.textContent = "The kernel is busy or not running; the page is saved as soon as it responds.";
  };
  const page = () => pageFromPython(model, lab(), waiting, signal);
  return el("div", { class: "export", role: "group", "aria-label": "save this lab" },
    status, offer("png", "a picture", () => pngOf(lab()), "Use Lab.picture() in Python instead."),
    ...(model.get("alone") ? []
      : [offer("html", "a page that needs no notebook", page, "Use Lab.html() in Python instead.")]));
}
