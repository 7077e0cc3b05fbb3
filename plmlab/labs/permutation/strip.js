// The loss of the sentence in many orders: one dot per order on an axis in nats, and the exact value as a line.

import { orderSaid, spreadOf } from "./messages.js";
import { nats } from "../shared/beliefs.js";
import { clamp, el, svg } from "../shared/dom.js";
import { linear, roundNumbers } from "../shared/plot.js";
import { short } from "../shared/words.js";

const [TOP, TALL, FOOT] = [34, 118, 42];
const RADIUS = 3.4;
const MARGIN = 14;
const NARROWEST = 0.5; // nats: minimum range of the axis

/** The ends of an axis that shows all losses, with some room on either side. */
export function axisOf(costs) {
  const [low, high] = [Math.min(...costs), Math.max(...costs)];
  const spare = Math.max((high - low) * 0.06, (NARROWEST - (high - low)) / 2, 0.04);
  return { low: Math.max(0, low - spare), high: high + spare };
}

/** The coordinates of a dot plot: dots of one column are stacked, more closely if there are many. [{ x, y }] in px, y
    upwards from the axis. */
export function stacked(costs, x, radius, tall) {
  const column = (cost) => Math.round(x(cost) / (2 * radius));
  const levels = new Map();
  const level = costs.map((cost) => {
    const count = levels.get(column(cost)) ?? 0;
    levels.set(column(cost), count + 1);
    return count;
  });
  const pitch = Math.min(2 * radius, (tall - 2 * radius) / Math.max(...levels.values(), 1));
  return costs.map((cost, i) => ({ x: 2 * radius * column(cost), y: radius + pitch * level[i] }));
}

/** The index among `count` dots that a keyboard key moves to from `place`, or null for any other key. */
export function dotAfter(key, place, count) {
  const to = { ArrowLeft: place - 1, ArrowDown: place - 1, ArrowRight: place + 1, ArrowUp: place + 1,
    PageUp: place + 10, PageDown: place - 10, Home: 0, End: count - 1 }[key];
  return to === undefined ? null : clamp(to, 0, count - 1);
}

/** The index of the dot nearest to a point, or −1 if none is within `far` px. */
export function nearest(dots, px, py, far = 14) {
  let [found, best] = [-1, far ** 2];
  dots.forEach(({ x, y }, i) => {
    const away = (x - px) ** 2 + (y - py) ** 2;
    if (away < best) [found, best] = [i, away];
  });
  return found;
}

/** A label next to a vertical line at `x`, on the side with more room. */
function beside(className, x, y, text, width) {
  const right = x > width * 0.6;
  return svg("text", { class: className, x: x + (right ? -6 : 6), y, "text-anchor": right ? "end" : "start" }, text);
}

/** The dot plot. `onTake(order)` is called when an order is selected. */
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
    beside("floor-name", x(exact), TOP - 18, `Bayes-optimal, every order: ${exact.toFixed(2)}`, width)];
  const picture = svg("svg", { width, height: floor + FOOT, "aria-hidden": "true" },
    svg("path", { class: "rule", d: `M0 ${floor}H${width}` }), ...ticks,
    svg("text", { x: width / 2, y: floor + 37, "text-anchor": "middle" }, "−log p(sentence | its length), nats"),
    ...before.map(({ x: cx, y: cy }) => svg("circle", { class: "dot before", cx, cy, r: RADIUS - 0.8 })),
    ...dots.map(kind), ...line,
    svg("path", { class: "mean", d: `M${x(mean)} ${floor + 1}l-5 8h10z` }),
    svg("circle", { class: "here", cx: here.x, cy: here.y, r: RADIUS + 1.6 }), ring);
  const read = el("p", { class: "read" });
  const node = el("div", { class: "plot strip", role: "slider", tabindex: "0", "aria-valuemin": 1,
    "aria-valuemax": costs.length, "aria-label": "all orders, from the lowest to the highest loss; Enter selects one",
    "data-at": "strip", style: `width:${width}px` }, picture);

  let now = orders.here;
  const point = (i) => {
    now = i;
    const mine = i === orders.here;
    const text = `${mine ? "This order" : `No. ${ranked.indexOf(i) + 1} of ${costs.length}`}: ` +
      `${orderSaid(tokens, orders.listed[i])}, ${nats(costs[i])}.`;
    read.textContent = `${text}${mine || disabled ? "" : " Click or press Enter to select it."}`;
    node.setAttribute("aria-valuenow", ranked.indexOf(i) + 1);
    node.setAttribute("aria-valuetext", text);
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
    const dot = under(event);
    node.classList.toggle("over", dot >= 0 && dot !== orders.here);
    if (dot >= 0 && dot !== now) point(dot);
  });
  node.addEventListener("pointerleave", () => point(orders.here));
  node.addEventListener("click", (event) => {
    const dot = under(event);
    if (dot < 0) return;
    point(dot);
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
    ...(leak ? [key(shape("key-dot leaking"), "another order"), key(shape("key-dot before"), "without the leak")]
      : [key(shape("key-dot model"), "another order")]),
    key(shape("", "▲"), "mean")), read);
}
