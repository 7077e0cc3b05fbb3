// Texts of the Memory Lab: the status of a position, the path that information takes, the prediction.

import { fill } from "../shared/lab.js";
import { chance } from "../shared/softmax.js";
import { TERMS } from "../shared/terms.js";
import { plural } from "../shared/words.js";

export const ZONES = { forgotten: "forgotten", memory: "in the memory", segment: "current segment", later: "later" };
export const WAYS = {
  "": "unchanged",
  ...Object.fromEntries(TERMS.map(({ key, letter, title }) => [key, `without (${letter}), ${title}`])),
  unshifted: "distances not shifted by the memory",
};
export const CLICKS = {
  ask: "makes it the query", before: "masks everything before it", position: "masks it out",
  segment: "masks its segment out",
};
const MOVED = 0.05;
const KNOWS = 0.5;

const plain = (text) => ({ text, role: "" });
const quoted = (text, role) => [plain("“"), { text, role }, plain("”")];

/** Whether anything is masked out or removed. */
export const isChanged = (state) => state.without !== "" || state.cut.some(Boolean);

/** Whether a position is masked out for the segment of the query position. */
export const isCut = (state, position) => Boolean(state.cut[position - state.oldest]) && position !== state.position;

/** Positions on the shortest path from a position to the query position, both included; [] if there is none. */
export function way({ reach, position }, from) {
  if (reach.level[from] < 0) return [];
  const path = [from];
  while (path.at(-1) !== position) path.push(reach.via[path.at(-1)]);
  return path;
}

/** Whether information from a key can reach a layer of the query position, and along which path, as text pieces. */
export function reachSaid(state, layer, key) {
  const level = state.reach.level[key];
  const query = quoted(state.names[state.position], "query");
  const other = quoted(state.names[key], "key");
  if (level === 0) return [plain(`Layer ${layer} of `), ...query, plain(" has its own word in its input.")];
  if (key > state.position) return [...other, plain(" comes later: it is not in the receptive field of any layer.")];
  if (level < 0 || level > layer + 1) {
    const from = level < 0 ? "" : `; layer ${level - 1} is the first that it can reach`;
    return [...other, plain(` cannot reach layer ${layer} of `), ...query, plain(
      `: no path of ${plural(layer + 1, "layer")} leads there${from}.`)];
  }
  const stops = way(state, key).reverse();
  const steps = stops.slice(1).flatMap((stop, i) => {
    const [at, last] = [level - 1 - i, i === level - 1];
    const attending = i === 0 ? query : quoted(state.names[stops[i]], "");
    const seen = last ? other : quoted(state.names[stop], "");
    return [plain(i ? ", where " : ""), ...attending, plain(` ${i ? "attended" : "attends"} to `), ...seen,
      plain(` in layer ${at}`)];
  });
  const lost = state.reach.cut[key] !== level
    ? [plain(state.reach.cut[key] < 0 ? " Your masking blocks every path."
      : ` Your masking leaves a longer path, to layer ${state.reach.cut[key] - 1}.`)] : [];
  return [...other, plain(` can reach layer ${layer} of `), ...query, plain(": "), ...steps, plain("."), ...lost];
}

/** Why the query position can or cannot attend to a key, and whether that key is masked out, as text pieces. */
export function reasonSaid(state, key) {
  if (key === state.position) {
    const next = state.given ? "the next word of the text is"
      : "nothing follows it in the text, and the model’s most probable word is";
    return [...quoted(state.names[key], "query"), plain(` is the query position: ${next} “${state.word}”.`)];
  }
  const names = { query: `“${state.names[state.position]}”`, key: `“${state.names[key]}”`,
    steps: Math.abs(state.position - key) };
  const pieces = fill(state.sentences[state.rule_ids[key]], names);
  const distance = key < state.position ? [plain(` It is ${plural(state.position - key, "position")} back.`)] : [];
  const cut = isCut(state, key)
    ? [plain(" You masked it out: no position of this segment attends to it.")] : [];
  return [...pieces, ...distance, ...cut];
}

/** The range that was masked out to measure the effect of a position, [first, end, p]; undefined if there is none. */
export const effectOf = ({ effects }, key) => effects.positions.find(([first, end]) => key >= first && key < end);

/** The attention weights on a position and the effect of masking it out, as text pieces; `looks` are [layer, weight],
    `whose` names the head. */
export function weightSaid(state, key, looks, whose) {
  const effect = effectOf(state, key);
  if (!looks.length || !effect) return [];
  const [first, end, p] = effect;
  const which = end - first > 1 ? `positions ${first} to ${end - 1} (as a group)` : "it";
  const weights = looks.map(([layer, weight]) => `${weight.toFixed(2)} in layer ${layer}`).join(", ");
  return [plain(` Attention weight: ${weights} (${whose}). Masking ${which} out changes p(“${state.word}”) from ${
    chance(state.answers[0].p)} to ${chance(p)}.`)];
}

/** The prediction, and how the target's probability changes. */
export function answerSaid(state) {
  const [now, then] = state.answers;
  const firstOf = (answer) => answer.likeliest[0][0];
  if (!isChanged(state)) {
    const instead = now.rank === 1 ? "" : `; its top prediction is “${firstOf(now)}”`;
    return `The model assigns “${state.word}” probability ${chance(now.p)} (rank ${now.rank})${instead}.`;
  }
  const moved = then.p - now.p;
  const numbers = `from ${chance(now.p)} to ${chance(then.p)}`;
  if (now.p >= KNOWS && then.rank > 1) {
    return `The answer is lost: p(“${state.word}”) falls ${numbers}; the model predicts “${firstOf(then)}” instead.`;
  }
  if (Math.abs(moved) < MOVED) return `Little changes: p(“${state.word}”) goes ${numbers}.`;
  const after = then.rank === 1 ? "it is the top prediction" : `the top prediction is “${firstOf(then)}”`;
  return `p(“${state.word}”) ${moved > 0 ? "rises" : "falls"} ${numbers}; ${after}.`;
}

/** The current changes, in a few words. */
export function changeSaid(state, cuts) {
  const parts = cuts.map(([first, end]) => {
    if (end - first === 1) return `“${state.names[first] ?? `position ${first}`}” masked out`;
    return `${first === 0 ? `all before position ${end}` : `positions ${first} to ${end - 1}`} masked out`;
  });
  if (state.without) parts.push(WAYS[state.without]);
  return parts.join("; ");
}

/** The cuts after a click on a position: everything before it (replacing another such cut), the position, or its
    segment. A cut that exists already is removed. */
export function cutsWith(cuts, click, key, segment) {
  const begin = Math.floor(key / segment) * segment;
  const clicked = { before: [0, key], position: [key, key + 1], segment: [begin, begin + segment] }[click];
  const same = (cut) => cut[0] === clicked[0] && cut[1] === clicked[1];
  if (cuts.some(same)) return cuts.filter((cut) => !same(cut));
  if (clicked[1] <= clicked[0]) return cuts;
  const others = click === "before" ? cuts.filter(([first, end]) => !(first === 0 && end > 1)) : cuts;
  return [...others, clicked];
}

/** The tally over many questions, in a sentence or two; "" if there is none. */
export function tallySaid(tally) {
  if (!tally?.places) return "";
  const share = ([right, of]) => `${right} of ${plural(of, "question")}`;
  const { segment, memory, beyond } = tally.places;
  const places = [["in the current segment", segment], ["in the memory", memory], ["beyond it", beyond]]
    .filter(([, [, of]]) => of).map(([place, counts]) => `${share(counts)} with the fact ${place}`);
  const [before, then, of] = tally.cut;
  const indirect = then >= before / 5 && then > 0
    ? " Positions in the memory that attended to the word also carry the information." : "";
  const cut = of ? ` Among ${of} questions within one segment and with the fact in the memory, ${before
  } are answered correctly, and ${then} once every occurrence of the word is masked out.${indirect}` : "";
  return `One text proves nothing. Over all questions of the given texts, the correct word is the top prediction for ${
    places.join(", ")}.${cut}`;
}
