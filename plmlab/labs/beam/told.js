// What the Beam Lab says: the finding over the tree, what a branch is and why it was kept, what was missed.

import { chance } from "../shared/softmax.js";
import { finishedBy, pathTo } from "./layout.js";
import { decimal, number, plural, powerOfTen, quoted, short } from "../shared/words.js";

const NEAR = 1e-4; // nats: one text, read in batches of two sizes, differs by less

const called = (text) => (text === "" ? "the empty text" : quoted(text));

/** A probability from its logarithm; of a rare text as a power of ten. */
export function probability(logprob) {
  const p = Math.exp(logprob);
  if (p >= 0.0001) return chance(Math.min(p, 1));
  const ten = Math.floor(logprob / Math.LN10);
  return `${Math.exp(logprob - ten * Math.LN10).toFixed(1)} · ${powerOfTen(ten)}`;
}

/** How many times likelier: e to a difference in nats. */
export const times = (difference) => short(Math.exp(difference), 2);

/** The title: greedy's text beside the beam's. */
export function finding({ width, finished, greedy, alpha }) {
  if (!finished.length) return `A beam of ${width} finished no text`;
  const [best] = finished;
  const [mine, theirs] = [`${called(greedy.text)} (${probability(greedy.total)})`,
    `${called(best.text)} (${probability(best.total)})`];
  if (best.text === greedy.text && Math.abs(best.total - greedy.total) < NEAR) {
    return `Greedy and a beam of ${width} both find ${theirs}`;
  }
  const gain = best.total - greedy.total;
  if (gain > NEAR) return `Greedy writes ${mine}; a beam of ${width} finds ${theirs}, ${times(gain)} times as likely`;
  const why = alpha > 0 ? `the length penalty makes a beam of ${width} prefer` : `a beam of ${width} loses it and finds`;
  return `Greedy writes ${mine}; ${why} ${theirs}, ${times(-gain)} times less likely`;
}

/** Of the world, beside a probability of the model. */
const worldSaid = (world, branch) =>
  (!world ? "" : branch.world === null ? "; the world: not in the grammar" : `; the world gives it ${chance(branch.world)}`);

/** Why a branch stayed or went. */
function fateSaid({ width, length }, { fate, reason, rank }) {
  const place = `rank ${rank} of this step`;
  if (fate === "open") {
    return rank <= width ? `Kept: ${place}, and ${width} may stay open.`
      : `Kept: ${place}, and still among the ${width} open ones, since ends before it take no place.`;
  }
  if (fate === "finished") {
    return reason === "end" ? `Finished: its end has ${place}, and counts among the first ${width}.`
      : `Finished: ${place}, and cut, for it has the ${plural(length, "token")} that may be written.`;
  }
  const why = {
    rank: `${place}, and only ${width} may stay open`,
    late: `its end has ${place}, and only one among the first ${width} counts`,
    hope: `${place}, but the search is over: no open text can still beat the ${width} finished ones`,
  }[reason];
  return `Pruned: ${why}.`;
}

/** What the pointer is on, and why: one branch in words. */
export function branchSaid(state, at, { asks = true } = {}) {
  const path = pathTo(state.columns, at);
  const branch = path.at(-1);
  const before = path.at(-2);
  const after = path.slice(0, -1).map(({ token }) => token).join(" ");
  const score = state.alpha > 0 ? `, score ${decimal(branch.score)}` : ", which is its score too";
  const rose = before && state.alpha > 0 && branch.score > before.score + 1e-9
    ? ` Its probability fell (${decimal(before.total)} → ${decimal(branch.total)} nats) and yet its score rose ` +
      `(${decimal(before.score)} → ${decimal(branch.score)}): it is one token longer, and the length penalty divides by more.` : "";
  const parts = branch.best && !branch.greedy && (before?.greedy ?? true) && state.greedy.tokens[at.step]
    ? ` Here the way to the beam’s best text leaves greedy’s, which takes ${quoted(state.greedy.tokens[at.step].token)}.` : "";
  const unfold = asks && branch.fate === "pruned" ? " Press Enter, or click, to see what it would have become." : "";
  return `${quoted(branch.token)} after ${called(after || state.text || "[START]")}: the model gives it ` +
    `${chance(branch.p)}${worldSaid(state.world, branch)}. The whole has ${probability(branch.total)} (${decimal(branch.total)} nats${score}). ` +
    `${fateSaid(state, branch)}${parts}${rose}${unfold}`;
}

/** What a pruned branch would have become, and whether that beats the beam's best. */
export function unfoldedSaid(state, unfolded) {
  const [best] = state.finished;
  const grown = `Gone on with greedily, it would have become ${called(unfolded.text)}${unfolded.cut ? " (cut)" : ""}: ` +
    `${decimal(unfolded.total)} nats, score ${decimal(unfolded.score)}.`;
  if (!best) return grown;
  const gain = unfolded.score - best.score;
  if (Math.abs(gain) < NEAR) return `${grown} That is as good as the beam’s best.`;
  return gain > 0 ? `${grown} It would have beaten the beam’s ${called(best.text)} (${decimal(best.score)}): pruning lost it.`
    : `${grown} The beam’s ${called(best.text)} (${decimal(best.score)}) beats it: nothing was lost.`;
}

/** Where the length penalty ranks a less likely text before a likelier one; "" where it does not. */
export function risingSaid({ columns, width, alpha }, shown) {
  const found = finishedBy(columns, shown, width).map(({ whole }) => whole);
  for (let i = 1; i < found.length; i++) {
    const [first, second] = [found[i - 1], found[i]];
    if (first.total < second.total - NEAR) {
      return `${called(first.text)} is less likely than ${called(second.text)} (${decimal(first.total)} against ${decimal(second.total)} nats), ` +
        `and yet scores higher (${decimal(first.score)} against ${decimal(second.score)}): of ${first.count} tokens against ` +
        `${second.count}, its log-probability is divided by more (α = ${alpha}).`;
    }
  }
  return "";
}

/** What a score is. */
export function scoreSaid({ alpha, read }) {
  const own = read ? `The ${plural(read, "token")} of the beginning ${read === 1 ? "does" : "do"} not count. ` : "";
  const now = alpha > 0 ? `Here α = ${alpha}.` : "Here α = 0, so that a score is the log-probability.";
  return `score = log-probability ÷ ((5 + n) ÷ 6)^α, where n is the number of tokens written, [END] included. ${own}${now}`;
}

/** The misses by name: [{ name, kind, said }]; kind is "miss", "none" or "unknown". */
export function missesSaid(state, pinned) {
  const { model, world } = pinned;
  const [best] = state.finished;
  const search = pinned.search_error === null
    ? { kind: "unknown", said: model ? "the beam has finished no text" : `not told: the exact search would have to keep more than ${number(pinned.limit)} prefixes open` }
    : pinned.search_error
      ? { kind: "miss", said: `the model holds a better text than the beam found: ${called(model.text)}, ${times(model.total - best.total)} times as likely` }
      : { kind: "none", said: pinned.preferred
        ? "the model’s likeliest text scores no higher than the beam’s: the length penalty prefers the latter"
        : "the beam found the model’s likeliest text" };
  const alone = state.alpha > 0 && search.kind === "none"
    ? " Only that text is compared: another may still score higher, for the exact search knows no penalty." : "";
  const empty = model && model.text === "" ? " The likeliest is the empty one." : "";
  const found = [{ name: "Search error", ...search, said: `${search.said}.${empty}${alone}` }];
  if (state.world && !state.left) {
    const error = pinned.model_error === null
      ? { kind: "unknown", said: "not told: the model’s likeliest text is not known, or was cut" }
      : pinned.model_error
        ? { kind: "miss", said: model.world === null
          ? "the model’s own best is no sentence of the world"
          : `the model’s own best is not the world’s: there ${called(world.text)} is ${times(world.total - model.world)} times as likely` }
        : { kind: "none", said: "the world knows no likelier sentence than the model’s best" };
    found.push({ name: "Model error", ...error, said: `${error.said}${world.long ? " (too long for this lab to write)" : ""}.` });
  }
  return found;
}

/** The answer to the question whether a wider beam can be worse, from what each width finds here. */
export function widerSaid(pinned) {
  const general = "It can: a text that a narrow beam keeps may be crowded out by beginnings that are likelier and come " +
    "to nothing.";
  const widths = (pinned.widths ?? []).filter(({ text }) => text !== null);
  const fall = widths.findIndex((one, i) => i > 0 && one.score < widths[i - 1].score - NEAR);
  if (fall < 0) return `${general} Here it does not happen at any width from 1 to 10.`;
  const [narrow, wide] = [widths[fall - 1], widths[fall]];
  return `${general} Here a beam of ${narrow.width} finds ${called(narrow.text)} (score ${decimal(narrow.score)}), and one ` +
    `of ${wide.width} only ${called(wide.text)} (${decimal(wide.score)}).`;
}
