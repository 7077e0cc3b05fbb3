// The controls of the picture: its axes, the presets, and the legend that shows and hides groups.

import { markOf } from "./marks.js";
import { wordBox } from "./words.js";
import { select } from "../shared/controls.js";
import { el } from "../shared/dom.js";

const ENDS = ["horizontal, from", "horizontal, to", "vertical, from", "vertical, to"];

/** Two initial axes, as words: those of the analogy, or from the selected word to its nearest neighbours. */
export function firstAxes(analogy, word, near) {
  if (analogy.length) return [[analogy[0], analogy[1]], [analogy[0], analogy[2]]];
  return [[word, near[0]], [word, near[1] ?? near[0]]];
}

/** The choice of axes: `choose(pairs)`, an empty list for principal axes; `suggest()` gives initial pairs, and
    `analogy()` the words of the analogy. */
export function axesControl({ space, list, axes, suggest, analogy, choose, complain }) {
  const kind = select({ label: "axes of the picture", lead: "axes",
    options: [[false, "principal axes"], [true, "axes from word to word"]] }, (own) => choose(own ? suggest() : []));
  const boxes = ENDS.map((label, i) => wordBox({ label, list, space, complain, kind: "word end", choose: (row) => {
    const pairs = axes().map((pair) => [...pair]);
    if (!pairs.length) return;
    pairs[i >> 1][i % 2] = space().words[row];
    if (pairs[i >> 1][0] === pairs[i >> 1][1]) complain("An axis needs two different words.");
    else choose(pairs);
  } }));
  const [a, b, c, d] = boxes.map(({ node }) => node);
  const ends = el("span", { class: "ends" }, el("span", {}, "horizontal"), a, "→", b,
    el("span", { class: "second" }, "vertical"), c, "→", d);
  const own = el("button", { type: "button", class: "preset", title: "horizontal from a to b, vertical from a to c",
    on: { click: () => choose(firstAxes(analogy())) } }, "axes of the analogy");
  const follow = () => {
    kind.show(axes().length > 0);
    ends.hidden = !axes().length;
    axes().flat().forEach((word, i) => boxes[i].show(word));
    const [from, to, third] = analogy();
    own.hidden = !from || from === to || from === third;
  };
  return { node: el("div", { class: "bar quiet axes" }, kind.node, ends, own), follow };
}

/** A button per preset, which sets the preset's traits. They also work on an exported page. */
export function tries(presets, choose) {
  const buttons = presets.map(({ title, ...preset }) =>
    el("button", { type: "button", class: "preset", on: { click: () => choose(preset) } }, title));
  return el("div", { class: "bar quiet" }, el("span", { class: "presets" }, "try this ", ...buttons));
}

/** The legend; a click shows or hides a group. Words without a group have the name "". */
export function legend(groups, hidden, choose) {
  if (!groups.length) return el("div");
  const all = [...groups.map(({ name }, i) => [name, i]), ["", -1]];
  const buttons = all.map(([name, group]) => {
    const shown = !hidden.includes(name);
    return el("button", { type: "button", "aria-pressed": String(shown), "data-at": `group-${group}`,
      title: shown ? "hide these" : "show these",
      on: { click: () => choose(shown ? [...hidden, name] : hidden.filter((other) => other !== name)) } },
    markOf(group), el("bdi", {}, name || "other words"));
  });
  return el("div", { class: "legend-of", role: "group", "aria-label": "visible groups" }, ...buttons);
}
