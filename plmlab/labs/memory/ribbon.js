// The text as a ribbon: a band a segment, a chip a word, in what has become of it.

import { ZONES, isCut } from "./told.js";
import { el } from "../shared/dom.js";
import { chance } from "../shared/softmax.js";

/** What has become of a segment, in words. */
export function bandTitle(zones) {
  const kinds = [...new Set(zones)].filter((zone) => zone !== "later");
  if (!kinds.length) return ZONES.later;
  if (kinds.includes("segment")) return ZONES.segment;
  return kinds.length > 1 ? "partly in the memory" : ZONES[kinds[0]];
}

/** The ribbon. `onPoint(position)` hears the chip under the pointer, `onLeave()` when there is none, `onAct(position)` a click;
    `point(position)` marks a chip; `reveal()` scrolls to the asked one where not all bands fit. */
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
    if (first === state.begin && first > 0) {
      bands.push(el("div", { class: "stop", role: "separator" },
        el("span", {}, "the gradient stops here: what stands above was read before, and is only remembered")));
    }
    bands.push(el("div", { class: "band" },
      el("span", { class: "band-name" }, el("b", {}, bandTitle(state.zones.slice(first, end))),
        end - first > 1 ? `positions ${first} to ${end - 1}` : `position ${first}`),
      el("div", { class: "chips" }, ...chips.slice(first, end)),
      el("span", { class: "band-effect" }, effect ? "without it " : "",
        effect ? el("b", {}, chance(effect[2])) : "")));
  }
  const node = el("div", { class: narrow ? "ribbon narrow" : "ribbon", role: "group",
    "aria-label": "the text, a band a segment" }, ...bands);
  node.addEventListener("pointerleave", onLeave);
  return {
    node,
    point: (position) => chips.forEach((chip, i) => chip.classList.toggle("pointed", i === position)),
    reveal: () => { node.scrollTop = chips[state.position].offsetTop - node.clientHeight / 2; },
  };
}
