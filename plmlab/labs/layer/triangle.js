// The triangle of mixing weights: each point has a weight for each layer; mouse and keyboard move the point.

import { kept } from "./maths.js";
import { mixSaid, pointSaid } from "./messages.js";
import { clamp, el, svg } from "../shared/dom.js";
import { ramp, scaleBar, sequential } from "../shared/heat.js";
import { share } from "../shared/words.js";

const SIDE = 272;
const [LEFT, TOP] = [44, 30];
const HEIGHT = (SIDE * Math.sqrt(3)) / 2;
const [WIDTH, TALL] = [SIDE + 2 * LEFT, HEIGHT + TOP + 34];
const CORNERS = [[LEFT, TOP + HEIGHT], [LEFT + SIDE, TOP + HEIGHT], [LEFT + SIDE / 2, TOP]];
const STEP = 0.05;
const KEYS = { ArrowLeft: [STEP, -STEP, 0], ArrowRight: [-STEP, STEP, 0], ArrowUp: [-STEP / 2, -STEP / 2, STEP],
  ArrowDown: [STEP / 2, STEP / 2, -STEP] };
const NEAR = 9;
const NAMES = ["layer 0", "layer 1", "layer 2"];

/** Coordinates of a mix, in px of the full-size triangle. */
export const placeOf = (shares) => [0, 1].map((axis) =>
  shares.reduce((sum, share, layer) => sum + share * CORNERS[layer][axis], 0));

/** The mix at a point; points outside the triangle are projected onto its edge. */
export function sharesAt(x, y) {
  const third = (CORNERS[0][1] - y) / HEIGHT;
  const second = (x - CORNERS[0][0]) / SIDE - third / 2;
  return kept([1 - second - third, second, third]);
}

/** The mix after an arrow key, rounded so that steps add up; null for other keys. */
export function moved(shares, key) {
  const by = KEYS[key];
  return by ? kept(shares.map((share, layer) => Math.round((share + by[layer]) * 1e6) / 1e6)) : null;
}

const near = ([x, y], [px, py]) => Math.hypot(x - px, y - py) <= NEAR;

/** The triangle. `points` are mixes with their scores, `tasks` the weights learned by tasks. `onMix(shares)` is called
    when the point moves, `say(text)` for what is under the pointer ("" for nothing). `to(shares)` moves the point,
    `paint(score)` colours the dots. */
export function triangleOf({ points, tasks, onMix, say }) {
  const colours = ramp(sequential());
  const dots = points.map(({ shares }) => {
    const [cx, cy] = placeOf(shares);
    return svg("circle", { class: "dot", cx, cy, r: 6.5 });
  });
  const marks = tasks.map(({ name, shares }, i) => {
    const [x, y] = placeOf(shares);
    return svg("g", { class: "task" }, svg("path", { d: `M${x - 6} ${y}H${x + 6}M${x} ${y - 6}V${y + 6}` }),
      svg("circle", { cx: x, cy: y, r: 9 }), svg("text", { x: x + 13, y: y + 4 + (i % 2 ? 9 : -5) }, name));
  });
  const names = CORNERS.map(([x, y], layer) => svg("text", { class: "corner", x, y: y + (layer === 2 ? -15 : 26),
    "text-anchor": "middle" }, NAMES[layer]));
  const [a, b, c] = CORNERS;
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${TALL}`, "aria-hidden": "true" },
    svg("path", { class: "edge", d: `M${a[0]} ${a[1]}L${b[0]} ${b[1]}L${c[0]} ${c[1]}Z` }),
    ...names, ...dots, ...marks);
  const handle = el("div", { class: "handle", tabindex: "0", role: "slider", "aria-label": "layer weights",
    "aria-valuemin": 0, "aria-valuemax": 100 });
  const node = el("div", { class: "triangle", style: `width:${WIDTH}px;aspect-ratio:${WIDTH}/${TALL}` }, drawing, handle);
  let [now, score, held] = [[1, 0, 0], "sense", false];

  const at = (event) => {
    const box = drawing.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top].map((along) => (along * WIDTH) / box.width);
  };
  const drag = (event) => {
    const place = at(event);
    const task = tasks.find(({ shares }) => near(placeOf(shares), place));
    onMix(task ? task.shares : sharesAt(...place));
  };
  node.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    held = true;
    node.setPointerCapture(event.pointerId);
    handle.focus({ preventScroll: true });
    drag(event);
    event.preventDefault();
  });
  node.addEventListener("pointermove", (event) => {
    if (held) return drag(event);
    const place = at(event);
    const task = tasks.find(({ shares }) => near(placeOf(shares), place));
    const point = points.find(({ shares }) => near(placeOf(shares), place));
    return say(task ? `${task.name} learned the weights ${mixSaid(task.shares)}.` : point ? pointSaid(point, score) : "");
  });
  for (const name of ["pointerup", "pointercancel"]) node.addEventListener(name, () => { held = false; });
  node.addEventListener("pointerleave", () => { if (!held) say(""); });
  handle.addEventListener("keydown", (event) => {
    const next = moved(now, event.key);
    if (!next) return;
    onMix(next);
    event.preventDefault();
    event.stopPropagation();
  });

  const to = (shares) => {
    now = shares;
    const [x, y] = placeOf(shares);
    handle.style.left = `${(100 * x) / WIDTH}%`;
    handle.style.top = `${(100 * y) / TALL}%`;
    handle.setAttribute("aria-valuenow", Math.round(100 * shares[0]));
    handle.setAttribute("aria-valuetext", NAMES.map((layer, i) => `${layer} ${share(shares[i])}`).join(", "));
  };
  const paint = (name) => {
    score = name;
    points.forEach((point, i) => {
      const from = 4 * clamp(Math.round(255 * point[name]), 0, 255);
      dots[i].style.fill = `rgb(${colours[from]}, ${colours[from + 1]}, ${colours[from + 2]})`;
    });
  };
  return { node, to, paint };
}

export const scale = () =>
  scaleBar(sequential(), ["0", "½", "1"], "each dot: the chosen accuracy with the weights at that point");
