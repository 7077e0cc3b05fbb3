// The Retrieval Lab: documents retrieved for a query, the predictions from them, and the effect of edits.

import { controls, ownAnswer } from "./controls.js";
import { asItWas, cardsOf, deleted, editorOf, formOf, leftOut, listedOf, shelfOf, written } from "./documents.js";
import { generationOf } from "./generation.js";
import { mapOf } from "./map.js";
import { mosaicOf } from "./mosaic.js";
import { NULL, answerSaid, changedSaid, chosenOf, documentSaid, guessOf, partsOf } from "./messages.js";
import { wordsOf } from "./wording.js";
import { eachFrame, el, resized } from "../shared/dom.js";
import { guess, lab, observe, setter, tell } from "../shared/lab.js";

const EDITS = ["added", "replaced", "removed", "excluded"];

export default lab({
  title: (model) => wordsOf(model.get("state")).title,
  lead: (model) => wordsOf(model.get("state")).lead,
}, ({ model, signal, parts }) => {
  const words = wordsOf(model.get("state"));
  parts.node.classList.add("retrieval", `of-${words.many}`);
  const disabled = Boolean(model.get("alone"));
  const menu = model.get("menu");
  const choose = setter(model);
  const view = { opened: null, editor: null, form: null, map: null, token: null, guess: { open: null }, life: null };
  const edits = () => Object.fromEntries(EDITS.map((name) => [name, model.get(name)]));
  parts.controls.prepend(...controls(model, signal, choose));
  const [finding, changed, why] = ["finding", "changed", "why"].map((name) => el("p", { class: name, role: "status", "aria-live": "polite" }));
  const [board, cards, where, ask, tokens] = ["board-place", "cards-place", "map-place", "ask-place", "generation-place"].map((name) => el("div", { class: name }));
  const button = (text, at, press) => el("button", { type: "button", class: "act", "data-at": at, disabled, on: { click: press } }, text);
  const add = button(`Add a ${words.one}`, "add", () => {
    view.form = formOf({ words, cancel: closeForm, take: (title, text) => {
      tell(model, { added: [...model.get("added"), [title, text]] });
      closeForm();
    } });
    draw();
    view.form.focus();
  });
  const all = button("Revert all", "all", () => {
    view.editor = null;
    tell(model, { added: [], replaced: {}, removed: [],
      excluded: menu.presets.find(({ text }) => text === model.get("text"))?.excluded ?? [] });
  });
  const bar = el("div", { class: "bar" }, el("h4", {}, `The ${words.many}`), ...(words.edited ? [add] : []), all);
  const formPlace = el("div", {});
  const own = el("div", { class: "own" }, ownAnswer(model, signal));
  parts.body.append(finding, changed, el("div", { class: "scroll" }, board), why, tokens, ask,
    el("div", { class: "two" }, el("section", { "aria-label": `the ${words.many}` }, bar, formPlace, cards,
      el("p", { class: "note" }, words.note)), where));

  function closeForm() {
    view.form = null;
    draw();
    add.focus({ preventScroll: true });
  }
  const closeEditor = () => {
    const { number } = view.editor;
    view.editor = null;
    draw();
    cards.querySelector(`[data-at="edit ${number}"]`)?.focus({ preventScroll: true });
  };
  const act = {
    edit: (number) => {
      const { title, text } = shelf().get(number);
      view.editor = editorOf({ words, number, title, text, letter: model.get("state").letters[number] ?? "·", done: closeEditor,
        send: (...typed) => tell(model, written(edits(), number, ...typed)) });
      draw();
      view.editor.focus();
    },
    remove: (number) => tell(model, deleted(edits(), number)),
    leave: (number) => tell(model, leftOut(edits(), number)),
    restore: (number) => tell(model, asItWas(edits(), number)),
  };
  const shelf = () => shelfOf(menu.documents, menu.next, edits());
  const nameOf = (number) => {
    const letter = model.get("state").letters[number];
    return `${letter ? `${letter}, ` : ""}${shelf().get(number)?.title || "untitled"}`;
  };
  const point = (number) => {
    for (const node of parts.body.querySelectorAll("[data-doc]")) {
      node.classList.toggle("pointed", number !== null && Number(node.dataset.doc) === number);
    }
    view.map?.show(number ?? view.opened);
    say(number ?? view.opened);
  };
  const say = (number) => {
    describe(number);
    why.style.minHeight = `${Math.max(parseFloat(why.style.minHeight) || 0, why.getBoundingClientRect().height)}px`;
  };
  const describe = (number) => {
    const state = model.get("state");
    const a = chosenOf(state, model.get("chosen"));
    const shares = partsOf(state, a);
    const shown = state.documents.find((one) => one.number === number);
    if (number !== null && !shown) {
      why.textContent = `${nameOf(number)} is not retrieved: it is not among the top ${model.get("k")}.`;
      return;
    }
    why.textContent = documentSaid(state, shown ?? state.documents[shares.indexOf(Math.max(...shares))], a);
  };
  const open = (number) => {
    view.opened = number;
    draw();
    cards.querySelector(`[data-doc="${number}"]`)?.scrollIntoView({ block: "nearest" });
  };
  resized(parts.body, () => { why.style.minHeight = ""; }, signal);
  const keepingFocus = (paint) => {
    const held = parts.body.contains(document.activeElement) ? document.activeElement : null;
    const [at, from, to] = [held?.dataset.at, held?.selectionStart, held?.selectionEnd];
    paint();
    if (at) parts.body.querySelector(`[data-at="${CSS.escape(at)}"]`)?.focus({ preventScroll: true });
    else if (held?.isConnected && held !== document.activeElement) {
      held.focus({ preventScroll: true });
      held.setSelectionRange?.(from, to);
    }
  };
  const draw = () => {
    const state = model.get("state");
    if (!state.documents) return;
    const a = chosenOf(state, model.get("chosen"));
    const now = edits();
    const known = shelf();
    if (view.opened !== null && view.opened !== NULL && !known.has(view.opened)) view.opened = null;
    if (view.editor && !known.has(view.editor.number)) view.editor = null;
    view.life?.abort();
    view.life = new AbortController();
    keepingFocus(() => {
      finding.textContent = answerSaid(state, a);
      changed.textContent = changedSaid(state, a);
      board.replaceChildren(mosaicOf(state, a, { open, point, own, choose: (text) => choose({ chosen: text }),
        signal: view.life.signal }));
      tokens.replaceChildren(...(state.generated.length ? [generationOf(state, a, { view, point, signal: view.life.signal,
        choose: (text) => choose({ chosen: text }) })] : []));
      all.disabled = disabled || !state.before;
      formPlace.replaceChildren(...(view.form ? [view.form.node] : []));
      cards.replaceChildren(cardsOf({ numbers: listedOf(state, now, menu.next, view.opened).filter((one) => one === NULL || known.has(one)),
        editor: view.editor, state, shelf: known, excluded: now.excluded, a, opened: view.opened, disabled, act }));
      for (const one of cards.querySelectorAll(".card")) {
        const number = Number(one.dataset.doc);
        one.addEventListener("pointerenter", () => point(number));
        one.addEventListener("pointerleave", () => point(null));
      }
      view.map = mapOf({ menu, state, shelf: known, point, open, nameOf });
      where.replaceChildren(view.map.node);
      const asked = guessOf(state);
      ask.replaceChildren(...(asked ? [guess(view.guess, ...asked, `${asked[0]} ${model.get("text")}`)] : []));
    });
    point(null);
  };
  observe(model, ["state"], eachFrame(draw), signal);
  observe(model, ["chosen"], draw, signal);
  draw();
});
