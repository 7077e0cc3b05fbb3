// What becomes of the model's output when heads are off or cells closed.

import { el } from "../shared/dom.js";

const TALLEST = 46;
const LEAST = 0.001;

/** The bars' heights in px, the largest as tall as there is room, where it is worth a bar at all. */
export function heights(values) {
  const most = Math.max(...values, LEAST);
  return values.map((value) => (TALLEST * Math.max(value, 0)) / most);
}

/** A change in as many digits as tell it. */
export function told(value) {
  if (value < 0.00005) return "0";
  return value.toFixed(value >= 0.0995 ? 2 : value >= 0.00095 ? 3 : 4);
}

function underTokens({ tokens, positions }) {
  const tall = heights(positions);
  const most = Math.max(...positions);
  return el("ol", { class: "moved" }, ...tokens.map((token, i) => el("li", { class: positions[i] === most ? "most" : "" },
    el("bdi", { class: "chip" }, token), el("i", { style: `height:${tall[i].toFixed(1)}px`, "aria-hidden": "true" }),
    el("span", {}, told(positions[i])))));
}

function nextTokens({ next }) {
  const most = Math.max(...next.flatMap(({ before, after }) => [before, after]));
  const bar = (value, role) => el("td", { class: `share ${role}` },
    el("i", { style: `width:${((90 * value) / most).toFixed(1)}px` }), value.toFixed(3));
  return el("table", { class: "next-tokens" },
    el("thead", {}, el("tr", {}, ...["comes next", "before", "now"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, ...next.map(({ token, before, after }) => el("tr", {},
      el("th", { scope: "row" }, el("bdi", {}, token)), bar(before, "was"), bar(after, "is")))));
}

/** "2 heads are off, 1 cell is closed". */
export function takenAway(off, closed) {
  const some = (count, one, many) => (count ? [count === 1 ? one : many.replace("#", count)] : []);
  return [...some(off, "1 head is off", "# heads are off"), ...some(closed, "1 cell is closed", "# cells are closed")]
    .join(", ");
}

/** The panel: the change of each token's vector and of the sentence's, or of what is said to come next. */
export function changes(change, off, closed) {
  const title = el("h4", {}, "What becomes of the output");
  if (!change) {
    return [title, el("p", { class: "note" }, "Nothing is taken away. Switch a head off (its button, or Space in the " +
      "overview), or edit the mask and close a cell; what it does to the output is shown here.")];
  }
  title.append(el("span", {}, takenAway(off, closed)));
  if (change.kind === "next") {
    return [title, el("p", {}, "Under each token: how far what it says to come next has moved, KL in nats. After the " +
      `last one: ${told(change.whole)} nats.`), underTokens(change), nextTokens(change)];
  }
  return [title, el("p", {}, "Under each token: how far its final vector has turned, 1 − cosine. The sentence's own " +
    "vector, their mean, has turned by ", el("b", { class: "turned-by" }, told(change.whole)), "."),
  underTokens(change)];
}
