// The drawing of the graph: nodes in columns by their distance from the question, with lines between them.

import { HEAD, HIGH, drawn, layoutOf, lineOf, nodeAfter } from "./layout.js";
import { edgeSaid, effectOf, nodeSaid } from "./messages.js";
import { el, svg } from "../shared/dom.js";
import { plural, shortPercent } from "../shared/words.js";

const THIN = 1.4; // px, the width of a line; WIDER is added per logit that its message changes
const WIDER = 0.7;
const WIDEST = 8;

/** The tags of a node at a step, shown with its name. */
export function tagsOf(state, step, n, gold) {
  const { start, missed, gold: isGold } = state.nodes[n];
  const { frontier, visits, answers, answer, compared } = state.steps[step];
  if (missed) return ["missed"];
  return [
    ...(frontier.includes(n) ? [visits[n] === undefined ? "▸ next" : "▸ again"] : []),
    ...(start ? ["in the question"] : []),
    ...(answer === state.nodes[n].name && state.kind === "special" ? ["✓ answer"]
      : answers.includes(n) ? [state.kind === "special" ? "candidate" : "value"] : []),
    ...(state.kind !== "special" && compared.length > 1 && compared.includes(n) ? ["compared"] : []),
    ...(gold && !isGold ? ["extra"] : []),
  ];
}

/** Line width of an edge: grows with the effect of its message on the logit of its target. */
export function widthOf(state, step, edge) {
  const effect = effectOf(state, step, edge);
  return effect ? Math.min(WIDEST, THIN + WIDER * Math.abs(effect.on_target)) : THIN;
}

/** Two probabilities, without and with edges, as 54 → 53 %; a single one if both are displayed alike. */
export function pairSaid(pair) {
  const [alone, together] = pair.map(shortPercent);
  return alone === together ? together : `${alone.replace("\u00a0%", "")} → ${together}`;
}

const chancesOf = (pair) => el("span", { class: "chances" }, el("span", { class: "pair" },
  ...["alone", "together"].map((kind, i) => el("i", { class: kind, style: `width:${100 * pair[i]}%` }))),
el("span", { class: "said" }, pairSaid(pair)));

/**
 * The graph at a step. `point(text)` is called with the description of what the pointer or the focus is on, `open(thing)`
 * with what is pressed: { node } or { edge: [source, target] }, by index. `opened` is such a thing, `at` the node that Tab
 * leads to, and `enter(node)` is called when a node gets the focus.
 */
export function graphOf({ state, step, gold, room, opened, at, point, open, enter }) {
  const { nodes, edges, steps } = state;
  const layout = layoutOf(nodes, room);
  const visible = nodes.map((_, n) => n).filter((n) => drawn(nodes[n], step, gold));
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
  const focusable = visible.includes(at) ? at : visible[0];
  const buttons = new Map(visible.map((n) => {
    const { name, missed, gold: isGold } = nodes[n];
    const answer = now.answer === name && state.kind === "special";
    const kinds = { frontier: now.frontier.includes(n), answer, candidate: now.answers.includes(n), missed, start: nodes[n].start,
      golden: gold && isGold && !missed, extra: gold && !isGold && !missed };
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
  column ? plural(column, "hop") : "in the question"));
  const canvas = el("div", { class: "graph", role: "group",
    "aria-label": "the graph: move between nodes with the arrow keys, open one with Enter",
    style: `width:${layout.width}px;height:${Math.max(layout.height, HEAD)}px` }, ...heads,
  svg("svg", { width: layout.width, height: layout.height, "aria-hidden": "true" }, ...lines), ...buttons.values());
  canvas.addEventListener("keydown", (event) => {
    const from = Number(event.target.closest("button")?.dataset.node);
    if (!/^(Arrow|Home|End)/.test(event.key) || Number.isNaN(from)) return;
    const to = nodeAfter(event.key, nodes, visible, from);
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

/** The legend. */
export function legendOf(state, gold) {
  const box = (kind, text) => el("li", {}, el("span", { class: `swatch node ${kind}` }), text);
  const special = state.kind === "special";
  return el("ul", { class: "legend keys" }, box("start", "named in the question"), box("frontier", "▸ frontier: visited next"),
    box("candidate", special ? "candidate answer" : "value to compare"),
    ...(special ? [box("answer", "✓ current answer"),
      el("li", {}, el("span", { class: "pair key" }, el("i", { class: "alone" }), el("i", { class: "together" })),
        "System 2’s probability of being the answer, without → with edges"),
      el("li", {}, el("span", { class: "thick" }), "line width: effect of the message on its target")] : []),
    ...(gold ? [box("golden", "in the gold graph"), box("missed", "gold, but missed"),
      box("extra", "found, but not gold")] : []));
}
