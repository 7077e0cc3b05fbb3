// The marks of groups, each with a colour and a shape (Okabe and Ito 2008), and the colours of the page's theme.

import { el, svg } from "../shared/dom.js";

const turned = (points, by) => points.map(([x, y]) => [x * Math.cos(by) - y * Math.sin(by),
  x * Math.sin(by) + y * Math.cos(by)]);
const ring = (radii) => radii.map((r, i) => {
  const angle = (2 * Math.PI * i) / radii.length - Math.PI / 2;
  return [r * Math.cos(angle), r * Math.sin(angle)];
});
const PLUS = [[-0.4, -1.1], [0.4, -1.1], [0.4, -0.4], [1.1, -0.4], [1.1, 0.4], [0.4, 0.4], [0.4, 1.1], [-0.4, 1.1],
  [-0.4, 0.4], [-1.1, 0.4], [-1.1, -0.4], [-0.4, -0.4]];

/** A colour and a polygon around 0, about as large as a circle of radius 1. */
export const MARKS = [
  { colour: "#0072b2", form: ring([1.3, 1.3, 1.3]) },
  { colour: "#d55e00", form: [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]] },
  { colour: "#009e73", form: ring([1.3, 1.3, 1.3, 1.3]) },
  { colour: "#cc79a7", form: turned(ring([1.3, 1.3, 1.3]), Math.PI) },
  { colour: "#e69f00", form: PLUS },
  { colour: "#56b4e9", form: ring([1.5, 0.65, 1.5, 0.65, 1.5, 0.65, 1.5, 0.65, 1.5, 0.65]) },
  { colour: "#b8a800", form: turned(PLUS, Math.PI / 4) },
];

/** Trace a polygon on a canvas. */
export function trace(context, form, x, y, size) {
  context.moveTo(x + form[0][0] * size, y + form[0][1] * size);
  for (let i = 1; i < form.length; i++) context.lineTo(x + form[i][0] * size, y + form[i][1] * size);
  context.closePath();
}

/** A mark in a legend; without a group, a dot. */
export function markOf(group) {
  const mark = MARKS[group];
  const form = mark ? svg("polygon", { points: mark.form.map(([x, y]) => `${4.6 * x},${4.6 * y}`).join(" "),
    fill: mark.colour }) : svg("circle", { r: 3, class: "unmarked" });
  return svg("svg", { class: "mark", width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" }, form);
}

const ROLES = ["paper", "query", "key-text", "target-text"];
const [DARK_INK, LIGHT_INK] = [[31, 35, 40], [255, 255, 255]];

/** [red, green, blue] of a computed colour. */
const parsed = (colour) => colour.match(/[\d.]+/g).slice(0, 3)
  .map((x) => Number(x) * (colour.startsWith("color(") ? 255 : 1));

/** Neutral colours for a background [red, green, blue]: a readable ink, and mixtures of both. */
export function neutrals(paper) {
  const bright = 0.2126 * paper[0] + 0.7152 * paper[1] + 0.0722 * paper[2] > 128;
  const ink = bright ? DARK_INK : LIGHT_INK;
  const mixed = (share) => `rgb(${paper.map((x, i) => Math.round(x + share * (ink[i] - x))).join(", ")})`;
  return { ink: mixed(1), soft: mixed(0.72), line: mixed(0.16), paper: mixed(0) };
}

/** The colours of the theme for a canvas; `node` must stay in the page, and `read()` returns the current colours. */
export function palette() {
  const probes = ROLES.map((role) => el("i", { style: `color:var(--${role})` }));
  const read = () => {
    const [paper, ...roles] = probes.map((probe) => getComputedStyle(probe).color);
    return { ...neutrals(parsed(paper)), ...Object.fromEntries(roles.map((colour, i) => [ROLES[i + 1], colour])) };
  };
  return { node: el("span", { class: "probes", hidden: true, "aria-hidden": "true" }, ...probes), read };
}
