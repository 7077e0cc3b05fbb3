// Previous comparisons, so that states can be compared with one another.

import { pairNamed } from "./messages.js";
import { el } from "../shared/dom.js";
import { decimal } from "../shared/words.js";

const MOST = 5;

/** The history with a state in front; a state that is in it already moves to the front. */
export function remembered(history, state) {
  const key = ({ texts, places }) => JSON.stringify([texts, places]);
  return [state, ...history.filter((past) => key(past) !== key(state))].slice(0, MOST);
}

/** The states as a table, the present one first. `onBack(state)` restores a state, `may(state)` returns whether that is
    possible. */
export function historyOf({ history, onBack, may }) {
  if (history.length < 2) return el("div");
  const row = (state, i) => {
    const pair = pairNamed(...state.words);
    return el("tr", { class: i ? "" : "present" }, el("th", { scope: "row" }, pair),
      el("td", { class: "texts-of" }, ...state.texts.flatMap((text, n) => [n ? el("br") : "", el("bdi", {}, text)])),
      ...[...state.found].reverse().map((cosines) => el("td", {}, decimal(cosines[2]))),
      el("td", {}, i ? el("button", {
        type: "button", class: "preset", disabled: !may(state), "data-at": `back-${i}`, "aria-label": `back to ${pair}`,
        on: { click: () => onBack(state) },
      }, "back") : el("span", { class: "note" }, "current")));
  };
  return el("table", { class: "history" }, el("caption", {}, "Previous comparisons (cosine, both directions)"),
    el("thead", {}, el("tr", {}, ...["words", "sentences", "layer 2", "layer 1", "layer 0", ""].map((name) =>
      el("th", { scope: "col" }, name)))),
    el("tbody", {}, ...history.map(row)));
}
