// The arithmetic of one cell, in three steps: the score, the softmax of the row, the weighted sum of the values.

import { cellOf, fixed, ordered, takenAlong } from "./numbers.js";
import { clamp, el, svg } from "../shared/dom.js";

const ROWS_SHOWN = 8;
const STRIP = 38;

/** Bars up and down from the middle of a strip, as an SVG path, scaled so that `tallest` fits. */
export function bars(values, width, tallest) {
  const step = width / values.length;
  const wide = Math.max(step - 1, step * 0.7);
  let path = "";
  values.forEach((value, i) => {
    const height = (value / (tallest || 1)) * (STRIP / 2 - 1);
    path += `M${(i * step).toFixed(2)} ${STRIP / 2}v${(-height).toFixed(2)}h${wide.toFixed(2)}v${height.toFixed(2)}z`;
  });
  return path;
}

const largest = (...lists) => Math.max(...lists.map((list) => list.reduce((m, v) => Math.max(m, Math.abs(v)), 0)));

/**
 * Stacked bar charts, one bar per dimension: [{ name, role, values, tallest }]. The pointer and the arrow keys pick a
 * dimension; `said(i)` describes it.
 */
export function strips(list, label, said, room) {
  const count = list[0].values.length;
  const step = room / count;
  let now = -1;
  const line = el("p", { class: "dimension" }, `${count} dimensions: hover over a bar, or use the arrow keys.`);
  const cursors = list.map(() => svg("rect", { class: "picked", y: 0, width: step, height: STRIP, x: -2 * step }));
  const drawn = list.map(({ name, role, values, tallest }, i) => el("div", { class: "strip" },
    el("span", { class: role }, name),
    svg("svg", { viewBox: `0 0 ${room} ${STRIP}`, width: room, height: STRIP, "aria-hidden": "true" },
      cursors[i], svg("path", { class: "zero-line", d: `M0 ${STRIP / 2}H${room}` }),
      svg("path", { class: `bars ${role}`, d: bars(values, room, tallest) }))));
  const node = el("div", {
    class: "strips", role: "slider", tabindex: "0", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": count - 1,
    "aria-valuenow": 0, "aria-valuetext": `${count} dimensions`,
  }, ...drawn);
  const pick = (i) => {
    now = clamp(i, 0, count - 1);
    for (const cursor of cursors) cursor.setAttribute("x", now * step);
    line.textContent = said(now);
    node.setAttribute("aria-valuenow", now);
    node.setAttribute("aria-valuetext", line.textContent);
  };
  node.addEventListener("pointermove", (event) => {
    const box = drawn[0].lastChild.getBoundingClientRect();
    const i = Math.floor(((event.clientX - box.left) / box.width) * count);
    if (i !== now && i >= 0 && i < count) pick(i);
  });
  node.addEventListener("keydown", (event) => {
    const to = {
      ArrowLeft: now - 1, ArrowDown: now - 1, ArrowRight: now + 1, ArrowUp: now + 1, Home: 0, End: count - 1,
    };
    if (!(event.key in to)) return;
    pick(to[event.key]);
    event.preventDefault();
    event.stopPropagation();
  });
  return [node, line];
}

const word = (role, text) => el("bdi", { class: role }, text);

function step(title, ...parts) {
  return el("section", { class: "step" }, el("h5", {}, title), ...parts);
}

function match(detail, cell, { q, k }, room) {
  const [query, key] = [detail.q(q), detail.k(k)];
  const both = largest(query, key);
  const [q1, k1] = [
    { name: "q", role: "query", values: query, tallest: both }, { name: "k", role: "key", values: key, tallest: both },
  ];
  if (detail.scale === null) {
    return step("1 · Score: how well do query and key match?",
      ...strips([q1, k1], "query and key, dimension by dimension",
        (i) => `dimension ${i}: q is ${fixed(query[i])}, k is ${fixed(key[i])}`, room),
      el("p", { class: "sum" }, "score = ", el("b", {}, fixed(cell.score))),
      el("p", { class: "note" }, `The score is not an inner product of q and k, but ${detail.formula}.`));
  }
  const said = (i) => `dimension ${i}: ${fixed(query[i])} × ${fixed(key[i])} = ${fixed(cell.products[i])}`;
  const added = cell.added ? ` ${cell.added < 0 ? "−" : "+"} ${fixed(Math.abs(cell.added))}` : "";
  const divided = detail.scale === 1 ? "" : ` ÷ √${detail.width}`;
  return step("1 · Score: how well do query and key match?",
    ...strips([q1, k1,
      { name: "q×k", role: "both", values: cell.products, tallest: largest(cell.products) },
    ], "query and key, dimension by dimension", said, room),
    el("p", { class: "sum" }, word("query", "q"), "·", word("key", "k"), ` = ${fixed(cell.dot)}`),
    el("p", { class: "sum" }, `score = ${fixed(cell.dot)}${divided}${added} = `, el("b", {}, fixed(cell.score))),
    ...(cell.added ? [el("p", { class: "note" }, `${fixed(cell.added)} is the model's bias for this distance.`)]
      : []));
}

function shares(cell, { k }, names) {
  const line = cell.row[k];
  const open = ordered(cell.row).filter(({ may }) => may);
  const shown = open.filter((one, i) => i < ROWS_SHOWN || one.k === k);
  const rest = open.filter((one) => !shown.includes(one));
  if (!line.may) shown.push(line);
  const blocked = cell.row.length - open.length - (line.may ? 0 : 1);
  const lineOf = ({ k: j, score, part, weight, may }) => el("tr", { class: j === k ? "here" : "" },
    el("th", { scope: "row" }, word(j === k ? "key" : "", names.positions[j])),
    el("td", {}, may ? fixed(score, 2) : "−∞"), el("td", {}, fixed(part)),
    el("td", { class: "share" }, el("i", { style: `width:${(40 * weight).toFixed(1)}px` }), fixed(weight)));
  const others = rest.length ? [el("tr", { class: "rest" },
    el("th", { scope: "row" }, rest.length === 1 ? "one more" : `${rest.length} more`), el("td", {}, ""),
    el("td", {}, fixed(rest.reduce((t, r) => t + r.part, 0))),
    el("td", { class: "share" }, fixed(rest.reduce((t, r) => t + r.weight, 0))))] : [];
  if (blocked) {
    others.push(el("tr", { class: "rest" }, el("th", { scope: "row" }, `${blocked} blocked`), el("td", {}, "−∞"),
      el("td", {}, fixed(0)), el("td", { class: "share" }, fixed(0))));
  }
  const why = line.may ? `weight = ${fixed(line.part)} ÷ ${fixed(cell.total)} = `
    : "this query cannot attend to this key: its score is set to −∞, and its weight is ";
  return step("2 · Softmax of the row",
    el("table", { class: "row-shares" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "key"), el("th", { scope: "col" }, "score s"),
        el("th", { scope: "col" }, "e^(s − m)"), el("th", { scope: "col" }, "weight"))),
      el("tbody", {}, ...shown.map(lineOf), ...others),
      el("tfoot", {}, el("tr", {}, el("th", { scope: "row" }, "sum"), el("td", {}, ""), el("td", {}, fixed(cell.total)),
        el("td", { class: "share" }, fixed(cell.row.reduce((t, r) => t + r.weight, 0)))))),
    el("p", { class: "sum" }, why, el("b", {}, fixed(line.weight))),
    el("p", { class: "note" },
      `m = ${fixed(cell.most, 2)} is the largest score in the row: subtracting it changes no weight.`));
}

function taking(detail, cell, { q, k }, off, names, room) {
  const value = detail.v(k);
  const { share, all } = takenAlong(detail, cell.row, k);
  const given = detail.mixed(q);
  const apart = largest(all.map((v, i) => v - given[i])) > 1e-3 * Math.max(1, largest(all));
  const weight = cell.row[k].weight;
  const both = largest(share, all);
  const said = (i) => `dimension ${i}: ${fixed(weight)} × ${fixed(value[i])} = ${fixed(share[i])} of ${fixed(all[i])}`;
  return step("3 · Weighted sum of the values",
    ...strips([
      { name: "v", role: "target", values: value, tallest: largest(value) },
      { name: "α·v", role: "target", values: share, tallest: both },
      { name: "Σ α·v", role: "both", values: all, tallest: both },
    ], "value and weighted value, dimension by dimension", said, room),
    el("p", { class: "sum" }, "the value of ", word("key", names.keys[k]), ` enters the output of `,
      word("query", names.queries[q]), ` with weight ${fixed(weight)}; the sum over all keys is the head's output.`),
    ...(off ? [el("p", { class: "note" }, "The head is switched off: its output is zero instead of this sum.")]
      : apart ? [el("p", { class: "note" }, "The model adds a term that depends on the distances.")] : []));
}

function allNumbers(detail, cell, { q, k }) {
  const { share, all } = takenAlong(detail, cell.row, k);
  const columns = [
    ["q", detail.q(q)], ["k", detail.k(k)], ...(detail.scale === null ? [] : [["q×k", cell.products]]),
    ["v", detail.v(k)], ["α·v", share], ["Σ α·v", all],
  ];
  return el("details", { class: "table-of" }, el("summary", {}, "all numbers"), el("div", { class: "scroll" },
    el("table", {},
      el("thead", {}, el("tr", {}, ...["dimension", ...columns.map(([name]) => name)]
        .map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, ...all.map((_, i) => el("tr", {}, el("th", { scope: "row" }, i),
        ...columns.map(([, values]) => el("td", {}, fixed(values[i])))))))));
}

/** The whole arithmetic of a cell; `place` names the head, `room` is the width of the lab. */
export function arithmetic(detail, rule_ids, at, { names, place, off, room }) {
  const may = (k) => rule_ids[at.q * names.keys.length + k] > 0;
  const cell = cellOf(detail, at.q, at.k, may);
  const across = room >= 820 ? 3 : room >= 560 ? 2 : 1;
  const wide = clamp(Math.floor(room / across) - 24 - 48, 160, 330);
  return [
    el("h4", {}, `Computing ${fixed(cell.row[at.k].weight)}: `, word("query", names.queries[at.q]), " attends to ",
      word("key", names.keys[at.k]), el("span", {}, place)),
    el("div", { class: `steps across-${across}`, style: `grid-template-columns:repeat(${across}, minmax(0, 1fr))` },
      match(detail, cell, at, wide), shares(cell, at, names), taking(detail, cell, at, off, names, wide)),
    allNumbers(detail, cell, at),
  ];
}
