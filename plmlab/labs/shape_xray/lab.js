// The Shape X-ray: draws the tensor of every line as a block of cells, both splits side by side, and highlights the
// elements of one token in them.

import { blockOf, cellSize, placesOf } from "./block.js";
import { ROLES, SPLIT, cellOf, countOf, feedsOf, linesOf, marksOf, walk } from "./lines.js";
import { answer, cellSentence, countSentence, finding, question, splitFinding } from "./words.js";
import { radioGroup, textField } from "../shared/controls.js";
import { clamp, el, resized } from "../shared/dom.js";
import { guess, lab, observe, tell, written } from "../shared/lab.js";

/** Radio buttons in the style of chips; each option is [value, title]. */
const choice = (label, options, value, send) => radioGroup({ label, lead: el("span", {}, label), kind: "choice", value,
  options: options.map(([own, title]) => [own, title, {}, { class: "chip" }]) }, send);

/** Code with q, k and v in their roles' colours. */
const coloured = (code) => code.split(/\b([qkv])\b/).map((part, i) =>
  (i % 2 ? el("b", { class: ROLES[part] }, part) : part));

const axesOf = (axes) => axes.flatMap(([name, size], i) => [i ? " × " : "",
  el("span", { class: name === "query" || name === "key" ? name : "" }, name), ` ${size}`]);

const plain = (parts) => parts.map(({ text }) => text).join("");
const WAYS = ["rearrange", "view alone"];

/** The text and drawing of a line. `wrong` is whether it shows the wrong split; undefined for lines other than the
    split. */
function panelOf(at, line, wrong, drawing) {
  const tensors = `the elements of ${[...new Set(line.slabs.map(({ of }) => of))].join(", ")}`;
  const block = blockOf(line, wrong === undefined ? tensors : `${tensors}, split by ${WAYS[Number(wrong)]}`, drawing);
  const [code, note, count] = [el("code"), el("p", { class: "note" }), el("p", { class: "count" })];
  const text = el("div", { class: "line" }, code, el("p", { class: "axes" }, ...axesOf(line.axes)), note, count);
  return { at, wrong, block, code, note, count, nodes: [text, el("div", { class: "scroll" }, block.node)] };
}

/** One way to split, with its name and verdict. */
function wayOf(panel, same) {
  const [name, mark] = [WAYS[Number(panel.wrong)], panel.wrong && !same ? "✗" : "✓"];
  const judged = panel.wrong ? same ? "same result here" : "incorrect, same shape" : "correct";
  const used = el("span", { class: "used" }, "lines 4–8 use it");
  const title = `${name}: ${judged}`;
  const node = el("div", { class: `way${mark === "✗" ? " wrong" : ""}`, role: "group", "aria-label": title },
    el("p", { class: "judged" }, el("b", { "aria-hidden": "true" }, mark), el("span", {}, title), used),
    ...panel.nodes);
  return { node, show: (wrong) => { used.hidden = wrong !== panel.wrong; } };
}

export default lab({
  title: "Where is my word in this tensor?",
  lead: "The forward method of multi-head attention, line by line, on real tensors. Follow one word; hover over a " +
  "cell or move with the arrow keys.",
}, ({ model, signal, parts }) => {
  parts.node.classList.add("xray");
  const last = () => (model.get("state").tokens?.length ?? 1) - 1;
  const begin = () => tell(model, { followed: Math.min(2, last()), wrong: false });
  const bar = el("div", { class: "bar" }, textField(model, "your sentence", signal),
    el("button", { type: "button", on: { click: begin } }, "reset"));
  const chosen = el("div", { class: "bar quiet choices" });
  parts.controls.prepend(bar, chosen);
  const found = el("p", { class: "found", role: "status", "aria-live": "polite" });
  const why = el("p", { class: "why", role: "status", "aria-live": "polite" });
  const view = { open: null };
  let [cursor, repaint] = [{ line: 5, slab: 1, row: 4, column: 1 }, () => {}];

  const draw = () => {
    const state = model.get("state");
    if (!state.tokens) return parts.body.replaceChildren();
    const both = [linesOf(state, false), linesOf(state, true)];
    const label = clamp(7 * Math.max(...state.tokens.map((token) => [...token].length)) + 24, 45, 84);
    const { cell, beside } = cellSize(both[0], label, parts.body.clientWidth);
    const widest = Math.max(...both[0].map(({ slabs }) => placesOf(slabs, cell).width));
    const walked = parts.body.contains(document.activeElement) && document.activeElement.matches(".cross");
    const isWrong = ({ wrong = model.get("wrong") }) => wrong;
    const passOf = (of) => (isWrong(of) ? state.wrong : state.right);
    const linesFor = (of) => both[Number(isWrong(of))];
    const followed = () => clamp(model.get("followed"), 0, last());
    const follow = (position) => tell(model, { followed: position });
    const tokens = choice("follow", state.tokens.map((token, i) => [i, el("bdi", {}, token)]), followed(), follow);
    const splits = choice("lines 4–8 use", WAYS.map((way, i) => [i === 1, way]), model.get("wrong"),
      (wrong) => tell(model, { wrong }));
    chosen.replaceChildren(tokens.node, splits.node);

    const go = (to, act = false) => {
      const { slabs } = linesFor(to)[to.line];
      const slab = Math.min(to.slab, slabs.length - 1);
      const columns = slabs[slab].numbers[0].length;
      cursor = { ...to, slab, row: Math.min(to.row, last()), column: Math.min(to.column, columns - 1),
        wrong: to.line === SPLIT ? isWrong(to) : undefined };
      const sentence = cellSentence(state, passOf(cursor), linesFor(cursor), cursor, followed());
      why.replaceChildren(...written(sentence));
      const feeds = feedsOf(state, passOf(cursor), cursor);
      panels.forEach((panel) => {
        const seen = panel.wrong === undefined || panel.wrong === isWrong(cursor);
        panel.block.ring(feeds.filter(({ line }) => seen && line === panel.at));
        if (seen && panel.at === cursor.line) panel.block.point(cursor, plain(sentence));
        else panel.block.leave();
      });
      if (act) {
        const { line, row, column } = cursor;
        follow(cellOf(state, passOf(cursor), linesFor(cursor)[line], slabs[slab], row, column, followed()).position);
      }
    };
    const cross = () => panels.map(({ block }) => block.cross).find(({ hidden }) => !hidden);
    const onKey = (event) => {
      const to = walk(event.key, cursor, linesFor(cursor));
      if (to) {
        go(to);
        cross().focus({ preventScroll: true });
        cross().scrollIntoView({ block: "nearest", inline: "nearest" });
      } else if (event.key === "Enter" || event.key === " ") go(cursor, true);
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    const panelFor = (line, wrong) => {
      const onCell = (at, act) => {
        const to = { line, wrong, ...at };
        if (act || Object.keys(to).some((name) => to[name] !== cursor[name])) go(to, act);
        if (act) cross().focus({ preventScroll: true });
      };
      return panelOf(line, linesFor({ wrong })[line], wrong,
        { cell, names: state.tokens, label, onCell, onFollow: follow, onKey });
    };
    const panels = both[0].flatMap((_, i) => (i === SPLIT ? [panelFor(i, false), panelFor(i, true)] : [panelFor(i)]));
    const ways = panels.filter(({ at }) => at === SPLIT).map((panel) => wayOf(panel, state.same));
    const compared = el("p", { class: "compared", role: "status", "aria-live": "polite" });
    let asked = { node: el("div"), text: null };
    const ask = () => {
      const pieces = question(state, followed());
      if (plain(pieces) === asked.text) return;
      const node = guess(view, el("bdi", {}, ...written(pieces)), written(answer(state, followed())), plain(pieces));
      asked.node.replaceWith(node);
      asked = { node, text: plain(pieces) };
    };
    repaint = () => {
      tokens.show(followed());
      splits.show(model.get("wrong"));
      ways.forEach((way) => way.show(model.get("wrong")));
      panels.forEach((panel) => {
        const line = linesFor(panel)[panel.at];
        panel.code.replaceChildren(...coloured(line.code));
        panel.note.textContent = line.note;
        const marks = marksOf(state, passOf(panel), line, followed());
        panel.count.replaceChildren(...written(countSentence(line.kind, countOf(marks), state.names[followed()])));
        panel.block.paint(marks);
        panel.block.labels.forEach((row, position) => row.classList.toggle("followed", position === followed()));
      });
      found.replaceChildren(...written(finding(state, model.get("wrong"), followed())));
      compared.replaceChildren(...written(splitFinding(state, followed())));
      ask();
      go(cursor);
    };
    const step = (i) => (i === SPLIT
      ? el("li", { class: "split" }, ...ways.map(({ node }) => node), compared)
      : el("li", {}, ...panels.find(({ at }) => at === i).nodes));
    parts.body.replaceChildren(
      el("div", { class: "told" }, el("div", {}, found, why), asked.node),
      el("ol", { class: `lines${beside ? "" : " stacked"}`, style: `--drawing:${label + widest + 4}px` },
        ...both[0].map((_, i) => step(i))));
    repaint();
    if (walked) cross().focus({ preventScroll: true });
  };

  observe(model, ["state"], draw, signal);
  observe(model, ["followed", "wrong"], () => repaint(), signal);
  resized(parts.body, draw, signal);
  draw();
});
