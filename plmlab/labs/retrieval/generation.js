// The answer token by token: for each token, the mixture of the documents as stacked bars, under both forms of RAG.

import { formsOf, formsSaid, mostDifferent, tokenSaid } from "./forms.js";
import { along, cellsOf } from "./layout.js";
import { was } from "./messages.js";
import { el, walked } from "../shared/dom.js";
import { decimal, quoted, shortPercent } from "../shared/words.js";

const LETTER = 0.1; // minimum height of a segment that shows its letter
const WEIGHTS = { "RAG-Sequence": "weights p(z|x,y<ᵢ): Bayes’ rule updates them after every token",
  "RAG-Token": "weights p(z|x): the same for every token" };

/** A bar of one segment per document, from the bottom. */
const stack = (kind, values, { documents, letters }) => el("span", { class: kind }, ...cellsOf({ likelihoods: values })
  .map(({ y, height }, z) => el("i", { class: `segment doc-${z}`, "data-doc": documents[z].number,
    style: `top:${(100 * y).toFixed(3)}%;height:${(100 * height).toFixed(3)}%` },
  ...(height >= LETTER ? [letters[documents[z].number]] : []))));

/** The column of a token: the weights of the documents, the mixture, the token, p and log p. */
const column = (state, form, i, show) => {
  const { text, weights, parts, p } = form.tokens[i];
  const logp = decimal(Math.log(p));
  return el("button", { type: "button", class: "token", "data-token": i, "data-at": `${form.name} ${i}`,
    "aria-label": `${form.name}, token ${i + 1} of ${form.tokens.length}, ${text}: p ${shortPercent(p)}, log p ${logp}`,
    on: { click: () => show(i), focus: () => show(i), pointerenter: () => show(i) } },
  el("span", { class: "bars" }, stack("weights", weights, state), stack("mixture", parts, state)),
  el("bdi", { class: "chip" }, text), el("span", { class: "number" }, shortPercent(p)), el("small", {}, logp));
};

/** One form: p(y|x), its most probable answer, and a column per token. */
function figure(state, a, form, { show, choose, signal }) {
  const { name, p, before, best: [best, most], tokens } = form;
  const node = el("div", { class: "tokens", role: "group", style: `--tokens:${tokens.length}`,
    "aria-label": `${name}: the tokens of the answer; the arrow keys move between them` },
  ...tokens.map((_, i) => column(state, form, i, show)));
  walked(node, along, signal);
  return el("section", { class: "form", "aria-label": name },
    el("h5", {}, name, el("span", { class: "whole" }, `p(y|x) = ${shortPercent(p)}`, el("small", {}, ` ${was(before, p)}`))),
    el("p", {}, WEIGHTS[name]),
    el("p", { class: "best" }, "most probable answer: ", best === a ? el("b", {}, "this one")
      : el("button", { type: "button", class: "act", "data-at": `best ${name}`,
        on: { click: () => choose(state.answers[best].text) } }, el("bdi", {}, quoted(state.answers[best].text)), ` ${shortPercent(most)}`)),
    el("div", { class: "frame" }, el("div", { class: "rules", "aria-hidden": "true" },
      ...["100\u00a0%", "50\u00a0%", "0"].map((text, i) => el("small", { style: `top:${50 * i}%` }, text)),
      el("span", {}, "yᵢ"), el("span", {}, "p"), el("small", { class: "log" }, "log p")), node));
}

/** The numbers of one token: each document's prediction, and its weight and contribution under both forms. */
function table(state, forms, i) {
  const columns = forms.map(({ tokens }) => tokens[i]);
  const cells = (values) => values.map((value) => el("td", {}, value === null ? "" : shortPercent(value)));
  return el("table", {}, el("caption", {}, `Token ${i + 1}, `, el("bdi", {}, quoted(columns[0].text)), ": contribution = weight × p(yᵢ|x,z,y<ᵢ)"),
    el("thead", {}, el("tr", {}, el("td", {}), el("td", {}), ...forms.map(({ name }) => el("th", { scope: "colgroup", colspan: 2 }, name))),
      el("tr", {}, ...["document z", "p(yᵢ|x,z,y<ᵢ)", "weight", "contribution", "weight", "contribution"].map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, ...state.documents.map(({ number, title }, z) => el("tr", { "data-doc": number },
      el("th", { scope: "row" }, el("i", { class: `swatch doc-${z}` }), el("b", { class: "badge" }, state.letters[number]), " ", el("bdi", {}, title || "untitled")),
      ...cells([columns[0].predictions[z], ...columns.flatMap(({ weights, parts }) => [weights[z], parts[z]])])))),
    el("tfoot", {}, el("tr", {}, el("th", { scope: "row" }, "sum"), ...cells([null, ...columns.flatMap(({ p }) => [1, p])]))));
}

/** The panel. `view.token` keeps the token that is shown, { answer, i }, while the answer stays the same. */
export function generationOf(state, a, { view, point, choose, signal }) {
  const forms = formsOf(state, a);
  const answer = state.answers[a].text;
  const said = el("p", { class: "why", role: "status", "aria-live": "polite" });
  const numbers = el("div", { class: "scroll" });
  const show = (i) => {
    view.token = { answer, i };
    for (const one of node.querySelectorAll(".token")) one.classList.toggle("shown", Number(one.dataset.token) === i);
    said.textContent = tokenSaid(state, forms, i);
    numbers.replaceChildren(table(state, forms, i));
  };
  const node = el("section", { class: "generation", "aria-label": "the answer, token by token" },
    el("h4", {}, "The answer, token by token"), el("p", {}, formsSaid(state, a, forms)),
    el("p", { class: "note" }, "The narrow bar shows the documents’ weights. The wide bar is as high as p(yᵢ|x,y<ᵢ); its segments are the documents’ contributions. log p is in nats."),
    el("div", { class: "forms" }, ...forms.map((form) => figure(state, a, form, { show, choose, signal }))), said, numbers);
  show(view.token?.answer === answer ? view.token.i : mostDifferent(forms));
  node.addEventListener("pointerover", (event) => {
    const on = event.target.closest("[data-doc]");
    point(on ? Number(on.dataset.doc) : null);
  });
  node.addEventListener("pointerleave", () => point(null));
  return node;
}
