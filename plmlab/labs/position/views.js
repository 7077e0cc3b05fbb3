// The Position Lab's figures that need no Python: an encoding with its dot products and waves, and a distance table.

import { byDistance, distanceRow, pairsOfRows, sinusoid, sinusoidDot, sinusoids, wavelength } from "./maths.js";
import { clamp, el, svg } from "../shared/dom.js";
import { heatMap, pixels, ramp, scaleBar } from "../shared/heat.js";
import { guess } from "../shared/lab.js";
import { between, lineThrough, plot, roundNumbers } from "../shared/plot.js";
import { number, plural, short } from "../shared/words.js";

const SIDE = 300;
const FIELD = { left: 46, right: 12, top: 22, bottom: 34 };

const finding = (text) => el("h4", { class: "finding" }, text);
const signed = (value) => (value > 0 ? `+${value}` : short(value));
const power = (base, text) => [short(base, 6), el("sup", {}, text)];

/** Two pairs of positions with the same distance, inside the length. */
export const twoPairs = (length) => (length > 44 ? [[3, 7], [40, 44]] : [[0, 1], [length - 2, length - 1]]);

function asked(encoding, digits, verdict) {
  const [[a, b], [c, d]] = twoPairs(encoding.length);
  const [one, other] = [encoding.dot(a, b), encoding.dot(c, d)].map((value) => short(value, digits));
  return {
    question: `Does the dot product of positions ${a} and ${b} equal that of ${c} and ${d}?`,
    answer: verdict(`${one} and ${other}`, b - a),
  };
}

/** The sinusoidal encoding of the lab's traits. */
export function sinusoidal({ width, length, base }) {
  const encoding = {
    width, length, limit: 1,
    table: sinusoids(length, width, base),
    title: "Fast waves at the top, slow ones at the bottom: each position has its own pattern",
    curve: Float64Array.from({ length }, (_, d) => sinusoidDot(d, width, base)),
    dot: (p, q) => sinusoidDot(q - p, width, base),
    wave: (place, dimension) => sinusoid(place, dimension, width, base),
    waveTitle: (dimension) =>
      `Dimension ${dimension} repeats every ${short(wavelength(dimension, width, base))} tokens`,
    why(position, dimension) {
      const [name, even] = [dimension % 2 ? "cos" : "sin", dimension - (dimension % 2)];
      const angle = position / base ** (even / width);
      return [`${name}(${position}\u00a0/\u00a0`, ...power(base, `${even}/${width}`),
        `) = ${name}(${short(angle, 4)}) = `,
        el("b", {}, short(sinusoid(position, dimension, width, base), 4))];
    },
  };
  const near = Math.min(4, length - 1);
  encoding.dotTitle = `Only the distance matters: the value at distance ${near} is ${short(encoding.curve[near], 4)} ` +
    "everywhere";
  encoding.ask = asked(encoding, 4, (values, distance) => [
    `Yes: ${values}. Since cos a cos b + sin a sin b = cos(a − b), `,
    `the dot product at distance ${distance} is Σ cos(${distance} / `, ...power(base, `2i/${width}`),
    "): minimum and maximum over all positions coincide."]);
  return encoding;
}

/** The learned encoding of a model: its first positions, on an `axis` if there are several. `all` are the dot products
    of all pairs, and `limit` is the end of the colour scale. */
export function learned({ length }, { table, all, limit, name, axis, positions, width }) {
  const size = Math.min(length, positions);
  const curve = byDistance(all, positions, size);
  const norms = Array.from({ length: size }, (_, p) => Math.sqrt(all[p * positions + p]));
  const middle = norms.toSorted((a, b) => a - b)[size >> 1];
  const far = norms.indexOf(Math.max(...norms));
  const apart = norms[far] > 2 * middle
    ? `: position ${far} has ${short(norms[far] / middle, 2)} times the median norm` : "";
  const encoding = {
    width, length: size, table, limit, band: curve, curve: curve.mean,
    title: `Learned position embeddings of ${name}${axis && ` (${axis})`}${apart}`,
    dot: (p, q) => all[p * positions + q],
    waveTitle: (dimension) => `Dimension ${dimension} follows no formula: one learned value per position`,
    why: (position, dimension) =>
      [el("b", {}, short(table[position * width + dimension])), ", a learned parameter: no formula gives it"],
  };
  const half = size >> 1;
  encoding.dotTitle = curve.mean[1] > curve.mean[half]
    ? `Neighbours are similar: ${short(curve.mean[1], 2)} at distance 1, ${short(curve.mean[half], 2)} at ${half}. ` +
      "The absolute position matters too"
    : "The absolute position matters, not the distance alone";
  encoding.ask = asked(encoding, 2, (values) => [`No: ${values}. The table has no notion of distance; training makes `,
    "neighbours similar, but the dot product still depends on the absolute position: the band shows how much."]);
  return encoding;
}

/** Axes around a heat map: round numbers at the cells' centres, row 0 at the top. */
function mapFigure({ map, rows, columns, width, height, xTitle, yTitle }) {
  const [wide, tall] = [width / columns, height / rows];
  const x = roundNumbers(0, columns - 1, width / 62).map((v) =>
    svg("text", { x: FIELD.left + (v + 0.5) * wide, y: FIELD.top + height + 15, "text-anchor": "middle" }, short(v)));
  const y = roundNumbers(0, rows - 1, height / 40).map((v) =>
    svg("text", { x: FIELD.left - 7, y: FIELD.top + (v + 0.5) * tall + 4, "text-anchor": "end" }, short(v)));
  Object.assign(map.node.style, { left: `${FIELD.left}px`, top: `${FIELD.top}px` });
  const axes = svg("svg", { class: "plot-of", width: FIELD.left + width + FIELD.right,
    height: FIELD.top + height + FIELD.bottom, "aria-hidden": "true" }, ...x, ...y,
  svg("text", { x: 2, y: 12 }, yTitle),
  svg("text", { x: FIELD.left + width / 2, y: FIELD.top + height + 30, "text-anchor": "middle" }, xTitle));
  return el("div", { class: "map-figure" }, axes, map.node);
}

/** The widths of the figures and of the side column, which moves below them if there is little room. */
function columns(room) {
  const beside = room >= 760;
  const [across, aside] = beside ? [room - SIDE - 28, SIDE] : [room, room];
  const join = (top, figures, side) => el("div", { class: `positions${beside ? "" : " stacked"}` },
    top, el("div", { class: "figures" }, ...figures), el("div", { class: "side" }, ...side));
  return { across, aside, join };
}

function range(values, air = 0.06) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  const more = (high - low || 1) * air;
  return { low: low - more, high: high + more };
}

function dotPlot(encoding, width, position) {
  const { curve, band, length } = encoding;
  const around = band ? [band.least.subarray(1), band.most.subarray(1), curve] : [curve];
  const y = { ...range(around.flatMap((values) => [...values])), title: "dot product" };
  const own = band && Float64Array.from({ length: length - position }, (_, d) => encoding.dot(position, position + d));
  return plot({ width, height: 190, x: { low: 0, high: length - 1, title: "distance (tokens)" }, y,
    label: encoding.dotTitle }, (at) => [
    ...(band ? [svg("path", { class: "band", d: between(band.least, band.most, at.x, at.y, y.low, y.high) }),
      svg("path", { class: "own", d: lineThrough(own, at.x, at.y, y.low, y.high) })] : []),
    svg("path", { class: "line", d: lineThrough(curve, at.x, at.y, y.low, y.high) }),
  ]);
}

function wavePlot(encoding, width, position, dimension) {
  const { table, length, wave } = encoding;
  const values = Float32Array.from({ length }, (_, p) => table[p * encoding.width + dimension]);
  const y = { ...(wave ? { low: -1.1, high: 1.1 } : range(values)), title: "value" };
  return plot({ width, height: 150, x: { low: -0.5, high: length - 0.5, title: "position (tokens)" }, y,
    label: encoding.waveTitle(dimension) }, (at) => {
    const count = 3 * Math.ceil(at.right - at.left);
    const place = (i) => (i * (length - 1)) / (count - 1);
    const fine = wave && Float32Array.from({ length: count }, (_, i) => wave(place(i), dimension));
    const line = fine ? lineThrough(fine, (i) => at.x(place(i)), at.y, y.low, y.high)
      : lineThrough(values, at.x, at.y, y.low, y.high);
    const dots = length > 128 ? [] : Array.from(values, (value, p) =>
      svg("circle", { class: "dot", cx: at.x(p), cy: at.y(value), r: 2 }));
    return [svg("path", { class: "cursor", d: `M${at.x(position)} ${at.top}V${at.bottom}` }),
      svg("path", { class: "line thin", d: line }), ...dots,
      svg("circle", { class: "here", cx: at.x(position), cy: at.y(values[position]), r: 4.5 })];
  });
}

/** A legend entry for a line of a figure. */
export const lineKey = (name, text) => el("span", { class: "line-key" }, el("i", { class: name, "aria-hidden": "true" }), text);

/** The heat map of an encoding, its dot products and one wave. `choose` sets traits, `view` keeps the open question. */
export function encodingView(encoding, { room, stops, choose, view }) {
  const { width, length, table, limit } = encoding;
  const why = el("p", { class: "why", role: "status", "aria-live": "polite" });
  const waveTitle = finding("");
  const [waves, dots] = [el("div"), el("div")];
  const keys = el("p", { class: "keys" });
  const { across, aside, join } = columns(room);
  const size = { rows: width, columns: length, width: across - FIELD.left - FIELD.right, height: Math.max(256, width) };
  const map = heatMap({
    ...size, label: "the encoding: one row per dimension, one column per position",
    onCell: ({ row, column }) => choose({ dimension: row, position: column }),
  });
  const value = (i) => table[(i % length) * width + Math.floor(i / length)];
  map.paint(pixels(width * length, value, -limit, limit, ramp(stops)));
  const point = ({ position, dimension }) => {
    const [p, i] = [Math.min(position, length - 1), Math.min(dimension, width - 1)];
    why.replaceChildren(el("b", {}, `Position ${p}, dimension ${i}`), ": ", ...encoding.why(p, i));
    map.point({ row: i, column: p }, why.textContent);
    waveTitle.textContent = encoding.waveTitle(i);
    waves.replaceChildren(wavePlot(encoding, across, p, i));
    dots.replaceChildren(dotPlot(encoding, aside, p));
    keys.replaceChildren(...(encoding.band
      ? [lineKey("mean", "mean of all pairs"), lineKey("band", "minimum to maximum"),
        lineKey("own", `pairs from position ${p} on`)]
      : [lineKey("mean", "mean, minimum and maximum of all pairs coincide")]));
  };
  const bar = scaleBar(stops, [-limit, 0, limit].map((mark) => short(mark, 2)),
    encoding.band ? "value (99 % are within the scale)" : "value");
  const node = join(el("div", { class: "top" }, why, bar),
    [finding(encoding.title), mapFigure({ map, ...size, xTitle: "position (tokens)", yTitle: "dimension ↓" }),
      waveTitle, waves],
    [finding(encoding.dotTitle), dots, keys,
      guess(view, encoding.ask.question, encoding.ask.answer, true)]);
  return { node, point };
}

/** The table of relative positions: the row that each pair uses, and the number of pairs per row. */
export function relativeView({ length, window }, { room, stops, choose, view }) {
  const rows = 2 * window + 1;
  const counts = pairsOfRows(length, window);
  const clipped = window < length - 1;
  const ends = Math.round((100 * (counts[0] + counts.at(-1))) / length ** 2);
  const why = el("p", { class: "why", role: "status", "aria-live": "polite" });
  const bars = el("div");
  const { across, aside, join } = columns(room);
  const side = clamp(across - FIELD.left - FIELD.right, 0, 450); // a lab is drawn before it has room
  const size = { rows: length, columns: length, width: side, height: side };
  const map = heatMap({
    ...size, label: "relative positions: one row per query, one column per key",
    onCell: ({ row, column }) => {
      view.key = column;
      if (row === Math.min(view.position, length - 1)) point({ position: row });
      else choose({ position: row });
    },
  });
  const value = (i) => distanceRow(Math.floor(i / length), i % length, window);
  map.paint(pixels(length * length, value, 0, 2 * window, ramp(stops)));
  const point = ({ position }) => {
    view.position = position;
    const query = Math.min(position, length - 1);
    const k = Math.min(view.key ?? query + 3, length - 1);
    const row = distanceRow(query, k, window);
    const apart = k - query;
    const takes = Math.abs(apart) > window ? `clipped to ${signed(row - window)}, so it uses` : "it uses";
    why.replaceChildren("Query ", el("b", { class: "query" }, String(query)), " attends to key ",
      el("b", { class: "key" }, String(k)), `: distance ${signed(apart)}, ${takes} `, el("b", {}, `row ${row}`),
      ` of 0 … ${2 * window}, shared by ${plural(counts[row], "pair")}`);
    map.point({ row: query, column: k }, why.textContent);
    const y = { low: 0, high: Math.max(...counts) * 1.06, title: "pairs" };
    bars.replaceChildren(plot({ width: aside, height: 180, y, label: "pairs served by each row",
      x: { low: -window - 0.7, high: window + 0.7, title: "distance (tokens), clipped at the ends" } }, (at) => {
      const wide = Math.max(1, ((at.right - at.left) / rows) * 0.72);
      return counts.map((count, i) => svg("rect", { class: i === row ? "bar-of here" : "bar-of", width: wide,
        x: at.x(i - window) - wide / 2, y: at.y(count), height: at.bottom - at.y(count) }));
    }));
  };
  const bar = scaleBar(stops, [`≤ −${window}`, "0", `≥ +${window}`], "distance j − i (tokens)");
  const node = join(el("div", { class: "top" }, why, bar),
    [finding(`${rows} vectors serve all ${number(length * length)} pairs: distances beyond ${window} are clipped`),
      mapFigure({ map, ...size, xTitle: "key j (position)", yTitle: "query i (position) ↓" })],
    [finding(clipped ? `The two ends serve ${ends} % of the pairs` : "No pair is clipped"),
      bars, guess(view, `The window is ${window}. Can the model distinguish a token ${window + 1} positions ahead ` +
        `from one ${window + 40} positions ahead?`,
      [`No: both distances are clipped to +${window} and use row ${2 * window}. Inside the window each distance has `,
        "its own vector, on either side; and the table has the same size for 10 tokens as for 10,000."],
      true)]);
  return { node, point };
}
