// The rank of the correct answer during training: by 3CosAdd, and by similarity to one word of the question alone.

import { el, svg } from "../shared/dom.js";
import { linear, tick } from "../shared/plot.js";
import { number, quoted } from "../shared/words.js";

const MARGIN = { left: 44, right: 14, top: 24, bottom: 34 };
const LINES = ["added", "c", "b"];

/** Tick values 1, 2 and 5 times powers of ten, up to a rank. */
export const rankTicks = (worst) => [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000]
  .filter((rank, i) => rank <= worst && (worst < 60 || i % 3 === 0));

const dot = (name, x, y) => (name === "added" ? svg("circle", { class: name, cx: x, cy: y, r: 3 })
  : name === "c" ? svg("rect", { class: name, x: x - 2.6, y: y - 2.6, width: 5.2, height: 5.2 })
    : svg("path", { class: name, d: `M${x} ${y - 3.6}l3.4 6h-6.8z` }));

const titles = ([, b, c]) => ({ added: "b − a + c", c: `${quoted(c)} alone`, b: `${quoted(b)} alone` });

/** The chart with its legend and a table; `found` is a list of { added, c, b }, one per snapshot. `to(at)` marks the
    current snapshot. */
export function rankChart({ space, words, found, width }) {
  const height = 190;
  const { updates } = space;
  const worst = Math.max(10, ...found.flatMap((ranks) => LINES.map((name) => ranks[name])));
  const x = linear(0, updates.length - 1, MARGIN.left, width - MARGIN.right);
  const y = (rank) => linear(0, Math.log10(worst), MARGIN.top, height - MARGIN.bottom)(Math.log10(rank));
  const every = Math.max(1, Math.ceil(updates.length / ((width - 60) / 52)));
  const named = titles(words);
  const lines = LINES.toReversed().flatMap((name) => [
    svg("path", { class: `line ${name}`,
      d: `M${found.map((ranks, i) => `${x(i).toFixed(1)} ${y(ranks[name]).toFixed(1)}`).join("L")}` }),
    ...found.map((ranks, i) => dot(name, x(i), y(ranks[name])))]);
  const here = svg("path", { class: "now" });
  const drawing = svg("svg", { class: "plot-of", width, height, role: "img",
    "aria-label": `the rank of ${words[3]} during training` },
  ...rankTicks(worst).flatMap((rank) => [
    svg("path", { class: "rule", d: `M${MARGIN.left} ${y(rank)}H${width - MARGIN.right}` }),
    svg("text", { x: MARGIN.left - 7, y: y(rank) + 4, "text-anchor": "end" }, number(rank))]),
  ...updates.map((update, i) => ((updates.length - 1 - i) % every ? "" : svg("text", { x: x(i), y: height - 18,
    "text-anchor": i === updates.length - 1 ? "end" : "middle", dx: i === updates.length - 1 ? 12 : 0 }, tick(update))))
    .filter(Boolean),
  svg("text", { x: 2, y: 12 }, "rank of the correct answer (1 is best)"),
  svg("text", { x: (MARGIN.left + width) / 2, y: height - 3, "text-anchor": "middle" },
    "training update (one step per snapshot)"),
  here, ...lines);
  const node = el("div", { class: "ranks" }, el("div", {}, drawing),
    el("p", { class: "keys" }, ...LINES.map((name) => el("span", {},
      svg("svg", { class: "plot-of", width: 26, height: 10, "aria-hidden": "true" },
        svg("path", { class: `line ${name}`, d: "M0 5H26" }), dot(name, 13, 5)), named[name]))),
    el("details", { class: "table-of" }, el("summary", {}, "as a table"), el("table", {},
      el("thead", {}, el("tr", {}, el("th", {}, "update"), ...LINES.map((name) => el("th", {}, named[name])))),
      el("tbody", {}, ...found.map((ranks, i) => el("tr", {}, el("td", {}, number(updates[i])),
        ...LINES.map((name) => el("td", {}, number(ranks[name])))))))));
  return { node, to: (at) => here.setAttribute("d", `M${x(at)} ${MARGIN.top - 4}V${height - MARGIN.bottom + 4}`) };
}
