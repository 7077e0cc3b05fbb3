// What the sentence costs in many orders: a dot an order, along an axis of nats, and the exact value as a line.

import { orderSaid, spreadOf } from "./told.js";
import { nats } from "../shared/beliefs.js";
import { clamp, el, svg } from "../shared/dom.js";
import { linear, roundNumbers } from "../shared/plot.js";
import { short } from "../shared/words.js";

const [TOP, TALL, FOOT] = [34, 118, 42];
const RADIUS = 3.4;
const MARGIN = 14;
const NARROWEST = 0.5; // nats: the axis is never finer

/** The ends of an axis that shows all costs, with some room on either side. */
export function axisOf(costs) {
  const [low, high] = [Math.min(...costs), Math.max(...costs)];
  const spare = Math.max((high - low) * 0.06, (NARROWEST - (high - low)) / 2, 0.04);
  return { low: Math.max(0, low - spare), high: high + spare };
}

/** Where dots stand so that none hides another: those of one column upon each other, closer where they are many.
    [{ x, y }] in px, y from the axis up. */
export function stacked(costs, x, radius, tall) {
  const column = (cost) => Math.round(x(cost) / (2 * radius));
  const levels = new Map();
  const level = costs.map((cost) => {
    const found = levels.get(column(cost)) ?? 0;
    levels.set(column(cost), found + 1);
    return found;
  });
  const pitch = Math.min(2 * radius, (tall - 2 * radius) / Math.max(...levels.values(), 1));
  return costs.map((cost, i) => ({ x: 2 * radius * column(cost), y: radius + pitch * level[i] }));
}

/** Where a key leads from a place among `count` dots, or null if it leads nowhere. */
export function dotAfter(key, place, count) {
  const to = { ArrowLeft: place - 1, ArrowDown: place - 1, ArrowRight: place + 1, ArrowUp: place + 1,
    PageUp: place + 10, PageDown: place - 10, Home: 0, End: count - 1 }[key];
  return to === undefined ? null : clamp(to, 0, count - 1);
}

/** The number of the dot nearest to a point, or −1 where none is near. */
export function nearest(dots, px, py, far = 14) {
  let [found, best] = [-1, far ** 2];
  dots.forEach(({ x, y }, i) => {
    const away = (x - px) ** 2 + (y - py) ** 2;
    if (away < best) [found, best] = [i, away];
  });
  return found;
}

/** A text beside a line at `x`, on the side where there is room. */
function beside(className, x, y, text, width) {
  const right = x > width * 0.6;
  return svg("text", { class: className, x: x + (right ? -6 : 6), y, "text-anchor": right ? "end" : "start" }, text);
}

/** The strip. `onTake(order)` hears which order was taken. */
export function strip({ state, width, disabled, onTake }) {
  const { orders, tokens, exact, leak } = state;
  const costs = leak ? orders.leaking : orders.model;
  const all = [...orders.model, ...(orders.leaking ?? []), ...(exact === null ? [] : [exact])];
  const axis = axisOf(all);
  const x = linear(axis.low, axis.high, MARGIN, width - MARGIN);
  const floor = TOP + TALL;
  const put = (of) => stacked(of, x, RADIUS, TALL).map((dot) => ({ x: dot.x, y: floor - dot.y }));
  const dots = put(costs);
  const before = leak ? put(orders.model) : [];
  const ranked = costs.map((_, i) => i).sort((a, b) => costs[a] - costs[b] || a - b);
  const { mean } = spreadOf(costs);

  const ring = svg("circle", { class: "pointed", r: RADIUS + 2.6 });
  const here = dots[orders.here];
  const kind = ({ x: cx, y: cy }) => (leak
    ? svg("rect", { class: "dot leaking", x: cx - RADIUS + 0.4, y: cy - RADIUS + 0.4, width: 2 * RADIUS - 0.8, height: 2 * RADIUS - 0.8 })
    : svg("circle", { class: "dot model", cx, cy, r: RADIUS - 0.3 }));
  const ticks = roundNumbers(axis.low, axis.high, (width - 2 * MARGIN) / 64).flatMap((value) => [
    svg("path", { class: "rule", d: `M${x(value)} ${floor}v4` }),
    svg("text", { x: x(value), y: floor + 20, "text-anchor": "middle" }, short(value))]);
  const line = exact === null ? [] : [svg("path", { class: "floor", d: `M${x(exact)} ${TOP - 14}V${floor}` }),
    beside("floor-name", x(exact), TOP - 18, `best possible reader, every order: ${exact.toFixed(2)}`, width)];
  const picture = svg("svg", { width, height: floor + FOOT, "aria-hidden": "true" },
    svg("path", { class: "rule", d: `M0 ${floor}H${width}` }), ...ticks,
    svg("text", { x: width / 2, y: floor + 37, "text-anchor": "middle" }, "−log p(sentence | its length), nats"),
    ...before.map(({ x: cx, y: cy }) => svg("circle", { class: "dot before", cx, cy, r: RADIUS - 0.8 })),
    ...dots.map(kind), ...line,
    svg("path", { class: "mean", d: `M${x(mean)} ${floor + 1}l-5 8h10z` }),
    svg("circle", { class: "here", cx: here.x, cy: here.y, r: RADIUS + 1.6 }), ring);
  const read = el("p", { class: "read" });
  const node = el("div", { class: "plot strip", role: "slider", tabindex: "0", "aria-valuemin": 1,
    "aria-valuemax": costs.length, "aria-label": "all orders, from the cheapest to the dearest; Enter takes one",
    "data-at": "strip", style: `width:${width}px` }, picture);

  let now = orders.here;
  const point = (i) => {
    now = i;
    const mine = i === orders.here;
    const said = `${mine ? "This order" :}`No. ${ranked.indexOf(i) + 1} of ${costs.length}`}: ` +
      `${orderSaid(tokens, orders.listed[i])}, ${nats(costs[i])}.`;
    read.textContent = `${said}${mine || disabled ? "" : " Click, or press Enter, to take it."}`;
    node.setAttribute("aria-valuenow", ranked.indexOf(i) + 1);
    node.setAttribute("aria-valuetext", said);
    ring.setAttribute("cx", dots[i].x);
    ring.setAttribute("cy", dots[i].y);
    ring.setAttribute("visibility", mine ? "hidden" : "visible");
  };
  const take = () => {
    if (!disabled && now !== orders.here) onTake(orders.listed[now]);
  };
  const under = (event) => {
    const box = picture.getBoundingClientRect();
    return nearest(dots, event.clientX - box.left, event.clientY - box.top);
  };
  node.addEventListener("pointermove", (event) => {
    const found = under(event);
    node.classList.toggle("over", found >= 0 && found !== orders.here);
    if (found >= 0 && found !== now) point(found);
  });
  node.addEventListener("pointerleave", () => point(orders.here));
  node.addEventListener("click", (event) => {
    const found = under(event);
    if (found < 0) return;
    point(found);
    take();
  });
  node.addEventListener("keydown", (event) => {
    const to = dotAfter(event.key, ranked.indexOf(now), costs.length);
    if (to !== null) point(ranked[to]);
    else if (event.key === "Enter" || event.key === " ") take();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  point(now);
  const key = (mark, text) => el("li", {}, mark, text);
  const shape = (className, text = "") => el("i", { class: className, "aria-hidden": "true" }, text);
  return el("div", {}, node, el("ul", { class: "legend keys" },
    key(shape("key-dot here"), "this order"),
    ...(leak ? [key(shape("key-dot leaking"), "another"), key(shape("key-dot before"), "without the leak")]
      : [key(shape("key-dot model"), "another")]),
    key(shape("", "▲"), "mean")), read);
}
