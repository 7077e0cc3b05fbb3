// Descriptions in the Cognitive Graph Lab: a step, a node, an edge, the choice, and the gold graph.

import { drawn } from "./layout.js";
import { pieces } from "../shared/probabilities.js";
import { decimal, listed, plural, quoted, shortPercent, signed } from "../shared/words.js";

/** Joins words to text. */
export const prose = (words) => pieces(words, []).map(({ text, space }) => (space ? " " : "") + text).join("");

export const names = (state, numbers) => numbers.map((n) => state.nodes[n].name);
export const lastStep = (state) => state.steps.length - 1;
/** The drawn edges into or out of a node. */
export const edgesAt = (state, step, gold, end, n) =>
  state.edges.filter((edge) => edge[end] === n && drawn(edge, step, gold));
const find = (list, from, to) => list.find(({ source, target }) => source === from && target === to);
/** The edge between two nodes, and the effect of its message at a step; undefined if there is none. */
export const edgeOf = ({ edges }, [source, target]) => find(edges, source, target);
export const effectOf = ({ steps }, step, { source, target }) => find(steps[step].effects, source, target);

/** The text of a span, and of the sentence in which an edge was found. */
export const spanText = (state, n, { sentence, start, end }) =>
  prose(state.nodes[n].sentences[sentence].slice(start, end));
export const clueText = (state, { source, sentence }) => prose(state.nodes[source].sentences[sentence] ?? []);

/** What happened at a step, and which nodes are visited next. */
export function stepSaid(state, step) {
  const { frontier } = state.steps[step];
  const next = frontier.length ? `Next: ${listed(names(state, frontier))}.` : "The frontier is empty.";
  if (!state.named.length) return "All nodes named in the question are excluded, so the graph has no start node.";
  if (!step) return `No node has been visited. The question names ${listed(state.named)}. ${next}`;
  const found = state.nodes.filter(({ since }) => since === step).map(({ name }) => name);
  return `Step ${step} of ${lastStep(state)}: visited ${listed(names(state, state.steps[step - 1].frontier))}; ` +
    `${found.length ? `new: ${listed(found)}` : "nothing new"}. ${next}`;
}

const AS = { hop: "as a next hop", answer: "as an answer",
  below: "as its most probable answer, although below the [CLS] threshold" };

/** A span with its type and probability. */
const pointed = (state, n, span) => `${quoted(spanText(state, n, span))} ${AS[span.as]} (${shortPercent(span.chance)})`;

/** Why an edge of the gold graph was not found. */
function notFound(state, step, { source, target }) {
  const [from, to] = names(state, [source, target]);
  const cut = state.without.some((thing) => Array.isArray(thing) && thing[0] === from && thing[1] === to);
  if (cut) return `The edge from ${from} has been removed.`;
  if (state.steps[step].visits[source] === undefined) return `It would be found from ${from}, which has not been visited.`;
  return `${from} was visited, but System 1 did not predict ${to}.`;
}

/** Why a node of the gold graph was not found. */
function missedWhy(state, step, n) {
  if (state.without.includes(state.nodes[n].name)) return "It has been excluded.";
  const edges = state.edges.filter(({ target, gold }) => target === n && gold);
  return edges.length ? edges.map((edge) => notFound(state, step, edge)).join(" ") : "The question should name it.";
}

/** A node: how it was found, and what both systems predict. */
export function nodeSaid(state, step, n) {
  const { name, missed, start, since, sentences } = state.nodes[n];
  if (missed) return `${name} is missed: it is in the gold graph, but was not found. ${missedWhy(state, step, n)}`;
  const { frontier, hops, visits, chances } = state.steps[step];
  const sources = edgesAt(state, step, false, "target", n).map(({ source }) => state.nodes[source].name);
  const from = start ? "is named in the question" : `was found in step ${since} on the page of ${listed(sources)}`;
  const page = sentences.length ? "" : ", and has no page";
  const parts = [`${name} ${from}${page}.`];
  const visit = state.visits[visits[n]];
  if (visit) {
    const clues = visit.clues.filter(([, , kept]) => kept).length;
    const spans = visit.spans.map((span) => pointed(state, n, span));
    parts.push(`It was visited with ${clues ? plural(clues, "clue") : "no clue"}.`);
    if (sentences.length) parts.push(`System 1 predicts ${spans.length ? listed(spans) : "no span in it"}.`);
  }
  if (visit && !hops.includes(n)) parts.push("It was predicted only as an answer, so it is not expanded.");
  if (frontier.includes(n)) parts.push(visit ? "It has a new clue and is visited again next." : "It is visited next.");
  if (visit && state.kind === "special") {
    const [alone, together] = chances[n];
    parts.push(Object.keys(chances).length > 1
      ? `System 2 gives it a probability of ${shortPercent(together)}; without edges, ${shortPercent(alone)}.`
      : "System 2 has no other visited node to compare it with yet.");
  }
  return parts.join(" ");
}

/** The effect of an edge's message at a step. */
export function effectSaid(state, step, edge) {
  if (edge.since === null) return "";
  if (state.kind !== "special") return "System 2 compares two nodes without the graph: there is no message passing.";
  const { answer } = state.steps[step];
  const effect = effectOf(state, step, edge);
  const target = state.nodes[edge.target].name;
  if (!effect) return `${target} has not been visited yet, so there is no message.`;
  const moves = (value, whose) => `${value < 0 ? "lowers" : "raises"} ${whose} by ${decimal(Math.abs(value))}`;
  const moved = [moves(effect.on_target, `the logit of ${target}`),
    ...(answer === null || answer === target ? [] : [moves(effect.on_answer, `that of the answer, ${answer},`)])];
  return `Compared with the same graph without this edge, its message in System 2 ${moved.join(", and ")}.`;
}

/** An edge: how it was found, and the effect of its message. */
export function edgeSaid(state, step, edge) {
  const [from, to] = [state.nodes[edge.source].name, state.nodes[edge.target].name];
  const where = `sentence ${edge.sentence + 1} of ${from}`;
  if (edge.since === null) {
    return `${from} → ${to} is missed: in the gold graph, ${where} mentions it: ${quoted(clueText(state, edge))} ` +
      notFound(state, step, edge);
  }
  const { span } = edge;
  return `${from} → ${to}: in ${where}, System 1 predicts ${pointed(state, edge.source, span)}, with a start ` +
    `logit ${signed(span.margin)} relative to [CLS]. ${effectSaid(state, step, edge)}`;
}

/** The graph compared with the gold graph at a step. */
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
    `${step < lastStep(state) ? " so far" : ""}; ${extra.length ? `${extra.length} extra: ${listed(extra)}` : "no extra node"}` +
    `${missed.length ? `; missed: ${listed(missed)}` : ""}.`;
}

/** The answer at a step. */
export function answerSaid(state, step) {
  const { answer, likeliest, chances, chance } = state.steps[step];
  const ended = step === lastStep(state);
  const alone = likeliest === null ? "System 1 alone has predicted no answer."
    : `System 1 alone would answer ${likeliest}, its most confident span.`;
  if (answer === null) {
    return `${ended ? "CogQA has no answer" : "No answer yet"}: ${state.kind === "special"
      ? "no candidate answer has been visited" : "there are no two nodes to compare"}. ${alone}`;
  }
  if (state.kind === "special") {
    const p = chances[state.nodes.findIndex(({ name }) => name === answer)][1];
    const visited = plural(Object.keys(chances).length, "visited node");
    return `CogQA answers ${answer}, with probability ${shortPercent(p)} among ${visited}. ${alone}`;
  }
  const sure = shortPercent(Math.max(chance, 1 - chance));
  return `CogQA answers ${answer}, with probability ${sure}. ${state.kind === "either-or" ? alone : ""}`.trim();
}

/** How two nodes are compared. */
export function comparedSaid(state, step) {
  const { compared, chance } = state.steps[step];
  if (compared.length < 2) return "There are no two nodes to compare yet.";
  const [one, other] = names(state, compared);
  const outcome = state.kind === "yes-no" ? "of “yes”" : `of the second, ${state.named[1]},`;
  return `System 2 compares ${one} with ${other}. Its input is the difference of their two vectors: the probability ` +
    `${outcome} is ${shortPercent(chance)}. The graph is not used here; its edges only led to these nodes.`;
}

/** The question of "Guess first", and its answer. */
export function guessOf(state) {
  const { answer } = state.steps.at(-1);
  const question = { special: "Which node will be the answer when the frontier is empty?",
    "either-or": "Which of the two will CogQA choose when the frontier is empty?",
    "yes-no": "Will the answer be yes or no when the frontier is empty?" }[state.kind];
  if (answer === null) return [question, "CogQA finds no answer."];
  const n = state.nodes.findIndex(({ name }) => name === answer);
  const edge = state.edges.find(({ target, since }) => target === n && since !== null);
  const found = edge && state.kind === "special"
    ? ` It is found on the page of ${state.nodes[edge.source].name}: ${quoted(clueText(state, edge))}` : "";
  return [question, `${answer}.${found}`];
}

/** The verdict at the end, if the correct answer is known. */
export function verdictOf({ right, steps }) {
  if (right === null) return null;
  const good = steps.at(-1).answer === right;
  return { good, text: good ? `✓ correct: ${right}` : `✗ the correct answer is ${right}` };
}
