// Below the tree: the finished hypotheses by score, greedy's text, the exact results, and the errors by name.

import { finishedBy } from "./layout.js";
import { missesSaid, probability, risingSaid, scoreSaid } from "./messages.js";
import { el } from "../shared/dom.js";
import { decimal, number } from "../shared/words.js";

const cell = (text, kind = "") => el("td", { class: kind }, text);

/** A text in a table cell; the empty text is named. */
const textOf = ({ text, cut }) => el("td", { class: "said" }, text === "" ? el("em", {}, "(the empty text)") : el("bdi", {}, text),
  cut ? el("span", { class: "note" }, " cut") : "");

const worldCell = (state, total) => (!state.world ? [] : [cell(total === null ? "✗ not in the grammar" : decimal(total), "exact")]);

function row(state, name, one, kind) {
  return el("tr", { class: kind }, el("th", { scope: "row" }, ...name), textOf(one), cell(one.count), cell(probability(one.total), "model"),
    cell(decimal(one.total)), cell(decimal(one.score)), ...worldCell(state, one.world));
}

/** The hypotheses finished up to a step. */
function finishedRows(state, shown) {
  const found = finishedBy(state.columns, shown, state.width);
  return found.map(({ whole }, i) => row(state, [String(i + 1)], whole, i ? "" : "first"));
}

/** The table of texts: those finished within `shown` steps, greedy's, and the exact results. */
export function textsOf(state, pinned, shown) {
  const heads = ["", "text", "tokens n", "p(text)", "log p, nats", "score", ...(state.world ? ["world’s log p"] : [])];
  const rows = finishedRows(state, shown);
  const none = [el("tr", {}, el("td", { colspan: heads.length, class: "note" }, "No hypothesis has finished yet."))];
  const found = Object.keys(pinned).length > 0;
  const wait = el("tr", { class: "pin" }, el("th", { scope: "row" }, "exact"),
    el("td", { colspan: heads.length - 1, class: "note" }, "Exact search is running …"));
  const exact = () => (pinned.model
    ? row(state, ["most likely (model)", el("small", {}, `exact: ${number(pinned.read)} prefixes`)], pinned.model, "pin")
    : el("tr", { class: "pin" }, el("th", { scope: "row" }, "most likely (model)"), el("td", { colspan: heads.length - 1, class: "note" },
      `Not found: exact search would have to keep more than ${number(pinned.limit)} prefixes open. Reduce the maximum length, or give a longer prompt.`)));
  const world = () => (pinned.world ? [el("tr", { class: "pin" }, el("th", { scope: "row" }, "most likely (world)"),
    textOf({ ...pinned.world, cut: false }), cell(pinned.world.count), cell(""), cell(""), cell(""), cell(decimal(pinned.world.total), "exact"))] : []);
  const empty = found && pinned.empty !== null && pinned.model?.text !== ""
    ? [el("p", { class: "note" }, `The empty text ([END] as the first token) has probability ${probability(pinned.empty)} (${decimal(pinned.empty)} nats).`)] : [];
  const rising = risingSaid(state, shown);
  return el("div", { class: "texts" },
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...heads.map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, ...(rows.length ? rows : none)),
      el("tbody", { class: "beside" }, row(state, [el("span", { class: "greedy-mark" }, "▲"), " greedy"], state.greedy, ""),
        ...(found ? [exact(), ...world()] : [wait])))),
    ...(rising ? [el("p", { class: "rising" }, rising)] : []), ...empty, el("p", { class: "note" }, scoreSaid(state)));
}

/** The search error and the model error. */
export function missesOf(state, pinned) {
  if (!Object.keys(pinned).length) return el("dl", { class: "misses" });
  return el("dl", { class: "misses" }, ...missesSaid(state, pinned).map(({ name, kind, said }) => el("div", { class: kind },
    el("dt", {}, kind === "none" ? `No ${name.toLowerCase()}` : kind === "unknown" ? `${name}?` : name), el("dd", {}, said))));
}

/** The best score of each width: one button per width, marked if it is worse than a narrower beam. */
export function widthsOf(state, pinned, { disabled, pick }) {
  const widths = (pinned.widths ?? []).filter(({ text }) => text !== null);
  let most = -Infinity;
  const buttons = widths.map(({ width, text, total, score }) => {
    const worse = score < most - 1e-4;
    most = Math.max(most, score);
    const said = `a beam of ${width} finds “${text}”: score ${decimal(score)}, ${probability(total)}${worse ? ", worse than a narrower beam" : ""}`;
    return el("button", { type: "button", class: worse ? "width worse" : "width", disabled, title: said, "aria-label": said,
      "aria-pressed": String(width === state.width), on: { click: () => pick(width) } },
    el("b", {}, width), el("span", {}, decimal(score)), el("span", { class: "down" }, worse ? "▼ worse" : ""));
  });
  return el("div", { class: "widths" }, el("span", { class: "note" }, "best score for each width"), ...buttons);
}
