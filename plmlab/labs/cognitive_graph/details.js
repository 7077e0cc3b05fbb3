// Details of a node or an edge: its page with the spans of System 1, its clues, the effect of its message.

import { clueText, edgeOf, edgeSaid, edgesAt, effectSaid, names, nodeSaid, spanText } from "./messages.js";
import { el } from "../shared/dom.js";
import { pieces } from "../shared/probabilities.js";
import { quoted, shortPercent, signed } from "../shared/words.js";

const AS = { hop: "next hop", answer: "answer", below: "answer, below [CLS]" };

/** The marks in a sentence: [{ start, end, kinds, spans }], from left to right; spans that overlap are one. */
export function marksOf(spans, sentence) {
  const marks = [];
  const own = spans.filter((span) => span.sentence === sentence);
  for (const span of own.sort((a, b) => a.start - b.start || a.end - b.end)) {
    const last = marks.at(-1);
    if (last && span.start < last.end) {
      last.end = Math.max(last.end, span.end);
      last.spans.push(span);
    } else marks.push({ start: span.start, end: span.end, spans: [span] });
  }
  return marks.map((mark) => ({ ...mark, kinds: [...new Set(mark.spans.map(({ as }) => as))] }));
}

/** A sentence as prose, its spans marked with their probabilities. */
function sentenceOf(words, spans, number) {
  return pieces(words, marksOf(spans, number)).flatMap(({ text, mention, space }) => [
    space ? " " : "",
    mention ? el("mark", { class: mention.kinds.join(" "), title: mention.spans.map(({ as, chance, margin }) =>
      `${AS[as]}: ${shortPercent(chance)}, margin ${signed(margin)} over [CLS]`).join("; ") }, text,
    el("small", {}, ` ${mention.spans.map(({ chance }) => shortPercent(chance)).join(" · ")}`)) : text,
  ]);
}

const act = (text, disabled, press) =>
  el("button", { type: "button", class: "act", disabled, on: { click: press } }, text);
const quiet = (text) => el("p", { class: "quiet" }, text);

/** A button that opens an edge. */
const edgeButton = (state, edge, open, text) => el("button", { type: "button", class: "to-edge",
  "data-at": `edge ${edge.source} ${edge.target}`, on: { click: () => open({ edge: [edge.source, edge.target] }) } },
text ?? `${state.nodes[edge.source].name} → ${state.nodes[edge.target].name}`);

/** The page of a node, as of its last visit up to this step. */
function pageOf(state, step, n) {
  const visit = state.visits[state.steps[step].visits[n]];
  const { sentences } = state.nodes[n];
  if (!sentences.length) {
    return quiet("There is no page with this title: the input of System 1 is only the question and the clues.");
  }
  return el("ol", { class: "page" }, ...sentences.map((words, number) => {
    const unread = visit && number >= visit.read;
    const why = unread ? "truncated: beyond the maximum input length" : null;
    return el("li", { class: unread ? "unread" : "", title: why }, ...sentenceOf(words, visit?.spans ?? [], number));
  }));
}

/** All spans that System 1 predicted in a page, with their scores. */
function spansOf(state, step, n, { open, gold }) {
  const visit = state.visits[state.steps[step].visits[n]];
  if (!visit?.spans.length) return "";
  const out = edgesAt(state, step, gold, "source", n);
  const leads = (span) => {
    const edge = out.find(({ target }) => target === span.leads);
    if (edge) return edgeButton(state, edge, open, `→ ${state.nodes[edge.target].name}`);
    if (span.leads === n) return "to itself";
    return span.as === "hop" && !span.page ? "no page with this title" : "not followed";
  };
  const heads = ["span", "type", "p(start)", "over [CLS]", "leads to"];
  return el("table", { class: "spans" }, el("caption", {}, "Spans predicted by System 1"),
    el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, ...visit.spans.map((span) => el("tr", {},
      el("th", { scope: "row" }, el("bdi", {}, spanText(state, n, span))),
      el("td", { class: "as" }, el("i", { class: span.as, "aria-hidden": "true" }), AS[span.as]),
      ...[shortPercent(span.chance), signed(span.margin)].map((text) => el("td", { class: "amount" }, text)),
      el("td", {}, leads(span))))));
}

/** The clues in a node's input at its last visit, or at its next one. */
function cluesOf(state, step, n, { open, gold }) {
  const into = edgesAt(state, step, gold, "target", n);
  if (!into.length) return "";
  const visit = state.visits[state.steps[step].visits[n]];
  const came = ({ source, sentence }) => visit?.clues.find(([from, number]) => from === source && number === sentence);
  const note = (edge) => {
    if (edge.since === null) return " (missed)";
    if (!visit) return "";
    const clue = came(edge);
    return clue ? (clue[2] ? "" : " (truncated)") : " (added later)";
  };
  return el("div", { class: "clues" },
    el("p", { class: "head" }, visit ? "Clues in its input" : "Clues for its first visit"),
    el("ul", {}, ...into.map((edge) =>
      el("li", {}, edgeButton(state, edge, open), ` ${quoted(clueText(state, edge))}${note(edge)}`))));
}

/** A node: its page, its spans, its clues, and a button that excludes it. */
function nodeDetails({ state, step, gold, n, disabled, open, forbid }) {
  const { name, missed } = state.nodes[n];
  const unread = !missed && state.nodes[n].sentences.length && state.steps[step].visits[n] === undefined;
  return [
    el("div", { class: "bar" }, el("h4", {}, el("bdi", {}, name)),
      missed ? "" : act("Exclude this node", disabled, () => forbid(name))),
    missed ? quiet(nodeSaid(state, step, n)) : "",
    cluesOf(state, step, n, { open, gold }),
    unread ? quiet("Its page has not been visited yet.") : "",
    pageOf(state, step, n), spansOf(state, step, n, { open, gold }),
  ];
}

/** An edge: its sentence, its span, the effect of its message, and a button that removes it. */
function edgeDetails({ state, step, edge, disabled, forbid }) {
  const [from, to] = [edge.source, edge.target].map((n) => state.nodes[n].name);
  const { span } = edge;
  const words = state.nodes[edge.source].sentences[edge.sentence] ?? [];
  const numbers = span && [["type", AS[span.as]], ["p(start)", shortPercent(span.chance)],
    ["over [CLS]", signed(span.margin)]];
  return [
    el("div", { class: "bar" }, el("h4", {}, el("bdi", {}, from), " → ", el("bdi", {}, to)),
      edge.since === null ? "" : act("Remove this edge", disabled, () => forbid([from, to]))),
    el("p", { class: "head" }, `The clue: sentence ${edge.sentence + 1} of ${from}`),
    el("p", { class: "clue" }, ...sentenceOf(words, span ? [span] : [], edge.sentence)),
    span ? el("dl", { class: "numbers" }, ...numbers.map(([head, text]) => el("div", {}, el("dt", {}, head), el("dd", {}, text))))
      : quiet(edgeSaid(state, step, edge)),
    el("p", {}, effectSaid(state, step, edge)),
  ];
}

/** The details of the opened { node } or { edge }, as a section. */
export function detailsOf({ opened, ...given }) {
  const { state } = given;
  const parts = opened.edge ? edgeDetails({ ...given, edge: edgeOf(state, opened.edge) })
    : nodeDetails({ ...given, n: opened.node });
  const title = names(state, opened.edge ?? [opened.node]).join(" → ");
  return el("section", { class: "details", "aria-label": `details: ${title}` }, ...parts);
}
