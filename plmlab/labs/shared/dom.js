// Elements, and when to draw them. What a person or a model wrote enters the page as text nodes only.

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

/** Keys lead from button to button of a row: `next(key, place, count)` says where, or null. The buttons, as a function. */
export function walked(node, next, signal) {
  const buttons = () => [...node.querySelectorAll("button:not(:disabled)")];
  node.addEventListener("keydown", (event) => {
    const all = buttons();
    const to = next(event.key, all.indexOf(document.activeElement), all.length);
    if (to === null) return;
    all[to].focus();
    event.preventDefault();
    event.stopPropagation();
  }, { signal });
  return buttons;
}

/** Draw the content of a box anew, and give the focus back: to the crosshair where it was there, else to what has the same
    `data-at`; where that is gone, or can take no focus, to what `instead(at)` finds. */
export function keepingFocus(box, draw, instead = () => null) {
  const held = box.contains(document.activeElement) ? document.activeElement : null;
  const at = held?.dataset.at;
  const walked = held?.matches(".cross");
  draw();
  if (!walked && at === undefined) return;
  const again = box.querySelector(walked ? ".cross" : `[data-at="${CSS.escape(at)}"]:not(:disabled)`);
  (again ?? instead(at))?.focus({ preventScroll: true });
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

/** Call `draw` when the room for a node has another width, until `signal` is aborted. While the pointer is held down in
    the node, `draw` waits: what is dragged stays in hand. */
export function resized(node, draw, signal) {
  let [width, held] = [node.clientWidth, false];
  const follow = eachFrame(() => {
    if (held || node.clientWidth === width) return;
    width = node.clientWidth;
    draw();
  });
  const hold = (now) => () => {
    held = now;
    follow();
  };
  node.addEventListener("pointerdown", hold(true), { capture: true, signal });
  for (const end of ["pointerup", "pointercancel"]) {
    node.ownerDocument.addEventListener(end, hold(false), { capture: true, signal });
  }
  const watch = new ResizeObserver(follow);
  watch.observe(node);
  signal.addEventListener("abort", () => watch.disconnect());
}

/** From a text to its width in px, in the font of a node. */
export function ruler(node, font) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = `${font} ${getComputedStyle(node).fontFamily}`;
  return (text) => context.measureText(text).width;
}
