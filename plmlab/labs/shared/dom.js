// DOM helpers. Text that a user typed or a model generated enters the page as text nodes only.

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

/** Create an HTML element; strings among the children become text nodes. Suppresses JupyterLab's shortcuts on it. */
export function el(tag, attributes = {}, ...children) {
  const node = build(document.createElement(tag), attributes, children);
  if (FOCUSABLE.has(tag) || "tabindex" in attributes) node.dataset.lmSuppressShortcuts = "true";
  return node;
}

/** Create an SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

/** Keyboard navigation in a row of buttons: `next(key, place, count)` is the index of the next one, or null. Returns a
    function that lists the buttons. */
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

/** Redraw the content of a box and restore the focus: to the crosshair if it had the focus, otherwise to the element
    with the same `data-at`; if that is gone or cannot take the focus, to `instead(at)`. */
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

/** Debounce: `fn` is called once the calls have paused for `wait` ms. */
export function settled(fn, wait) {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => fn(...args), wait);
  };
}

/** Throttle: `fn` is called at most once per animation frame. */
export function eachFrame(fn) {
  let requested = 0;
  return () => {
    requested ||= requestAnimationFrame(() => {
      requested = 0;
      fn();
    });
  };
}

/** Call `draw` whenever the width of a node changes, until `signal` aborts. While the pointer is held down inside the
    node, `draw` is postponed so that a drag is not interrupted. */
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

/** A function that measures the width of a text in px, in the font of a node. */
export function ruler(node, font) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = `${font} ${getComputedStyle(node).fontFamily}`;
  return (text) => context.measureText(text).width;
}
