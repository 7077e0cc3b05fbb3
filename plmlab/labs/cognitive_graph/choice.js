// System 2 at a step: the probability of each visited node, or the comparison of two nodes.

import { comparedSaid } from "./messages.js";
import { el } from "../shared/dom.js";
import { shortPercent } from "../shared/words.js";

/** The rows of the table: [{ n, alone, together, candidate, answer }], in the order in which the nodes were found. */
export function rowsOf(state, step) {
  const { chances, answers, answer } = state.steps[step];
  return state.nodes.flatMap(({ name }, n) => (chances[n] === undefined ? [] : [{
    n, alone: chances[n][0], together: chances[n][1], candidate: answers.includes(n), answer: name === answer }]));
}

const bar = (kind, p) => el("span", { class: "one" },
  el("i", { class: kind, style: `width:${Math.max(100 * p, 0.5)}%` }));
const panel = (...parts) => el("section", { class: "choice", "aria-label": "System 2" }, el("h4", {}, "System 2"), ...parts);

/** The panel. `open(thing)` is called when a node is pressed. */
export function choiceOf(state, step, open) {
  if (state.kind !== "special") return panel(el("p", {}, comparedSaid(state, step)));
  const rows = rowsOf(state, step);
  if (!rows.length) return panel(el("p", {}, "No node has been visited yet, so there is nothing to choose from."));
  const name = (n) => el("button", { type: "button", class: "to-node", "data-at": `row ${n}`,
    on: { click: () => open({ node: n }) } }, el("bdi", {}, state.nodes[n].name));
  return panel(el("table", {},
    el("caption", {}, "Probability of being the answer among the visited nodes, without edges and with edges. In " +
      "italics: not predicted as an answer by System 1, so it cannot be chosen."),
    el("thead", {}, el("tr", {}, ...["node", "", "without", "with"].map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, ...rows.map(({ n, alone, together, candidate, answer }) =>
      el("tr", { class: answer ? "own" : candidate ? "" : "out" },
        el("th", { scope: "row" }, name(n), answer ? " ✓" : ""),
        el("td", { class: "bars" }, bar("alone", alone), bar("together", together)),
        ...[alone, together].map((p) => el("td", { class: "amount" }, shortPercent(p))))))));
}
