// A row of words as chips: one tab stop, arrow keys inside (roving tabindex).

import { clamp, el } from "../shared/dom.js";

const KEYS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

/**
 * The row. `words` are [{ text, below, label, pressed, marks }], `places` their coordinates. Calls `onGo(i)` when the
 * focus moves, `onAct(i)` on a click or Enter, `onRemove(i)` on Delete. `point(i)` sets the tab stop, `show(count)` the
 * number of words shown.
 */
export function chipRow({ words, places, name, label, onGo, onAct, onRemove = () => {} }) {
  let [now, shown] = [0, words.length];
  const chips = words.map(({ text, below = "", label: said, pressed, marks = "" }, i) => el("button", {
    type: "button", class: `chip ${marks}`, tabindex: i ? -1 : 0, "aria-label": said, "aria-pressed": pressed,
    "data-at": `${name}-${i}`, "data-position": i, style: `left:${places[i].x}px;width:${places[i].width}px`,
  }, el("bdi", {}, text), ...(below ? [el("small", {}, below)] : [])));
  const node = el("div", { class: `words ${name}`, role: "group", "aria-label": label }, ...chips);
  const positionOf = (event) => {
    const chip = event.target.closest(".chip");
    return chip ? Number(chip.dataset.position) : null;
  };
  const point = (i) => {
    chips[now].tabIndex = -1;
    now = clamp(i, 0, chips.length - 1);
    chips[now].tabIndex = 0;
  };
  node.addEventListener("click", (event) => {
    const i = positionOf(event);
    if (i !== null) onAct(i);
  });
  node.addEventListener("focusin", (event) => {
    point(positionOf(event));
    if (event.target.matches(":focus-visible")) onGo(now);
  });
  node.addEventListener("keydown", (event) => {
    if (event.key in KEYS) {
      point(clamp(now + KEYS[event.key], 0, shown - 1));
      chips[now].focus({ preventScroll: true });
      chips[now].scrollIntoView({ block: "nearest", inline: "nearest" });
    } else if (event.key === "Delete" || event.key === "Backspace") onRemove(now);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  const show = (count) => {
    shown = count;
    chips.forEach((chip, i) => { chip.style.visibility = i < count ? "" : "hidden"; });
  };
  return { node, chips, point, show, positionOf };
}
