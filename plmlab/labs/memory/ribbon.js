// The text as a ribbon: one band per segment, one chip per word, coloured by its status.

import { ZONES, isCut } from "./messages.js";
import { el } from "../shared/dom.js";
import { chance } from "../shared/softmax.js";

/** The status of a segment, in words. */
export function bandTitle(zones) {
  const kinds = [...new Set(zones)].filter((zone) => zone !== "later");
  if (!kinds.length) return ZONES.later;
  if (kinds.includes("segment")) return ZONES.segment;
  return kinds.length > 1 ? "partly in the memory" : ZONES[kinds[0]];
}

/** The ribbon. `onPoint(position)` is called for the chip under the pointer, `onLeave()` when the pointer leaves,
    `onAct(position)` on a click. `point(position)` marks a chip; `reveal()` scrolls to the query position if needed. */
export function ribbon({ state, narrow, onPoint, onLeave, onAct }) {
  const chips = state.tokens.map((token, position) => el("bdi", {
    class: ["chip", state.zones[position], position === state.position ? "asked" : "", position === state.fact ? "fact" : "",
      isCut(state, position) ? "cut" : ""].filter(Boolean).join(" "),
    title: `position ${position}`,
    on: { pointerenter: () => onPoint(position), click: () => onAct(position) },
  }, token));
  const bands = [];
  for (let first = 0; first < chips.length; first += state.segment) {
    const end = Math.min(first + state.segment, chips.length);
    const effect = state.effects.segments.find(([from, to]) => from < end && to > first);
    if (first === state.segment_start && first > 0) {
      bands.push(el("div", { class: "stop", role: "separator" },
        el("span", {}, "stop-gradient: the segments above are available only through the memory")));
    }
    bands.push(el("div", { class: "band" },
      el("span", { class: "band-name" }, el("b", {}, bandTitle(state.zones.slice(first, end))),
        end - first > 1 ? `positions ${first} to ${end - 1}` : `position ${first}`),
      el("div", { class: "chips" }, ...chips.slice(first, end)),
      el("span", { class: "band-effect" }, effect ? "p without it " : "",
        effect ? el("b", {}, chance(effect[2])) : "")));
  }
  const node = el("div", { class: narrow ? "ribbon narrow" : "ribbon", role: "group",
    "aria-label": "the text, one band per segment" }, ...bands);
  node.addEventListener("pointerleave", onLeave);
  return {
    node,
    point: (position) => chips.forEach((chip, i) => chip.classList.toggle("pointed", i === position)),
    reveal: () => { node.scrollTop = chips[state.position].offsetTop - node.clientHeight / 2; },
  };
}
