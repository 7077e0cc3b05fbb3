// The nearest stored occurrences of a word, each with its sentence; and nearest-neighbour accuracy over many queries.

import { SCORES } from "./maths.js";
import { NAMED, WHAT, chanceSaid, neighbourSaid, senseName } from "./messages.js";
import { radioGroup } from "../shared/controls.js";
import { clamp, el } from "../shared/dom.js";
import { decimal, share } from "../shared/words.js";

const HEADS = ["cosine", "word", "sense", "nearest stored sentence of each pattern"];
const sign = (yes) => (yes === null ? "?" : yes ? "✓" : "✗");

/** The list. `asked` is { word, sense }, `near` are rows with their scores; `say(text)` is called with the description
    of the row under the pointer. */
export function neighboursOf({ store, asked, near, strangers, say }) {
  const rows = near.map(({ row, score, more }, i) => {
    const { words, place, word, sense } = store.known.rows[row];
    const name = store.senses[sense];
    const neighbour = { word, sense: name, score, rank: i + 1, more, strangers };
    const [form, meaning] = [word === asked.word, asked.sense === null ? null : name === asked.sense];
    const pieces = words.flatMap((token, at) => [at ? " " : "", at === place ? el("mark", {}, token) : token]);
    return { neighbour, node: el("tr", { tabindex: i ? -1 : 0, "aria-label": neighbourSaid(neighbour, asked) },
      el("td", { class: "cosine" }, decimal(score)),
      el("td", { class: form ? "yes" : "no" }, sign(form)),
      el("td", { class: meaning ? "yes" : "no" }, sign(meaning), el("small", {}, ` ${senseName(name)}`)),
      el("td", { class: "said-by" }, el("bdi", {}, ...pieces), more ? el("small", {}, ` and ${more} more`) : "")) };
  });
  const body = el("tbody", {}, ...rows.map(({ node }) => node));
  const at = (event) => rows.findIndex(({ node }) => node === event.target.closest("tr"));
  const point = (event) => { if (at(event) >= 0) say(neighbourSaid(rows[at(event)].neighbour, asked)); };
  body.addEventListener("pointerover", point);
  body.addEventListener("focusin", point);
  body.addEventListener("pointerleave", () => say(""));
  body.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1, Home: -rows.length, End: rows.length }[event.key];
    if (!by) return;
    const next = clamp(at(event) + by, 0, rows.length - 1);
    rows.forEach(({ node }, i) => { node.tabIndex = i === next ? 0 : -1; });
    rows[next].node.focus();
    event.preventDefault();
    event.stopPropagation();
  });
  return el("table", { class: "near" },
    el("thead", {}, el("tr", {}, ...HEADS.map((name) => el("th", { scope: "col" }, name)))), body);
}

/** The four accuracies with their chance baselines. `onScore(name)` selects the one that the triangle shows;
    `show(scores, name)` draws; scores are null while they are being computed. */
export function scoresOf({ chance, counted, onScore }) {
  const rows = SCORES.map((name) => {
    const [bar, number] = [el("i", { class: "hit" }), el("b")];
    const tick = el("i", { class: "chance", style: `left:${100 * chance[name]}%` });
    return { name, bar, number, option: [name, [el("span", { class: "what" }, WHAT[name]),
      el("span", { class: "track" }, bar, tick), number,
      el("span", { class: "note" }, `of ${counted[name]}; chance ${share(chance[name])}`)],
    { "aria-label": `colour the triangle by: ${NAMED[name]}` },
    { class: name.endsWith("elsewhere") ? "score elsewhere" : "score", title: `chance: ${chanceSaid(name)}` }] };
  });
  const group = radioGroup({ label: "accuracy of the nearest stored neighbour", kind: "scores",
    options: rows.map(({ option }) => option) }, onScore);
  return { node: group.node, show(scores, chosen) {
    group.show(chosen);
    for (const { name, bar, number } of rows) {
      bar.style.width = scores ? `${100 * scores[name]}%` : "0";
      number.textContent = scores ? share(scores[name]) : "…";
    }
  } };
}
