// The Small World's lab, second view: the exact probability of a sentence, and what the best reader makes of it.

import { presetButtons, textField } from "../shared/controls.js";
import { el } from "../shared/dom.js";
import { guess, observe } from "../shared/lab.js";
import { bars, rarity } from "../shared/probabilities.js";
import { percent, short } from "../shared/words.js";

const TALL = 84; // px, of the highest bar

/** How high a bar stands: in proportion to its nats, on a scale that at least 4 nats fill. */
export const heights = (nats) => nats.map((n) => (n === null ? 0 : (TALL * n) / Math.max(4, ...nats)));

/** What a hidden word is worth to whom, in a sentence. */
export function verdict({ word, left, both }) {
  if (!left) return `The sentence has left the grammar before '${word}': the readers have nothing to go by.`;
  const before = `Who has read only what stands before it gives '${word}' ${percent(left.own)}`;
  if (!both) return `${before}. The words around it fit no sentence, whatever stands here: the mistake is elsewhere too.`;
  if (both.own === 0) return `'${word}' cannot stand here: given all other words, it must be ${
    both.choices === 1 ?}`'${both.likeliest[0][0]}'` : `one of ${both.choices} others`}.`;
  const times = both.own / left.own;
  const gain = times > 1.05 ? `the right side makes it ${short(times, 2)} times as likely`
    : times < 0.95 ? "the right side speaks against it" : "the right side adds nothing";
  return `${before}; who sees both sides, ${percent(both.own)}: ${gain}.`;
}

/** The sum that the question asks for, in words. */
export function sumText({ words, end, nats }) {
  const terms = [...words.map((column) => column.nats), end.nats];
  return `${terms.map((n) => n.toFixed(2)).join(" + ")} = ${nats.toFixed(2)} nats: exactly −log p of the whole ` +
    `sentence, since p(sentence) is the product of p(word | the words before it). Their mean over the ` +
    `${terms.length} predictions, the end included, is a language model's loss, and e to its power the perplexity.`;
}

function column({ word, nats, tall, role, pressed, act, position }) {
  return el("div", { class: `column ${role}` },
    el("span", { class: "nats" }, nats === null ? "" : nats.toFixed(2)),
    el("i", { style: `height:${Math.max(tall, nats === null ? 0 : 1)}px` }),
    act ? el("button", { type: "button", class: "chip", "data-position": position, "aria-pressed": String(pressed),
      "aria-label": `${word}${nats === null ? "" :}`, ${nats.toFixed(2)} nats`}, hide it`, on: { click: act } },
      el("bdi", {}, pressed ? "[MASK]" : word)) : el("span", { class: "chip special" }, word));
}

function numbers({ nats, perplexity }) {
  const pair = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
  return el("dl", { class: "numbers" }, pair("log-probability", `−${nats.toFixed(2)} nats`),
    pair("it comes up", rarity(nats)), pair("perplexity a word", perplexity.toFixed(2)));
}

/** The view: { node, draw(part) }. */
export function probabilityView(model, { signal }) {
  const view = { hidden: null, text: null };
  const tries = el("div", { class: "bar quiet" });
  const row = el("div", { class: "columns", role: "group", "aria-label": "the words: press one to hide it" });
  const said = el("p", { class: "why", role: "status", "aria-live": "polite" });
  const told = el("div", { class: "told" });
  const readers = el("div", { class: "readers" });
  const ask = el("div", {});
  row.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const buttons = [...row.querySelectorAll("button")];
    const to = buttons[buttons.indexOf(document.activeElement) + (step ?? NaN)];
    if (!to) return;
    to.focus();
    event.preventDefault();
    event.stopPropagation();
  });
  const offer = () => tries.replaceChildren(presetButtons(model, model.get("menu").presets));
  observe(model, ["menu"], offer, signal);
  offer();

  const paint = () => {
    const part = model.get("state").probability;
    const { words, prefix, valid } = part;
    const tall = heights([...words.map((c) => c.nats), valid ? part.end.nats : null]);
    const focus = row.contains(document.activeElement) ? document.activeElement.dataset.position : null;
    row.replaceChildren(...words.map((c, position) => column({
      word: c.word, nats: c.nats, tall: tall[position], position, pressed: view.hidden === position,
      role: position < prefix ? "" : position === prefix ? "wrong" : "after",
      act: () => { view.hidden = view.hidden === position ? null : position; paint(); },
    })), ...(valid ? [column({ word: "the end", nats: part.end.nats, tall: tall.at(-1), role: "end" })] : []));
    row.querySelector(`[data-position="${focus}"]`)?.focus({ preventScroll: true });
    const c = words[view.hidden];
    said.textContent = c ? verdict(c) : part.said;
    said.classList.toggle("error", !c && !valid);
    const shown = c ? [
      ...(c.left ? [bars("who has read only what stands before it", c.left, c.word, "left")] : []),
      ...(c.both ? [bars("who sees all other words", c.both, c.word, "both")] : []),
    ] : valid ? [] : [bars(prefix ? `after '${words.slice(0, prefix).map((w) => w.word).join(" ")}'` : "at the beginning",
      { likeliest: part.expected, own: 0, choices: part.choices }, null, "left")];
    readers.replaceChildren(...shown);
    told.replaceChildren(...(valid ? [numbers(part)] : []));
  };
  return {
    node: el("div", {}, el("div", { class: "bar" }, textField(model, "your sentence", signal)),
      tries,
      el("p", { class: "axes" }, "Each bar is −log p of the word, given the words before it. Press a word to hide it: what " +
        "would the best possible reader say?"),
      el("div", { class: "scroll" }, row), told, said, readers, ask),
    draw(part) {
      const text = part.words.map((c) => c.word).join(" ");
      if (text !== view.text) Object.assign(view, { text, hidden: part.valid ? part.gain.position : null });
      ask.replaceChildren(...(part.valid
        ? [guess(view, "Add the bars up. What is the sum?", sumText(part), text)] : []));
      paint();
    },
  };
}
