// The Layer Lab: a word in two sentences, layer by layer; its neighbours under a scalar mix; its characters.

import { cosinesOf } from "./cosines.js";
import { historyOf, remembered } from "./history.js";
import { bySense, cosines, mixed, nearestKinds, nearness, pairsOf, questionsOf, scoresAt, storeOf, strangersAt,
  vectorsOf }
  from "./maths.js";
import { neighboursOf, scoresOf } from "./neighbours.js";
import { sentencesOf } from "./sentences.js";
import { spellingOf } from "./spelling.js";
import { MIX_QUESTION, codesSaid, contextFinding, mixAnswer, mixFinding, mixRest, mixSaid, restSaid, senseAnswer,
  senseQuestion, spellingFinding } from "./messages.js";
import { scale, triangleOf } from "./triangle.js";
import { presetBar, presetButtons, textField } from "../shared/controls.js";
import { eachFrame, el, keepingFocus } from "../shared/dom.js";
import { guess, lab, observe, setter, tell } from "../shared/lab.js";
import { quoted } from "../shared/words.js";

const KINDS = 9;
const SLICE = 4;
const MIXES = [["layer 0 alone", [1, 0, 0]], ["layer 1 alone", [0, 1, 0]], ["layer 2 alone", [0, 0, 1]],
  ["mean", [1 / 3, 1 / 3, 1 / 3]]];
const LITTLE = [0.98, 0.02, 0];

/** A status line that describes what the pointer is on, or shows a default text. */
function speaker() {
  let rest = "";
  const node = el("p", { class: "why", role: "status", "aria-live": "polite" });
  return { node, say: (text) => { node.textContent = text || rest; }, rest(text) {
    rest = text;
    node.textContent = text;
  } };
}

export default lab({
  title: "One word, many vectors: what is in which layer?",
  lead: "ELMo computes three vectors for each word. Layer 0 is computed from its characters, without context; layers " +
    "1 and 2 each combine a forward and a backward LSTM over the sentence. Click another word, type other sentences, or drag the " +
    "layer weights.",
}, ({ model, signal, parts }) => {
  parts.node.classList.add("layers");
  const get = (name) => model.get(name);
  const set = setter(model);
  const { presets, tasks, spellings } = get("menu");
  const store = storeOf(get("store"));
  const view = { sense: { open: null }, mix: { open: null }, history: [], sentences: [], places: [], built: false };
  const [context, mix, spelled] = [speaker(), speaker(), speaker()];
  const head = () => el("h4", { class: "finding" });
  const titles = { context: head(), mix: head(), spelled: head() };
  const place = Object.fromEntries(["sentences", "cosines", "ask", "history", "near", "whose", "mixAsk", "spelling"]
    .map((name) => [name, el("div", { class: `${name}-place` })]));

  const first = textField(model, "the first sentence", signal);
  const second = textField(model, "the second sentence", signal, { trait: "second" });
  const tries = presetBar(model, presets, (preset) => {
    [first.text, second.text] = [preset.text, preset.second];
    return preset;
  });
  parts.controls.prepend(el("div", { class: "bar" }, first, second), tries);

  const pairs = pairsOf(store);
  const questions = questionsOf(store);
  const known = (shares) => store.points.find((point) =>
    shares.every((share, i) => Math.abs(share - point.shares[i]) < 1e-6));
  /** The four accuracies; null as long as the dot products that they need are not computed. */
  const scoresFor = (shares) => known(shares) ?? (pairs.step(0) ? scoresAt(pairs, questions, shares) : null);

  const chosen = () => get("chosen");
  const placesNow = () => view.places;
  /** Whether the drawn sentences are those last requested; until then, new word indices do not belong to them. */
  const answered = () => JSON.stringify(get("state").read) === JSON.stringify([get("text"), get("second")]);
  const wordsNow = () => view.sentences.map(({ words }, i) => words[placesNow()[i]]);
  const renew = (where, content) => keepingFocus(where, () => where.replaceChildren(content));

  const ask = (places, more = {}) => {
    view.places = places;
    tell(model, { places, ...more });
    dirty.add("places");
    flush();
  };
  const takeContext = () => {
    const { sentences } = view;
    const places = placesNow();
    const [one, other] = wordsNow();
    const found = cosines(sentences[0].made, places[0], sentences[1].made, places[1]);
    titles.context.textContent = contextFinding(one, other, found);
    renew(place.sentences, sentencesOf({ sentences, places, say: context.say,
      onPlaces: (next, i) => ask(next, { chosen: i }) }));
    place.cosines.replaceChildren(cosinesOf({ one, other, found, strangers: store.strangers, say: context.say }));
    context.rest(restSaid(one, other, found, store.strangers));
    const texts = sentences.map(({ words }) => words.join(" "));
    view.history = remembered(view.history, { texts, places, words: [one, other], found });
    const here = (state) => String(state.texts) === String(texts);
    renew(place.history, historyOf({ history: view.history, may: (state) => here(state) || !get("alone"),
      onBack: ({ texts: [text, next], places: back }) => {
        if (here({ texts: [text, next] })) return ask(back);
        [first.text, second.text] = [text, next];
        return tell(model, { text, second: next, places: back });
      } }));
    const sense = sentences[0].senses[places[0]];
    const alike = sense && bySense(store, sentences[0].made, places[0], { word: one, text: texts[0],
      sense: store.senses.indexOf(sense), pattern: store.patterns.indexOf(sentences[0].pattern) });
    place.ask.replaceChildren(...(alike?.same && alike.another
      ? [guess(view.sense, senseQuestion(one, sense), senseAnswer(alike, store.strangers), `sense ${texts[0]}`)] : []));
  };

  const triangle = triangleOf({ points: store.points, tasks, say: mix.say, onMix: (shares) => set({ shares }) });
  const tally = scoresOf({ chance: store.chance, counted: store.counted, onScore: (score) => set({ score }) });
  const mixes = el("div", { class: "presets mixes" }, ...[...MIXES, ...tasks.map(({ name, shares }) => [name, shares])]
    .map(([name, shares]) =>
      el("button", { type: "button", class: "preset", on: { click: () => set({ shares }) } }, name)));
  const amounts = el("p", { class: "amounts" });

  let strange = { shares: "", cosine: 0 };
  /** Mean cosine of different words under a scalar mix, cached until its weights change. */
  const strangersNow = (shares) => {
    const key = String(shares);
    if (strange.shares !== key) strange = { shares: key, cosine: strangersAt(store.known, shares) };
    return strange.cosine;
  };
  const takeNear = () => {
    const { sentences } = view;
    const [shares, i] = [get("shares"), chosen()];
    const [at, words] = [placesNow()[i], sentences[i].words];
    const scores = nearness(store.known, mixed(sentences[i].made, at, shares), shares);
    place.near.replaceChildren(neighboursOf({ store, strangers: strangersNow(shares), say: mix.say,
      asked: { word: words[at], sense: sentences[i].senses[at] }, near: nearestKinds(store, scores, words, KINDS) }));
    const whose = sentences.map((sentence, n) => el("button", { type: "button", class: "preset",
      "aria-pressed": String(n === i), "data-at": `whose-${n}`, on: { click: () => set({ chosen: n }) } },
    quoted(sentence.words[placesNow()[n]]), ` of the ${n ? "second" : "first"} sentence`));
    renew(place.whose, el("span", { class: "presets" }, "neighbours of ", ...whose));
  };
  const takeMix = () => {
    const shares = get("shares");
    const scores = scoresFor(shares);
    triangle.to(shares);
    triangle.paint(get("score"));
    tally.show(scores, get("score"));
    titles.mix.textContent = mixFinding(shares, scores, store.chance);
    amounts.replaceChildren("now: ", el("b", {}, mixSaid(shares)));
    mix.rest(mixRest(scores, store.chance));
  };
  const takeAnswer = () => {
    place.mixAsk.replaceChildren(guess(view.mix, MIX_QUESTION, el("span", { class: "answer" }), "mix"));
    const details = place.mixAsk.firstChild;
    const fill = () => {
      const little = details.open && scoresFor(LITTLE);
      if (!little) return;
      details.querySelector(".answer").textContent = mixAnswer(scoresFor([1, 0, 0]), little, store.chance);
    };
    details.addEventListener("toggle", fill);
    view.fill = fill;
  };

  const box = textField(model, "any word, in the vocabulary or not", signal, { trait: "spelled", kind: "sentence word" });
  const words = presetButtons(model, spellings, (preset) => {
    box.text = preset.spelled;
    return preset;
  });
  const codes = el("p", { class: "note" });
  const complaint = el("p", { class: "note complaint", role: "status", "aria-live": "polite" });
  const takeSpelling = () => {
    const analysis = get("spelling");
    complaint.textContent = analysis.said ?? "";
    if (!analysis.word) return;
    titles.spelled.textContent = spellingFinding(analysis);
    spelled.rest(`The ${analysis.filters.length} of ${analysis.all} filters whose activation is highest above their ` +
      "mean over the vocabulary. A bar marks where a filter has its maximum; point at it for details.");
    codes.textContent = codesSaid(analysis);
    place.spelling.replaceChildren(spellingOf(analysis, spelled.say));
  };

  const build = () => {
    const section = (name, ...children) => el("section", { "aria-label": name }, ...children);
    parts.body.replaceChildren(
      section("in context", titles.context, context.node, place.sentences, place.cosines,
        el("p", { class: "note" }, "Hatched: the mean cosine of two different stored words. Layers differ in this " +
          "baseline, so a cosine means little without it."), place.history, place.ask),
      section("the scalar mix", titles.mix, mix.node, el("div", { class: "two" },
        el("div", {}, triangle.node, mixes, amounts, scale()),
        el("div", {}, tally.node, place.whose, el("div", { class: "scroll" }, place.near))), place.mixAsk),
      section("spelling", titles.spelled, spelled.node,
        el("div", { class: "bar" }, el("label", {}, "characters of", box), words), codes, complaint, place.spelling));
    takeAnswer();
  };
  const begin = () => {
    const { sentences } = get("state");
    if (!sentences) return false;
    view.sentences = sentences.map((sentence) => ({ ...sentence, made: vectorsOf(sentence.vectors, store.half) }));
    view.places = get("places");
    if (!view.built) build();
    view.built = true;
    return true;
  };

  const dirty = new Set();
  const flush = eachFrame(() => {
    const any = (...names) => names.some((name) => dirty.has(name));
    if ((!view.built || any("state")) && !begin()) return;
    if (dirty.has("places") && answered()) view.places = get("places");
    if (any("state", "places")) takeContext();
    if (any("state", "places", "chosen", "shares")) takeNear();
    if (any("state", "shares", "score")) takeMix();
    if (any("state", "spelling")) takeSpelling();
    dirty.clear();
  });
  for (const name of ["state", "places", "chosen", "shares", "score", "spelling"]) {
    observe(model, [name], () => {
      dirty.add(name);
      flush();
    }, signal);
  }
  if (begin()) {
    takeContext();
    takeNear();
    takeMix();
    takeSpelling();
  }
  const warm = () => {
    if (signal.aborted) return;
    if (!pairs.step(SLICE)) setTimeout(warm, 4);
    else if (view.built) {
      if (!known(get("shares"))) takeMix();
      view.fill();
    }
  };
  setTimeout(warm, 100);
});
