// The drawing of the tree: one column per step, branches for mouse and keyboard, and below it the paths outside the
// beam.

import { GAP, ROOT, WIDE, formOf, lastOf, layoutOf, linkOf, stepTo } from "./layout.js";
import { branchSaid } from "./messages.js";
import { el, svg } from "../shared/dom.js";
import { chance } from "../shared/softmax.js";
import { decimal } from "../shared/words.js";

const LANE = 30; // px
const ROOM = 13;

/** The last characters of a prompt that is too long for the room. */
export const ending = (text) => (text.length > ROOM ? `…${[...text].slice(-ROOM).join("")}` : text);

const worldOf = (world, branch) => (!world ? [] : [el("span", { class: branch.world === null ? "exact none" : "exact",
  title: branch.world === null ? "not in the world's grammar" : "the world's probability" },
branch.world === null ? "✗" : chance(branch.world))]);

const markOf = ({ greedy, fate }) => [
  ...(greedy ? [el("span", { class: "greedy-mark", title: "greedy path" }, "▲")] : []),
  ...(fate === "finished" ? [el("span", { class: "end-mark", title: "finished" }, "■")] : []),
];

/** The contents of a branch: its token, the model's probability, and, if there is room, all other figures. */
function contents(state, branch, wide) {
  const first = [...markOf(branch), el("bdi", { class: "token" }, branch.token),
    el("span", { class: "model" }, chance(branch.p)), ...(wide ? [] : worldOf(state.world, branch))];
  if (!wide) return first;
  const second = [el("span", { class: "total" }, `Σ ${decimal(branch.total)}`),
    ...(state.alpha > 0 ? [el("span", { class: "score" }, `s ${decimal(branch.score)}`)] : []),
    ...worldOf(state.world, branch)];
  return [el("span", { class: "line" }, ...first), el("span", { class: "line small" }, ...second)];
}

/** The classes of a branch, or of the line that leads to it. */
const classOf = ({ fate, best, greedy }) => [fate, best && "best", greedy && "greedy"].filter(Boolean).join(" ");

/** A path outside the tree: its name, and its tokens below their steps. */
function laneOf(state, at, lane, { name, kind, top }) {
  return {
    name: el("span", { class: `lane-name ${kind}`, style: `top:${top}px;width:${ROOT + GAP - 8}px` }, ...name),
    tokens: lane.tokens.map((one, i) => el("span", { class: `lane-token ${kind}`, title: one.token,
      style: `left:${at.x(lane.from + i)}px;top:${top}px;width:${at.across}px` },
    el("bdi", { class: "token" }, one.token), el("span", { class: "model" }, chance(one.p)),
    ...worldOf(state.world, one))),
  };
}

/**
 * The tree; `show(count)` shows that number of steps. Calls `point(at)` when the pointer or the focus moves to a branch,
 * `open(at)` when one is pressed; `at` is { step, place }.
 */
export function treeOf({ state, unfolded, at: start, asks, point, open }) {
  const { columns, greedy } = state;
  const lanes = Math.max(greedy.tokens.length, unfolded ? unfolded.from + unfolded.tokens.length : 0);
  const at = layoutOf(state, lanes);
  const wide = at.form === WIDE;
  const links = columns.map((column, step) => svg("g", {}, ...column.flatMap((branch, place) => {
    const d = linkOf(at, step, place, branch.parent);
    return [svg("path", { class: `link ${classOf(branch)}`, d }),
      ...(branch.greedy ? [svg("path", { class: "link way", d })] : [])];
  })));
  const nodes = columns.map((column, step) => column.map((branch, place) => {
    const isOpen = unfolded && unfolded.step === step && unfolded.place === place;
    const { x, y } = at.places[step][place];
    return el("div", {
      class: `branch ${classOf(branch)}${isOpen ? " unfolded" : ""}`, role: "treeitem", tabindex: "-1",
      "data-step": step, "data-place": place,
      "aria-level": step + 1, "aria-expanded": branch.fate === "pruned" ? String(Boolean(isOpen)) : null,
      style: `left:${x}px;top:${y}px;width:${at.across}px;height:${at.high}px`,
    }, ...contents(state, branch, wide));
  }));
  const ways = [{ lane: greedy, kind: "greedy", name: [el("b", {}, "▲ greedy")] },
    ...(unfolded ? [{ lane: unfolded, kind: "what-if", name: [el("b", {}, "if kept: "), el("bdi", {}, columns[unfolded.step][unfolded.place].token)] }] : [])];
  const height = at.height + ways.length * LANE + 6;
  const [besides, whatIf] = ways.map(({ lane, ...way }, i) =>
    laneOf(state, at, lane, { ...way, top: at.height + 4 + i * LANE }));
  const groups = columns.map((_, step) => el("div", { role: "group" }, el("span", { class: "step-name",
    style: `left:${at.x(step)}px;width:${at.across}px` }, `step ${step + 1}`), ...nodes[step]));
  const canvas = el("div", { class: `tree ${at.form}`, role: "tree", "aria-label": "beam search tree, one column per step",
    style: `width:${at.width}px;height:${height}px` },
  svg("svg", { width: at.width, height: at.height, "aria-hidden": "true" }, ...links),
  el("span", { class: "root", title: state.text, style: `left:0;top:${at.root.y}px;width:${ROOT}px;height:${at.high}px` },
    el("bdi", {}, ending(state.text || "[START]"))),
  ...groups, besides.name, ...besides.tokens, ...(whatIf ? [whatIf.name, ...whatIf.tokens] : []));
  const scroll = el("div", { class: "scroll" }, canvas);

  let now = null;
  let shown = columns.length;
  const go = (to) => {
    if (now) {
      nodes[now.step][now.place].tabIndex = -1;
      nodes[now.step][now.place].classList.remove("now");
    }
    now = to;
    const node = nodes[to.step][to.place];
    node.tabIndex = 0;
    node.classList.add("now");
    node.setAttribute("aria-label", branchSaid(state, to, { asks }));
    point(to);
    return node;
  };
  const under = (event) => {
    const { step, place } = event.target.closest(".branch")?.dataset ?? {};
    return step === undefined ? null : { step: Number(step), place: Number(place) };
  };
  canvas.addEventListener("pointermove", (event) => {
    const to = under(event);
    if (!to || (to.step === now.step && to.place === now.place)) return;
    const held = canvas.contains(document.activeElement);
    const node = go(to);
    if (held) node.focus({ preventScroll: true });
  });
  canvas.addEventListener("click", (event) => {
    const to = under(event);
    if (!to) return;
    go(to).focus({ preventScroll: true });
    open(to);
  });
  canvas.addEventListener("focusin", (event) => {
    const to = under(event);
    if (to && (to.step !== now.step || to.place !== now.place)) go(to);
  });
  canvas.addEventListener("keydown", (event) => {
    const to = stepTo(event.key, columns, now, shown);
    if (to) {
      const node = go(to);
      node.focus({ preventScroll: true });
      node.scrollIntoView({ block: "nearest", inline: "nearest" });
    } else if (event.key === "Enter" || event.key === " ") open(now);
    else if (!/^(Arrow|Home|End)/.test(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  });
  go(start);
  const show = (count) => {
    shown = count;
    canvas.classList.toggle("done", shown === columns.length);
    groups.forEach((group, step) => { group.hidden = step >= shown; });
    links.forEach((group, step) => group.setAttribute("display", step < shown ? "inline" : "none"));
    besides.tokens.forEach((token, step) => { token.hidden = step >= shown; });
    if (now.step < shown) return;
    const held = canvas.contains(document.activeElement);
    const node = go(lastOf(columns, shown));
    if (held) node.focus({ preventScroll: true });
  };
  return {
    node: scroll, show, at: () => now, held: () => canvas.contains(document.activeElement),
    focus: () => nodes[now.step][now.place].focus({ preventScroll: true }),
  };
}

/** The legend. */
export function legendOf(state) {
  const entry = (kind, text) => el("li", {}, el("span", { class: `swatch branch ${kind}` }), text);
  const mark = (kind, sign, text) => el("li", {}, el("span", { class: kind }, sign), text);
  return el("ul", { class: "legend keys" }, entry("open", "kept open"), entry("open best", "best text found"),
    entry("pruned", "pruned"), mark("end-mark", "■", "finished"), mark("greedy-mark", "▲", "greedy path"),
    mark("model", "0.5", "the model’s p(token | prefix)"),
    ...(formOf(state) === WIDE ? [mark("sign", "Σ", "log-probability of the hypothesis, nats")] : []),
    ...(formOf(state) === WIDE && state.alpha > 0 ? [mark("sign", "s", "score")] : []),
    ...(state.world ? [mark("exact", "0.5", "the world’s probability; ✗: not in the grammar")] : []));
}
