// What the Memory Lab says in words: of a position and what became of it, of the way that information took, of an answer.

import { fill } from "../shared/lab.js";
import { chance } from "../shared/softmax.js";
import { TERMS } from "../shared/terms.js";
import { plural } from "../shared/words.js";

export const ZONES = { forgotten: "forgotten", memory: "in the memory", segment: "own segment", later: "later" };
export const WAYS = {
  "": "as it is",
  ...Object.fromEntries(TERMS.map(({ key, letter, title }) => [key, `without (${letter}), ${title}`])),
  unshifted: "distances not shifted by the memory",
};
export const CLICKS = {
  ask: "asks there", before: "cuts all before it", position: "cuts it out", segment: "cuts its segment out",
};
const MOVED = 0.05;
const KNOWS = 0.5;

const plain = (text) => ({ text, role: "" });
const quoted = (text, role) => [plain("“"), { text, role }, plain("”")];

/** Whether anything is cut or away. */
export const isChanged = (state) => state.without !== "" || state.cut.some(Boolean);

/** Whether a position of the text is cut out of what the asked position's segment reads. */
export const isCut = (state, position) => Boolean(state.cut[position - state.oldest]) && position !== state.position;

/** The positions of the shortest way from a position to the asked one, both included; [] where there is none. */
export function way({ reach, position }, from) {
  if (reach.level[from] < 0) return [];
  const found = [from];
  while (found.at(-1) !== position) found.push(reach.via[found.at(-1)]);
  return found;
}

/** What a layer of the asked position can have heard of another position, and by which way, as pieces. */
export function reachSaid(state, layer, key) {
  const level = state.reach.level[key];
  const query = quoted(state.names[state.position], "query");
  const other = quoted(state.names[key], "key");
  if (level === 0) return [plain(`Layer ${layer} of `), ...query, plain(" knows its own word, from below.")];
  if (key > state.position) return [...other, plain(" comes later: no layer has heard of it.")];
  if (level < 0 || level > layer + 1) {
    const from = level < 0 ? "" : `; layer ${level - 1} is the first that can`;
    return [plain(`Layer ${layer} of `), ...query, plain(" cannot have heard of "), ...other, plain(
      `: in ${plural(layer + 1, "layer")} no way leads from there${from}.`)];
  }
  const stops = way(state, key).reverse();
  const steps = stops.slice(1).flatMap((stop, i) => {
    const [at, last] = [level - 1 - i, i === level - 1];
    const looker = i === 0 ? query : quoted(state.names[stops[i]], "");
    const seen = last ? other : quoted(state.names[stop], "");
    return [plain(i ? ", where " : ""), ...looker, plain(` ${i ? "had looked" : "looks"} at `), ...seen,
      plain(` in layer ${at}`)];
  });
  const lost = state.reach.cut[key] !== level
    ? [plain(state.reach.cut[key] < 0 ? " What you cut closes every way."
      : ` What you cut leaves a longer way, to layer ${state.reach.cut[key] - 1}.`)] : [];
  return [plain(`Layer ${layer} of `), ...query, plain(" can have heard of "), ...other, plain(": "), ...steps,
    plain("."), ...lost];
}

/** Why the asked position may look at another one, or may not; whether that is cut; as pieces. */
export function reasonSaid(state, key) {
  if (key === state.position) {
    const next = state.given ? "the next word of the text is"
      : "nothing follows it in the text, and the model’s likeliest word is";
    return [...quoted(state.names[key], "query"), plain(` is asked: ${next} “${state.word}”.`)];
  }
  const names = { query: `“${state.names[state.position]}”`, key: `“${state.names[key]}”`,
    steps: Math.abs(state.position - key) };
  const pieces = fill(state.sentences[state.rule_ids[key]], names);
  const distance = key < state.position ? [plain(` It stands ${plural(state.position - key, "position")} before.`)] : [];
  const cut = isCut(state, key)
    ? [plain(" You cut it out: when this segment is read, nobody looks at it.")] : [];
  return [...pieces, ...distance, ...cut];
}

/** The positions that were cut out together with a position to see what they matter, [first, end, p]; undefined for none. */
export const effectOf = ({ effects }, key) => effects.positions.find(([first, end]) => key >= first && key < end);

/** How strongly a position is looked at, and what its loss does, as pieces; `looks` are [layer, weight], and `whose` they
    are is told in words. */
export function weightSaid(state, key, looks, whose) {
  const effect = effectOf(state, key);
  if (!looks.length || !effect) return [];
  const [first, end, p] = effect;
  const which = end - first > 1 ? `positions ${first} to ${end - 1} (cut together)` : "it";
  const weights = looks.map(([layer, weight]) => `${weight.toFixed(2)} in layer ${layer}`).join(", ");
  return [plain(` It is looked at with a weight of ${weights} (${whose}). With ${which} cut out, “${state.word}” has ${
    chance(p)} instead of ${chance(state.answers[0].p)}.`)];
}

/** Which answer fails: what becomes of the word that is asked for. */
export function answerSaid(state) {
  const [now, then] = state.answers;
  const firstOf = (answer) => answer.likeliest[0][0];
  const rank = now.rank === 1 ? "its first word" : `its word number ${now.rank}`;
  if (!isChanged(state)) {
    const instead = now.rank === 1 ? "" : `; it says “${firstOf(now)}” first`;
    return `The model gives “${state.word}” ${chance(now.p)}: ${rank}${instead}.`;
  }
  const moved = then.p - now.p;
  const numbers = `from ${chance(now.p)} to ${chance(then.p)}`;
  if (now.p >= KNOWS && then.rank > 1) {
    return `The answer fails: “${state.word}” falls ${numbers}, and the model says “${firstOf(then)}” instead.`;
  }
  if (Math.abs(moved) < MOVED) return `The answer stands: “${state.word}” goes ${numbers}.`;
  const after = then.rank === 1 ? "it still comes first" : `the model says “${firstOf(then)}” first`;
  return `“${state.word}” ${moved > 0 ? "rises" : "falls"} ${numbers}; ${after}.`;
}

/** What is changed now, in a few words. */
export function changeSaid(state, cuts) {
  const parts = cuts.map(([first, end]) => {
    if (end - first === 1) return `“${state.names[first] ??}`position ${first}`}” cut out`;
    return first === 0 ? `all before position ${end} dropped` : `positions ${first} to ${end - 1} cut out`;
  });
  if (state.without) parts.push(WAYS[state.without]);
  return parts.join("; ");
}

/** The cuts after a click on a position: all before it (in the place of another such cut), the position, or its segment; what
    is cut already is mended. */
export function cutsWith(cuts, click, key, segment) {
  const begin = Math.floor(key / segment) * segment;
  const fresh = { before: [0, key], position: [key, key + 1], segment: [begin, begin + segment] }[click];
  const same = (one) => one[0] === fresh[0] && one[1] === fresh[1];
  if (cuts.some(same)) return cuts.filter((one) => !same(one));
  if (fresh[1] <= fresh[0]) return cuts;
  const kept = click === "before" ? cuts.filter(([first, end]) => !(first === 0 && end > 1)) : cuts;
  return [...kept, fresh];
}

/** The tally over many questions, in a sentence or two; "" where there is none. */
export function tallySaid(tally) {
  if (!tally?.places) return "";
  const share = ([right, of]) => `${right} of ${of}`;
  const { segment, memory, beyond } = tally.places;
  const places = [["in the own segment", segment], ["in the memory", memory], ["beyond it", beyond]]
    .filter(([, [, of]]) => of).map(([place, one]) => `${share(one)} with the fact ${place}`);
  const [before, then, of] = tally.cut;
  const kept = then >= before / 5 && then > 0 ? " What other positions had read of it is remembered too." : "";
  const cut = of ? ` Of ${of} with the fact in the memory, asked within one segment, ${before} are right, and ${then
  } once each position of that word is cut out.${kept}` : "";
  return `One text proves nothing. Over all questions of the texts at hand, the right word comes first in ${
    places.join(", ")}.${cut}`;
}
