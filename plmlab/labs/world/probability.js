// The Small World Lab, second view: the exact probability of a sentence, and Bayes-optimal predictions of its words.

import { presetButtons, textField } from "../shared/controls.js";
import { el } from "../shared/dom.js";
import { guess, observe } from "../shared/lab.js";
import { bars, rarity } from "../shared/probabilities.js";
import { percent, short } from "../shared/words.js";

const TALL = 84; // px: height of the highest bar

/** The heights of the bars, proportional to their nats; the full height is the maximum, at least 4 nats. */
export const heights = (nats) => nats.map((n) => (n === null ? 0 : (TALL * n) / Math.max(4, ...nats)));

/** The probability of a masked word given its left context and given both sides, in words. */
export function verdict({ word, left, both }) {
  if (!left) return `The sentence has left the grammar before '${word}', so no prediction is defined here.`;
  const before = `Given only its left context, '${word}' has probability ${percent(left.own)}`;
  if (!both) return `${before}. The other words fit no sentence, whatever word is here: there is another error, too.`;
  if (both.own === 0) return `'${word}' is impossible here: given all other words, it must be ${
    both.choices === 1 ? `'${both.likeliest[0][0]}'` : `one of ${both.choices} others`}.`;
  const times = both.own / left.own;
  const gain = times > 1.05 ? `the right context makes it ${short(times, 2)} times as likely`
    : times < 0.95 ? "the right context makes it less likely" : "the right context adds nothing";
  return `${before}; given both sides, ${percent(both.own)}: ${gain}.`;
}

/** The sum of the surprisals, in words. */
export function sumText({ words, end, nats }) {
  const terms = [...words.map((column) => column.nats), end.nats];
  return `${terms.map((n) => n.toFixed(2)).join(" + ")} = ${nats.toFixed(2)} nats: exactly −log p of the whole ` +
    "sentence, because p(sentence) is the product of all p(word | the words before it). The mean over the " +
    `${terms.length} predictions, including the end, is a language model's loss, and e to its power the perplexity.`;
}

function column({ word, nats, tall, role, pressed, act, position }) {
  return el("div", { class: `column ${role}` },
    el("span", { class: "nats" }, nats === null ? "" : nats.toFixed(2)),
    el("i", { style: `height:${Math.max(tall, nats === null ? 0 : 1)}px` }),
    act ? el("button", { type: "button", class: "chip", "data-position": position, "aria-pressed": String(pressed),
      "aria-label": `${word}${nats === null ? "" : `, ${nats.toFixed(2)} nats`}, mask it`, on: { click: act } },
      el("bdi", {}, pressed ? "[MASK]" : word)) : el("span", { class: "chip special" }, word));
}

function numbers({ nats, perplexity }) {
  const pair = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
  return el("dl", { class: "numbers" }, pair("log-probability", `−${nats.toFixed(2)} nats`),
    pair("frequency", rarity(nats)), pair("perplexity per word", perplexity.toFixed(2)));
}

/** The view: { node, draw(part) }. */
export function probabilityView(model, { signal }) {
  const view = { hidden: null, text: null };
  const tries = el("div", { class: "bar quiet" });
  const row = el("div", { class: "columns", role: "group", "aria-label": "the words: press one to mask it" });
  const why = el("p", { class: "why", role: "status", "aria-live": "polite" });
  const summary = el("div", { class: "told" });
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
    why.textContent = c ? verdict(c) : part.said;
    why.classList.toggle("error", !c && !valid);
    const shown = c ? [
      ...(c.left ? [bars("given the left context", c.left, c.word, "left")] : []),
      ...(c.both ? [bars("given all other words", c.both, c.word, "both")] : []),
    ] : valid ? [] : [bars(prefix ? `after '${words.slice(0, prefix).map((w) => w.word).join(" ")}'` : "at the beginning",
      { likeliest: part.expected, own: 0, choices: part.choices }, null, "left")];
    readers.replaceChildren(...shown);
    summary.replaceChildren(...(valid ? [numbers(part)] : []));
  };
  return {
    node: el("div", {}, el("div", { class: "bar" }, textField(model, "your sentence", signal)),
      tries,
      el("p", { class: "axes" }, "Each bar is −log p of the word, given the words before it. Press a word to mask " +
        "it, and see the predictions of the Bayes-optimal predictor."),
      el("div", { class: "scroll" }, row), summary, why, readers, ask),
    draw(part) {
      const text = part.words.map((c) => c.word).join(" ");
      if (text !== view.text) Object.assign(view, { text, hidden: part.valid ? part.gain.position : null });
      ask.replaceChildren(...(part.valid
        ? [guess(view, "Add the bars up. What is the sum?", sumText(part), text)] : []));
      paint();
    },
  };
}
