// The sentences of the Beam Lab: the finding, a branch and why it was kept or pruned, search and model errors.

import { chance } from "../shared/softmax.js";
import { finishedBy, pathTo } from "./layout.js";
import { decimal, number, plural, powerOfTen, quoted, short } from "../shared/words.js";

const NEAR = 1e-4; // nats: tolerance for the same text in batches of different sizes

const called = (text) => (text === "" ? "the empty text" : quoted(text));

/** A probability from its logarithm; a small one as a power of ten. */
export function probability(logprob) {
  const p = Math.exp(logprob);
  if (p >= 0.0001) return chance(Math.min(p, 1));
  const ten = Math.floor(logprob / Math.LN10);
  return `${Math.exp(logprob - ten * Math.LN10).toFixed(1)} · ${powerOfTen(ten)}`;
}

/** The ratio of two probabilities: e to a difference in nats. */
export const times = (difference) => short(Math.exp(difference), 2);

/** The title: greedy's text beside the beam's. */
export function finding({ width, finished, greedy, alpha }) {
  if (!finished.length) return `A beam of ${width} finished no hypothesis`;
  const [best] = finished;
  const [mine, theirs] = [`${called(greedy.text)} (${probability(greedy.total)})`,
    `${called(best.text)} (${probability(best.total)})`];
  if (best.text === greedy.text && Math.abs(best.total - greedy.total) < NEAR) {
    return `Greedy decoding and a beam of ${width} both find ${theirs}`;
  }
  const gain = best.total - greedy.total;
  if (gain > NEAR) return `Greedy decoding finds ${mine}; a beam of ${width} finds ${theirs}, ${times(gain)} times as likely`;
  const why = alpha > 0 ? `the length penalty makes a beam of ${width} prefer` : `a beam of ${width} prunes it and finds`;
  return `Greedy decoding finds ${mine}; ${why} ${theirs}, which is ${times(-gain)} times less likely`;
}

/** The world's probability, next to the model's. */
const worldSaid = (world, branch) =>
  (!world ? "" : branch.world === null ? "; not in the world’s grammar" : `; the world’s is ${chance(branch.world)}`);

/** Why a branch was kept, finished or pruned. */
function fateSaid({ width, length }, { fate, reason, rank }) {
  const place = `rank ${rank} in this step`;
  if (fate === "open") {
    return rank <= width ? `Kept: ${place}, within the beam width of ${width}.`
      : `Kept: ${place}, and still among the best ${width} open hypotheses, because finished ones do not count.`;
  }
  if (fate === "finished") {
    return reason === "end" ? `Finished: [END] has ${place}, within the first ${width}.`
      : `Finished: ${place}, and cut at the maximum length of ${plural(length, "token")}.`;
  }
  const why = {
    rank: `${place}, and only ${width} stay open`,
    late: `[END] has ${place}, and only an [END] within the first ${width} counts`,
    hope: `${place}, but the search has ended: no open hypothesis can beat the ${width} finished ones`,
  }[reason];
  return `Pruned: ${why}.`;
}

/** One branch in words: its probabilities, and why it was kept or pruned. */
export function branchSaid(state, at, { asks = true } = {}) {
  const path = pathTo(state.columns, at);
  const branch = path.at(-1);
  const before = path.at(-2);
  const after = path.slice(0, -1).map(({ token }) => token).join(" ");
  const score = state.alpha > 0 ? `, score ${decimal(branch.score)}` : ", which is also its score";
  const rose = before && state.alpha > 0 && branch.score > before.score + 1e-9
    ? ` Its log-probability fell (${decimal(before.total)} → ${decimal(branch.total)} nats), but its score rose ` +
      `(${decimal(before.score)} → ${decimal(branch.score)}): it is one token longer, so the length penalty divides it by a larger number.` : "";
  const parts = branch.best && !branch.greedy && (before?.greedy ?? true) && state.greedy.tokens[at.step]
    ? ` Here the beam’s best text diverges from the greedy path, which continues with ${quoted(state.greedy.tokens[at.step].token)}.` : "";
  const unfold = asks && branch.fate === "pruned" ? " Press Enter, or click, to see how it would have continued." : "";
  return `${quoted(branch.token)} after ${called(after || state.text || "[START]")}: probability ` +
    `${chance(branch.p)}${worldSaid(state.world, branch)}. The whole hypothesis has probability ${probability(branch.total)} (${decimal(branch.total)} nats${score}). ` +
    `${fateSaid(state, branch)}${parts}${rose}${unfold}`;
}

/** The greedy continuation of a pruned branch, and whether it beats the beam's best. */
export function unfoldedSaid(state, unfolded) {
  const [best] = state.finished;
  const grown = `Continued greedily, it becomes ${called(unfolded.text)}${unfolded.cut ? " (cut)" : ""}: ` +
    `${decimal(unfolded.total)} nats, score ${decimal(unfolded.score)}.`;
  if (!best) return grown;
  const gain = unfolded.score - best.score;
  if (Math.abs(gain) < NEAR) return `${grown} It equals the beam’s best.`;
  return gain > 0 ? `${grown} It would have beaten the beam’s ${called(best.text)} (${decimal(best.score)}): pruning lost it.`
    : `${grown} The beam’s ${called(best.text)} (${decimal(best.score)}) scores higher: nothing was lost.`;
}

/** Where the length penalty ranks a less likely text above a more likely one; "" if nowhere. */
export function risingSaid({ columns, width, alpha }, shown) {
  const found = finishedBy(columns, shown, width).map(({ whole }) => whole);
  for (let i = 1; i < found.length; i++) {
    const [first, second] = [found[i - 1], found[i]];
    if (first.total < second.total - NEAR) {
      return `${called(first.text)} is less likely than ${called(second.text)} (${decimal(first.total)} against ${decimal(second.total)} nats), ` +
        `but scores higher (${decimal(first.score)} against ${decimal(second.score)}): with ${first.count} tokens against ` +
        `${second.count}, its log-probability is divided by more (α = ${alpha}).`;
    }
  }
  return "";
}

/** The definition of the score. */
export function scoreSaid({ alpha, read }) {
  const own = read ? `The ${plural(read, "token")} of the prompt ${read === 1 ? "does" : "do"} not count. ` : "";
  const now = alpha > 0 ? `Here α = ${alpha}.` : "Here α = 0, so the score is the log-probability.";
  return `score = log-probability ÷ ((5 + n) ÷ 6)^α, where n is the number of generated tokens, [END] included. ${own}${now}`;
}

/** The errors by name: [{ name, kind, said }]; kind is "miss", "none" or "unknown". */
export function missesSaid(state, pinned) {
  const { model, world } = pinned;
  const [best] = state.finished;
  const search = pinned.search_error === null
    ? { kind: "unknown", said: model ? "the beam finished no hypothesis" : `unknown, because exact search would have to keep more than ${number(pinned.limit)} prefixes open` }
    : pinned.search_error
      ? { kind: "miss", said: `the beam missed a better text: ${called(model.text)}, ${times(model.total - best.total)} times as likely` }
      : { kind: "none", said: pinned.preferred
        ? "the model’s most likely text scores no higher than the beam’s, which the length penalty prefers"
        : "the beam found the model’s most likely text" };
  const alone = state.alpha > 0 && search.kind === "none"
    ? " Only that text is compared; another may still score higher, because exact search ignores the length penalty." : "";
  const empty = model && model.text === "" ? " The model’s most likely text is the empty one." : "";
  const found = [{ name: "Search error", ...search, said: `${search.said}.${empty}${alone}` }];
  if (state.world && !state.left) {
    const error = pinned.model_error === null
      ? { kind: "unknown", said: "unknown, because the model’s most likely text was not found, or was cut" }
      : pinned.model_error
        ? { kind: "miss", said: model.world === null
          ? "the model’s most likely text is not a sentence of the world"
          : `the model’s most likely text is not the world’s: in the world, ${called(world.text)} is ${times(world.total - model.world)} times as likely` }
        : { kind: "none", said: "no sentence of the world is more likely than the model’s most likely text" };
    found.push({ name: "Model error", ...error, said: `${error.said}${world.long ? " (too long for this lab to generate)" : ""}.` });
  }
  return found;
}

/** The answer to the question whether a wider beam can be worse, from the results of all widths. */
export function widerSaid(pinned) {
  const general = "Yes: a hypothesis that a narrow beam keeps may be crowded out by prefixes that are more likely but " +
    "have no likely continuation.";
  const widths = (pinned.widths ?? []).filter(({ text }) => text !== null);
  const fall = widths.findIndex((one, i) => i > 0 && one.score < widths[i - 1].score - NEAR);
  if (fall < 0) return `${general} Here it does not happen for any width from 1 to 10.`;
  const [narrow, wide] = [widths[fall - 1], widths[fall]];
  return `${general} Here a beam of ${narrow.width} finds ${called(narrow.text)} (score ${decimal(narrow.score)}), but a ` +
    `beam of ${wide.width} only ${called(wide.text)} (${decimal(wide.score)}).`;
}
