// The effect on the model's output of switching off heads or blocking pairs.

import { el } from "../shared/dom.js";

const TALLEST = 46;
const LEAST = 0.001;

/** The bars' heights in px; the largest fills the room unless it is negligible. */
export function heights(values) {
  const most = Math.max(...values, LEAST);
  return values.map((value) => (TALLEST * Math.max(value, 0)) / most);
}

/** A change, with enough digits to be informative. */
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
    el("thead", {}, el("tr", {}, ...["next token", "before", "after"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, ...next.map(({ token, before, after }) => el("tr", {},
      el("th", { scope: "row" }, el("bdi", {}, token)), bar(before, "was"), bar(after, "is")))));
}

/** "2 heads are off, 1 pair is blocked". */
export function takenAway(off, closed) {
  const some = (count, one, many) => (count ? [count === 1 ? one : many.replace("#", count)] : []);
  return [...some(off, "1 head is off", "# heads are off"), ...some(closed, "1 pair is blocked", "# pairs are blocked")]
    .join(", ");
}

/** The panel: the change of each token's vector and of the sentence vector, or of the predicted next token. */
export function changes(change, off, closed) {
  const title = el("h4", {}, "Effect on the output");
  if (!change) {
    return [title, el("p", { class: "note" }, "Nothing is switched off. Switch off a head (its button, or Space in " +
      "the overview), or edit the mask and block a pair; the effect on the output is shown here.")];
  }
  title.append(el("span", {}, takenAway(off, closed)));
  if (change.kind === "next") {
    return [title, el("p", {}, "Under each token: the change of its next-token distribution, as KL divergence in " +
      `nats. At the last token: ${told(change.whole)} nats.`), underTokens(change), nextTokens(change)];
  }
  return [title, el("p", {}, "Under each token: the change of its final vector, 1 − cosine. The sentence vector, " +
    "their mean, changes by ", el("b", { class: "turned-by" }, told(change.whole)), "."),
  underTokens(change)];
}
