// The interactive picture: drag and zoom, hover and select, by mouse and by keyboard.

import { fitted, lens, painter } from "./cloud.js";
import { palette } from "./marks.js";
import { gridOf, toward } from "./picking.js";
import { clamp, eachFrame, el } from "../shared/dom.js";

const REACH = 16;
const CLOSER = 1.4;
const MOST = 60;
const EDGE = 40;

/**
 * The figure. `scene` is the input of `painter`, modified in place by the caller, who then calls `redraw`, or `moved`
 * if points have moved. `onPoint(row)` is called with the word under the pointer or the arrow keys, −1 for none;
 * `onChoose(row)` on a click or Enter.
 */
export function figureOf({ scene, width, height, onPoint, onChoose, over = [] }) {
  const fine = Math.max(1, globalThis.devicePixelRatio ?? 1);
  const canvas = el("canvas", { width: Math.round(width * fine), height: Math.round(height * fine),
    "aria-hidden": "true", style: `width:${width}px;height:${height}px` });
  const cross = el("div", { class: "cross", role: "button", tabindex: "0",
    "aria-roledescription": "word in the picture" });
  const colours = palette();
  const node = el("div", { class: "cloud", role: "group", style: `width:${width}px;height:${height}px`,
    "aria-label": "the picture of the words: arrow keys go to the next word, Enter selects it, plus and minus zoom" },
  canvas, colours.node, ...over, cross);
  Object.assign(scene, { width, height, zoom: 1, view: { x: 0, y: 0, scale: 1 } });
  let [whole, paint, grid, gridFor] = [scene.view, null, null, null];

  const draw = () => {
    if (!canvas.isConnected) return;
    paint ??= painter(canvas).paint;
    scene.colours = colours.read();
    paint(scene);
    const { x, y } = walked();
    cross.style.left = `${clamp(x, 8, width - 8) - 11}px`;
    cross.style.top = `${clamp(y, 8, height - 8) - 11}px`;
  };
  const redraw = eachFrame(draw);
  const moved = () => {
    gridFor = null;
    redraw();
  };
  const look = (view) => {
    scene.view = { ...view, scale: clamp(view.scale, whole.scale / 2, whole.scale * MOST) };
    scene.zoom = Math.max(1, scene.view.scale / whole.scale);
    redraw();
  };
  const fit = (lists) => {
    whole = fitted(lists, width, height);
    look(whole);
  };
  /** The location of the word that the keyboard is on. */
  const walked = () => {
    const at = lens(scene.view, width, height);
    const row = scene.pointed >= 0 ? scene.pointed : scene.chosen;
    return { row, x: at.x(scene.xy[2 * row]), y: at.y(scene.xy[2 * row + 1]) };
  };
  /** Zoom around (px, py), or by default around the word that the keyboard is on if it is visible. */
  const zoom = (by, px, py) => {
    const at = lens(scene.view, width, height);
    if (px === undefined) {
      const { x, y } = walked();
      [px, py] = x > 0 && y > 0 && x < width && y < height ? [x, y] : [width / 2, height / 2];
    }
    const [x, y] = [at.backX(px), at.backY(py)];
    const scale = clamp(scene.view.scale * by, whole.scale / 2, whole.scale * MOST);
    look({ scale, x: x - (px - width / 2) / scale, y: y + (py - height / 2) / scale });
  };
  const pan = (dx, dy) => {
    const { x, y, scale } = scene.view;
    look({ x: x - dx / scale, y: y + dy / scale, scale });
  };
  /** Pan until a word is visible. */
  const reveal = (row) => {
    const at = lens(scene.view, width, height);
    const [x, y] = [at.x(scene.xy[2 * row]), at.y(scene.xy[2 * row + 1])];
    const [dx, dy] = [clamp(x, EDGE, width - EDGE) - x, clamp(y, EDGE, height - EDGE) - y];
    if (dx || dy) pan(dx, dy);
  };
  const under = (event) => {
    const box = canvas.getBoundingClientRect();
    const at = lens(scene.view, width, height);
    if (gridFor !== scene.xy) [grid, gridFor] = [gridOf(scene.xy, (row) => scene.seen(row)), scene.xy];
    const [x, y] = [at.backX(event.clientX - box.left), at.backY(event.clientY - box.top)];
    return grid.nearest(x, y, REACH / scene.view.scale);
  };

  let [held, dragged] = [null, false];
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    [held, dragged] = [[event.clientX, event.clientY], false];
    canvas.setPointerCapture?.(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!held) {
      onPoint(under(event));
      return;
    }
    const [dx, dy] = [event.clientX - held[0], event.clientY - held[1]];
    if (!dragged && Math.hypot(dx, dy) < 4) return;
    dragged = true;
    held = [event.clientX, event.clientY];
    node.classList.add("dragging");
    pan(dx, dy);
  });
  const letGo = () => {
    held = null;
    node.classList.remove("dragging");
  };
  canvas.addEventListener("pointerup", letGo);
  canvas.addEventListener("pointercancel", letGo);
  canvas.addEventListener("pointerleave", () => { if (!held) onPoint(-1); });
  canvas.addEventListener("click", (event) => {
    cross.focus({ preventScroll: true });
    const row = dragged ? -1 : under(event);
    if (row >= 0) onChoose(row);
  });
  node.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoom(Math.exp(-clamp(event.deltaY, -120, 120) / 240), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });

  const keys = {
    "+": () => zoom(CLOSER), "=": () => zoom(CLOSER), "-": () => zoom(1 / CLOSER), 0: () => look(whole),
    Enter: () => onChoose(walked().row), " ": () => onChoose(walked().row),
    Escape: () => onPoint(-1),
  };
  const pans = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  cross.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const way = pans[event.key];
    if (way && event.shiftKey) pan(...way);
    else if (way) {
      const row = toward(scene.xy, walked().row, event.key, scene.seen);
      onPoint(row);
      reveal(row);
    } else if (keys[event.key]) keys[event.key]();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  cross.addEventListener("blur", () => onPoint(-1));
  return { node, redraw, draw, moved, fit, zoom, reveal, whole: () => look(whole),
    say: (text) => cross.setAttribute("aria-label", text), focus: () => cross.focus({ preventScroll: true }) };
}
