// The two sentences, word by word: one of each is asked about, and mouse and keyboard choose it alike.

import { senseName, wordSaid } from "./told.js";
import { clamp, el } from "../shared/dom.js";

const KEYS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
const NAMES = ["first", "second"];

/** A sentence as chips. `onAsk(place)` hears which word is asked about, `say(text)` what the pointer is on. */
function sentenceOf({ words, senses, unknown }, i, place, { onAsk, say }) {
  const said = (at) =>
    wordSaid(words[at], { sentence: i, sense: senses[at], unknown: unknown.includes(at), asked: at === place });
  const chips = words.map((word, at) => el("button", {
    type: "button", class: `chip${at === place ? " asked" : ""}${unknown.includes(at) ? " unknown" : ""}`,
    tabindex: at === place ? 0 : -1, "aria-pressed": String(at === place), "data-at": `${i}-${at}`,
  }, el("bdi", {}, word), ...(senses[at] ? [el("small", {}, senseName(senses[at]))] : [])));
  const row = el("div", { class: "words", role: "group", "aria-label": `the ${NAMES[i]} sentence` }, ...chips);
  const atOf = (event) => chips.indexOf(event.target.closest(".chip"));
  row.addEventListener("pointerover", (event) => { if (atOf(event) >= 0) say(said(atOf(event))); });
  row.addEventListener("pointerleave", () => say(""));
  row.addEventListener("focusin", (event) => { if (event.target.matches(":focus-visible")) say(said(atOf(event))); });
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

/** The places that are asked about after a word was chosen in one sentence: the other sentence goes along where it has
    that word. */
export function placesAfter(sentences, places, i, place) {
  const next = [...places];
  next[i] = place;
  const other = sentences[1 - i].words.indexOf(sentences[i].words[place]);
  if (other >= 0) next[1 - i] = other;
  return next;
}

/** Both sentences. `onPlaces(places, i)` hears what is asked about, and in which sentence it was chosen. */
export function sentencesOf({ sentences, places, onPlaces, say }) {
  return el("div", { class: "sentences" }, ...sentences.map((sentence, i) => sentenceOf(sentence, i, places[i], {
    say, onAsk: (place) => onPlaces(placesAfter(sentences, places, i, place), i) })));
}
