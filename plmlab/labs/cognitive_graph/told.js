// What the Cognitive Graph Lab says: of a step, a node, an edge, the choice, and the gold graph.

import { drawn } from "./layout.js";
import { pieces } from "../shared/probabilities.js";
import { decimal, listed, plural, quoted, shortPercent, signed } from "../shared/words.js";

/** Words as prose. */
export const prose = (words) => pieces(words, []).map(({ text, space }) => (space ? " " : "") + text).join("");

export const names = (state, numbers) => numbers.map((n) => state.nodes[n].name);
export const lastStep = (state) => state.steps.length - 1;
/** The edges into a node, or out of it, that are drawn. */
export const edgesAt = (state, step, gold, end, n) =>
  state.edges.filter((edge) => edge[end] === n && drawn(edge, step, gold));
const find = (list, from, to) => list.find(({ source, target }) => source === from && target === to);
/** The edge between two nodes, and what its message does at a step; undefined where there is none. */
export const edgeOf = ({ edges }, [source, target]) => find(edges, source, target);
export const effectOf = ({ steps }, step, { source, target }) => find(steps[step].effects, source, target);

/** The words of a span, and of the sentence that an edge was found in. */
export const spanText = (state, n, { sentence, start, end }) =>
  prose(state.nodes[n].sentences[sentence].slice(start, end));
export const clueText = (state, { source, sentence }) => prose(state.nodes[source].sentences[sentence] ?? []);

/** What was done at a step, and what comes next. */
export function stepSaid(state, step) {
  const { frontier } = state.steps[step];
  const next = frontier.length ? `To be read next: ${listed(names(state, frontier))}.` : "Nothing is left to read.";
  if (!state.named.length) return "All that the question names is forbidden, so there is nowhere to begin.";
  if (!step) return `Nothing is read. The question names ${listed(state.named)}. ${next}`;
  const found = state.nodes.filter(({ since }) => since === step).map(({ name }) => name);
  return `Step ${step} of ${lastStep(state)}: read ${listed(names(state, state.steps[step - 1].frontier))}; ` +
    `${found.length ?}`new: ${listed(found)}` : "nothing new"}. ${next}`;
}

const AS = { hop: "as a page to go on to", answer: "as an answer",
  below: "as its likeliest answer, though no surer than [CLS]" };

/** How a span was pointed at. */
const pointed = (state, n, span) => `${quoted(spanText(state, n, span))} ${AS[span.as]} (${shortPercent(span.chance)})`;

/** Why an edge of the gold graph was not found. */
function notFound(state, step, { source, target }) {
  const [from, to] = names(state, [source, target]);
  const cut = state.without.some((one) => Array.isArray(one) && one[0] === from && one[1] === to);
  if (cut) return `The edge from ${from} is cut.`;
  if (state.steps[step].visits[source] === undefined) return `It would be found from ${from}, which is not read.`;
  return `${from} was read, and System 1 did not lead on to ${to}.`;
}

/** Why a node of the gold graph was not found. */
function missedWhy(state, step, n) {
  if (state.without.includes(state.nodes[n].name)) return "It is forbidden.";
  const edges = state.edges.filter(({ target, gold }) => target === n && gold);
  return edges.length ? edges.map((edge) => notFound(state, step, edge)).join(" ") : "The question should name it.";
}

/** What a node is, and why. */
export function nodeSaid(state, step, n) {
  const { name, missed, start, since, sentences } = state.nodes[n];
  if (missed) return `${name} is missed: it belongs to the gold graph, and was not found. ${missedWhy(state, step, n)}`;
  const { frontier, hops, visits, chances } = state.steps[step];
  const sources = edgesAt(state, step, false, "target", n).map(({ source }) => state.nodes[source].name);
  const from = start ? "stands in the question" : `was found in step ${since} on the page of ${listed(sources)}`;
  const page = sentences.length ? "" : ", and has no page of its own";
  const said = [`${name} ${from}${page}.`];
  const visit = state.visits[visits[n]];
  if (visit) {
    const clues = visit.clues.filter(([, , kept]) => kept).length;
    const spans = visit.spans.map((span) => pointed(state, n, span));
    said.push(`It was read with ${clues ? plural(clues, "clue") : "no clue"}.`);
    if (sentences.length) said.push(`System 1 points at ${spans.length ? listed(spans) : "nothing in it"}.`);
  }
  if (visit && !hops.includes(n)) said.push("It was pointed at as an answer only, so nothing is followed from it.");
  if (frontier.includes(n)) said.push(visit ? "A new clue has come: it is to be read again." : "It is to be read next.");
  if (visit && state.kind === "special") {
    const [alone, together] = chances[n];
    said.push(Object.keys(chances).length > 1
      ? `System 2 gives it ${shortPercent(together)} of being the answer; without edges, ${shortPercent(alone)}.`
      : "No other node is read yet for System 2 to weigh it against.");
  }
  return said.join(" ");
}

/** What the message along an edge does at a step. */
export function effectSaid(state, step, edge) {
  if (edge.since === null) return "";
  if (state.kind !== "special") return "System 2 compares two nodes without the graph: no message passes here.";
  const { answer } = state.steps[step];
  const effect = effectOf(state, step, edge);
  const target = state.nodes[edge.target].name;
  if (!effect) return `${target} is not read yet, so no message has passed.`;
  const moves = (value, whose) => `${value < 0 ? "lowers" : "raises"} ${whose} by ${decimal(Math.abs(value))}`;
  const moved = [moves(effect.on_target, `the logit of ${target}`),
    ...(answer === null || answer === target ? [] : [moves(effect.on_answer, `that of the answer, ${answer},`)])];
  return `Against the same graph without this edge, its message in System 2 ${moved.join(", and ")}.`;
}

/** What an edge is, and why. */
export function edgeSaid(state, step, edge) {
  const [from, to] = [state.nodes[edge.source].name, state.nodes[edge.target].name];
  const where = `sentence ${edge.sentence + 1} of ${from}`;
  if (edge.since === null) {
    return `${from} → ${to} is missed: in the gold graph, ${where} leads there: ${quoted(clueText(state, edge))} ` +
      notFound(state, step, edge);
  }
  const { span } = edge;
  return `${from} → ${to}: in ${where}, System 1 points at ${pointed(state, edge.source, span)}, its start ` +
    `${signed(span.margin)} against [CLS]. ${effectSaid(state, step, edge)}`;
}

/** How the graph stands to the gold one at a step. */
export function goldCounts({ nodes, edges }, step) {
  const found = (list) => list.filter(({ since }) => since !== null && since <= step);
  const golden = (list) => list.filter(({ gold }) => gold).length;
  const count = (list) => ({ found: golden(found(list)), of: golden(list), extra: found(list).filter(({ gold }) => !gold) });
  return { nodes: count(nodes), edges: count(edges), missed: nodes.filter((node) => node.missed).map(({ name }) => name) };
}

export function goldSaid(state, step) {
  const { nodes, edges, missed } = goldCounts(state, step);
  const extra = nodes.extra.map(({ name }) => name);
  return `${nodes.found} of ${plural(nodes.of, "gold node")}, ${edges.found} of ${plural(edges.of, "gold edge")}` +
    `${step < lastStep(state) ? " so far" : ""}; ${extra.length ?}`${extra.length} extra: ${listed(extra)}` : "none extra"}` +
    `${missed.length ?}`; missed: ${listed(missed)}` : ""}.`;
}

/** What is answered at a step. */
export function answerSaid(state, step) {
  const { answer, likeliest, chances, chance } = state.steps[step];
  const ended = step === lastStep(state);
  const alone = likeliest === null ? "System 1 alone has pointed at no answer."
    : `System 1 alone would answer ${likeliest}, which it pointed at most surely.`;
  if (answer === null) {
    return `${ended ? "CogQA has no answer" : "No answer yet"}: ${state.kind === "special"
      ? "no node that may be it has been read" : "there are no two nodes to compare"}. ${alone}`;
  }
  if (state.kind === "special") {
    const p = chances[state.nodes.findIndex(({ name }) => name === answer)][1];
    const read = plural(Object.keys(chances).length, "read node");
    return `CogQA answers ${answer}, ${shortPercent(p)} among ${read}. ${alone}`;
  }
  const sure = shortPercent(Math.max(chance, 1 - chance));
  return `CogQA answers ${answer}, ${sure}. ${state.kind === "either-or" ? alone : ""}`.trim();
}

/** How a comparison is made. */
export function comparedSaid(state, step) {
  const { compared, chance } = state.steps[step];
  if (compared.length < 2) return "There are no two nodes to compare yet.";
  const [one, other] = names(state, compared);
  const outcome = state.kind === "yes-no" ? "of “yes”" : `of the second, ${state.named[1]},`;
  return `Compared are what was read at ${one} and at ${other}. System 2 sees the difference of the two vectors: the ` +
    `chance ${outcome} is ${shortPercent(chance)}. The graph takes no part in this; its edges have only led here.`;
}

/** What is to be guessed, and the answer, once all is read. */
export function guessOf(state) {
  const { answer } = state.steps.at(-1);
  const question = { special: "Which node will be the answer when nothing is left to read?",
    "either-or": "Which of the two will CogQA name when nothing is left to read?",
    "yes-no": "Will it be yes or no when nothing is left to read?" }[state.kind];
  if (answer === null) return [question, "CogQA finds no answer."];
  const n = state.nodes.findIndex(({ name }) => name === answer);
  const edge = state.edges.find(({ target, since }) => target === n && since !== null);
  const found = edge && state.kind === "special"
    ? ` It is found on the page of ${state.nodes[edge.source].name}: ${quoted(clueText(state, edge))}` : "";
  return [question, `${answer}.${found}`];
}

/** The verdict, once all is read and the right answer is known. */
export function verdictOf({ right, steps }) {
  if (right === null) return null;
  const good = steps.at(-1).answer === right;
  return { good, text: good ? `✓ right: ${right}` : `✗ the right answer is ${right}` };
}
