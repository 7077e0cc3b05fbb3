// The two sentences, word by word; mouse and keyboard select one word of each for comparison.

import { senseName, wordSaid } from "./messages.js";
import { clamp, el } from "../shared/dom.js";

const KEYS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
const NAMES = ["first", "second"];

/** A sentence as chips. `onAsk(place)` is called for the selected word, `say(text)` for the word under the pointer. */
function sentenceOf({ words, senses, unknown }, i, place, { onAsk, say }) {
  const description = (at) =>
    wordSaid(words[at], { sentence: i, sense: senses[at], unknown: unknown.includes(at), asked: at === place });
  const chips = words.map((word, at) => el("button", {
    type: "button", class: `chip${at === place ? " asked" : ""}${unknown.includes(at) ? " unknown" : ""}`,
    tabindex: at === place ? 0 : -1, "aria-pressed": String(at === place), "data-at": `${i}-${at}`,
  }, el("bdi", {}, word), ...(senses[at] ? [el("small", {}, senseName(senses[at]))] : [])));
  const row = el("div", { class: "words", role: "group", "aria-label": `the ${NAMES[i]} sentence` }, ...chips);
  const atOf = (event) => chips.indexOf(event.target.closest(".chip"));
  row.addEventListener("pointerover", (event) => { if (atOf(event) >= 0) say(description(atOf(event))); });
  row.addEventListener("pointerleave", () => say(""));
  row.addEventListener("focusin", (event) => { if (event.target.matches(":focus-visible")) say(description(atOf(event))); });
  row.addEventListener("click", (event) => { if (atOf(event) >= 0) onAsk(atOf(event)); });
  row.addEventListener("keydown", (event) => {
    if (!(event.key in KEYS)) return;
    const next = clamp(atOf(event) + KEYS[event.key], 0, chips.length - 1);
    chips.forEach((chip, at) => { chip.tabIndex = at === next ? 0 : -1; });
    chips[next].focus();
    event.preventDefault();
    event.stopPropagation();
  });
  return el("div", { class: "line" }, el("span", { class: "note" }, NAMES[i]), row);
}

/** The selected indices after a word was chosen in one sentence; if the other sentence has the same word, it is selected
    there too. */
export function placesAfter(sentences, places, i, place) {
  const next = [...places];
  next[i] = place;
  const other = sentences[1 - i].words.indexOf(sentences[i].words[place]);
  if (other >= 0) next[1 - i] = other;
  return next;
}

/** Both sentences. `onPlaces(places, i)` is called with the selected indices and the sentence of the choice. */
export function sentencesOf({ sentences, places, onPlaces, say }) {
  return el("div", { class: "sentences" }, ...sentences.map((sentence, i) => sentenceOf(sentence, i, places[i], {
    say, onAsk: (place) => onPlaces(placesAfter(sentences, places, i, place), i) })));
}
