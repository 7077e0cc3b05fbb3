// The graph as it is drawn: nodes in columns by how far they are from the question, lines between them.

import { HEAD, HIGH, drawn, layoutOf, lineOf, nodeAfter } from "./layout.js";
import { edgeSaid, effectOf, nodeSaid } from "./told.js";
import { el, svg } from "../shared/dom.js";
import { plural, shortPercent } from "../shared/words.js";

const THIN = 1.4; // px, a line; and how much more for a logit that its message moves
const WIDER = 0.7;
const WIDEST = 8;

/** The words that stand in a node beside its name: what it is at a step. */
export function tagsOf(state, step, n, gold) {
  const { start, missed, gold: right } = state.nodes[n];
  const { frontier, visits, answers, answer, compared } = state.steps[step];
  if (missed) return ["missed"];
  return [
    ...(frontier.includes(n) ? [visits[n] === undefined ? "▸ next" : "▸ again"] : []),
    ...(start ? ["in the question"] : []),
    ...(answer === state.nodes[n].name && state.kind === "special" ? ["✓ answer"]
      : answers.includes(n) ? [state.kind === "special" ? "an answer?" : "a value"] : []),
    ...(state.kind !== "special" && compared.length > 1 && compared.includes(n) ? ["compared"] : []),
    ...(gold && !right ? ["extra"] : []),
  ];
}

/** How wide the line of an edge is: the more, the further its message moves the logit of its target. */
export function widthOf(state, step, edge) {
  const effect = effectOf(state, step, edge);
  return effect ? Math.min(WIDEST, THIN + WIDER * Math.abs(effect.on_target)) : THIN;
}

/** Two chances, without edges and with them, 54 → 53 %; one where both read alike. */
export function pairSaid(pair) {
  const [alone, together] = pair.map(shortPercent);
  return alone === together ? together : `${alone.replace("\u00a0%", "")} → ${together}`;
}

const chancesOf = (pair) => el("span", { class: "chances" }, el("span", { class: "pair" },
  ...["alone", "together"].map((kind, i) => el("i", { class: kind, style: `width:${100 * pair[i]}%` }))),
el("span", { class: "said" }, pairSaid(pair)));

/**
 * The graph at a step. `point(text)` hears what is said of what the pointer or the focus is on, `open(thing)` what is
 * pressed: { node } or { edge: [source, target] }, by numbers; `opened` is such a thing, `at` the node that Tab leads
 * to, and `enter(node)` hears where the focus goes.
 */
export function graphOf({ state, step, gold, room, opened, at, point, open, enter }) {
  const { nodes, edges, steps } = state;
  const layout = layoutOf(nodes, room);
  const shown = nodes.map((_, n) => n).filter((n) => drawn(nodes[n], step, gold));
  const now = steps[step];
  const isOpen = ({ source, target }) => opened?.edge?.[0] === source && opened.edge[1] === target;
  const lines = edges.filter((edge) => drawn(edge, step, gold)).map((edge) => {
    const { d, tip } = lineOf(layout, nodes, edge);
    const kind = edge.since === null ? "missed" : !gold ? "" : edge.gold ? "gold" : "extra";
    return svg("g", { class: `edge ${kind}${isOpen(edge) ? " open" : ""}`, "data-source": edge.source,
      "data-target": edge.target },
      svg("path", { class: "line", d, style: `stroke-width:${widthOf(state, step, edge)}px` }),
      svg("path", { class: "tip", d: tip }),
      svg("path", { class: "hit", d, on: {
        pointerenter: () => point(edgeSaid(state, step, edge)), click: () => open({ edge: [edge.source, edge.target] }),
      } }));
  });
  const focusable = shown.includes(at) ? at : shown[0];
  const buttons = new Map(shown.map((n) => {
    const { name, missed, gold: right } = nodes[n];
    const answer = now.answer === name && state.kind === "special";
    const kinds = { frontier: now.frontier.includes(n), answer, candidate: now.answers.includes(n), missed, start: nodes[n].start,
      golden: gold && right && !missed, extra: gold && !right && !missed };
    const tags = tagsOf(state, step, n, gold);
    return [n, el("button", {
      type: "button", class: ["node", ...Object.keys(kinds).filter((kind) => kinds[kind])].join(" "), "data-node": n,
      tabindex: n === focusable ? "0" : "-1", "aria-pressed": String(opened?.node === n), title: name,
      "aria-label": [name, ...tags].join(", "),
      style: `left:${layout.places[n].x}px;top:${layout.places[n].y}px;width:${layout.across}px;height:${HIGH}px`,
      on: { pointerenter: () => point(nodeSaid(state, step, n)), click: () => open({ node: n }),
        focus: () => { enter(n); point(nodeSaid(state, step, n)); } },
    }, el("bdi", { class: "title" }, name), el("span", { class: "tags" }, tags.join(" · ")),
    now.chances[n] ? chancesOf(now.chances[n]) : "")];
  }));
  const heads = Array.from({ length: layout.columns }, (_, column) => el("span", { class: "column-name",
    style: `left:${layout.x(column)}px;width:${layout.across}px` },
  column ? `${plural(column, "hop")} on` : "in the question"));
  const canvas = el("div", { class: "graph", role: "group",
    "aria-label": "the graph: the arrow keys lead from node to node, Enter opens one",
    style: `width:${layout.width}px;height:${Math.max(layout.height, HEAD)}px` }, ...heads,
  svg("svg", { width: layout.width, height: layout.height, "aria-hidden": "true" }, ...lines), ...buttons.values());
  canvas.addEventListener("keydown", (event) => {
    const from = Number(event.target.closest("button")?.dataset.node);
    if (!/^(Arrow|Home|End)/.test(event.key) || Number.isNaN(from)) return;
    const to = nodeAfter(event.key, nodes, shown, from);
    if (to !== null) {
      buttons.get(from).tabIndex = -1;
      buttons.get(to).tabIndex = 0;
      buttons.get(to).focus({ preventScroll: true });
      buttons.get(to).scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    event.preventDefault();
    event.stopPropagation();
  });
  return { node: el("div", { class: "scroll" }, canvas), focus: (n) => buttons.get(n)?.focus({ preventScroll: true }) };
}

/** What the marks mean. */
export function legendOf(state, gold) {
  const box = (kind, text) => el("li", {}, el("span", { class: `swatch node ${kind}` }), text);
  const special = state.kind === "special";
  return el("ul", { class: "legend keys" }, box("start", "named in the question"), box("frontier", "▸ the frontier: read next"),
    box("candidate", special ? "may be the answer" : "a value to compare"),
    ...(special ? [box("answer", "✓ the answer now"),
      el("li", {}, el("span", { class: "pair key" }, el("i", { class: "alone" }), el("i", { class: "together" })),
        "System 2’s chance of being the answer, without edges → with them"),
      el("li", {}, el("span", { class: "thick" }), "the thicker, the more its message moves its target")] : []),
    ...(gold ? [box("golden", "in the gold graph"), box("missed", "gold, but missed"),
      box("extra", "found, but not gold")] : []));
}
