// The Small World Lab, fourth view: a bridge question, hop by hop through its cognitive graph.

import { radioGroup } from "../shared/controls.js";
import { el } from "../shared/dom.js";
import { tell } from "../shared/lab.js";
import { KINDS, link, pieces, prose } from "../shared/probabilities.js";

/** A hop in words. */
export const hopText = ({ relation, backward, name }, from) =>
  (backward ? `whose ${relation} is ${from}? ${name}` : `${from}'s ${relation}: ${name}`);

/** The feedback on the user's guess after the last hop. */
export function judged(guess, answer) {
  if (guess === null) return `The answer: ${answer}.`;
  return `The answer: ${answer}. ${guess === answer ? "Your guess was correct." : `Your guess was ${guess}.`}`;
}

function chain(part, reached, go) {
  const stop = ({ key, name, kind }, role) => {
    const node = link("", key, KINDS[kind] ? go : null, { kind: `stop ${role}`, title: "to the article" });
    node.append(el("b", {}, name), el("span", {}, KINDS[kind] ?? kind));
    return node;
  };
  const hidden = el("span", { class: "stop hidden" }, el("b", {}, "?"));
  const arrow = ({ relation, backward }, open) => el("span", { class: "hop" },
    el("span", {}, open ? relation : "…"), el("i", { "aria-hidden": "true" }, backward && open ? "⟵" : "⟶"));
  return el("div", { class: "chain" }, stop(part.start, "question"), ...part.hops.flatMap((hop, i) => {
    const open = i < reached;
    return [arrow(hop, open),
      open ? stop({ ...hop, key: hop.target }, i === part.hops.length - 1 ? "answer" : "between") : hidden.cloneNode(true)];
  }));
}

/** The view: { node, draw(part) }. */
export function questionView(model, { go }) {
  const disabled = model.get("alone");
  const view = { number: null, reached: 0, guess: null };
  const words = el("p", { class: "asked" });
  const chinese = el("p", { class: "axes", lang: "zh" });
  const options = el("div");
  const graph = el("div", { class: "scroll" });
  const read = el("ol", { class: "read-hops", "aria-live": "polite" });
  const end = el("p", { class: "why", role: "status", "aria-live": "polite" });
  const next = el("button", { type: "button", class: "next", on: { click: () => { view.reached += 1; paint(); } } });
  const again = el("button", { type: "button", on: { click: () => { view.reached = 0; paint(); } } }, "from the start");
  const other = el("button", { type: "button", disabled,
    on: { click: () => tell(model, { asked: model.get("asked") + 1 }) } }, "another question");
  const guessing = ({ guesses }) => options.replaceChildren(radioGroup({
    label: "your guess", kind: "guesses", value: view.guess, lead: el("b", {}, "Guess first:"),
    options: guesses.map((option) => [option, option]),
  }, (option) => {
    view.guess = option;
    paint();
  }).node);
  const paint = () => {
    const part = model.get("state").question;
    const done = view.reached >= part.hops.length;
    const from = (i) => (i ? part.hops[i - 1].name : part.start.name);
    graph.replaceChildren(chain(part, view.reached, go));
    read.replaceChildren(...part.hops.slice(0, view.reached).map((hop, i) => el("li", {},
      el("b", {}, hopText(hop, from(i))),
      el("p", {}, `sentence ${hop.place} of '${hop.article}': `, ...prose(hop.sentence, go)))));
    next.textContent = view.reached ? "the next hop" : "the first hop";
    next.disabled = done;
    again.disabled = !view.reached;
    for (const box of options.querySelectorAll("input")) box.disabled = done;
    end.textContent = done ? judged(view.guess, part.answer)
      : `${part.hops.length - view.reached} of ${part.hops.length} hops to go. Each hop has to be read before it is ` +
        "clear where to look for the next.";
  };
  return {
    node: el("div", {}, words, chinese, options, graph, el("div", { class: "bar" }, next, again, other), end, read,
      el("p", { class: "axes shelved" })),
    draw(part) {
      const key = `${part.start.key} ${part.words.join(" ")}`;
      if (view.number !== key) Object.assign(view, { number: key, reached: 1, guess: null });
      words.textContent = pieces(part.words, []).map(({ text, space }) => (space ? " " : "") + text).join("");
      chinese.textContent = part.chinese;
      this.node.querySelector(".shelved").textContent = `The context, shuffled: ${part.articles.join(" · ")}. ` +
        `${part.needed} of these articles are needed; the others are distractors.`;
      guessing(part);
      paint();
    },
  };
}
