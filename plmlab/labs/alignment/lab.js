// The Alignment Lab: a translation, its cross-attention, and the effect of changing it.

import { legendOf, modelsOf, tallyOf, textsOf } from "./side_panel.js";
import { hand, labelSwitch, reading } from "./controls.js";
import { linksOf } from "./links.js";
import { matrixOf, scale } from "./matrix.js";
import { arranged, changesOf, firstCell, movedWith, holdAt, looksOf, onPartner, switched } from "./numbers.js";
import { cellSaid, columnSaid, finding, handSaid, labelSaid, rowSaid } from "./messages.js";
import { clamp, eachFrame, el, keepingFocus, resized, ruler, settled } from "../shared/dom.js";
import { guess, lab, observe, tell } from "../shared/lab.js";
import { shownOf } from "../shared/steps.js";

export default lab({
  title: "Which source words does a translation attend to?",
  lead: "For each word that it generates, the decoder attends to all words of the source. Point at a word; then move its " +
    "attention to another word, or mask a source word, and see what depends on it.",
}, ({ model, signal, parts }) => {
  parts.node.classList.add("alignment");
  const get = (name) => model.get(name);
  const disabled = Boolean(get("alone"));
  const view = { at: null, open: null, tallied: false, about: null };
  let drawn = null;

  const controls = reading(model, parts.node, signal);
  parts.controls.prepend(...controls.bars);
  const title = el("h4");
  const why = el("p", { class: "why", role: "status", "aria-live": "polite" });
  const did = el("p", { class: "did", role: "status", "aria-live": "polite" });
  const names = el("p", { class: "note", role: "status", "aria-live": "polite" });
  const place = Object.fromEntries(["links", "texts", "matrix", "keys", "ask", "models", "tally"].map((name) => [name, el("div", { class: `${name}-place` })]));
  const label = labelSwitch(model, signal);

  const step = () => view.at?.row ?? 0;
  const partner = () => drawn?.state.now.partners.find(([row]) => row === step())?.[1];
  const put = (row, position, share = get("share")) => {
    if (disabled || get("masked").includes(position)) return;
    tell(model, { moved: movedWith(get("moved"), row, position, share) });
  };
  const release = (row) => {
    if (!disabled && holdAt(get("moved"), row)) tell(model, { moved: get("moved").filter((one) => one.step !== row) });
  };
  const masked = (position) => {
    if (disabled) return;
    tell(model, { masked: switched(get("masked"), position), moved: get("moved").filter((one) => one.position !== position) });
  };
  const spread = settled((share) => {
    const mine = holdAt(get("moved"), step());
    tell(model, { share, ...(mine ? { moved: [...get("moved").filter((one) => one !== mine), { ...mine, share }] } : {}) });
  }, 60);
  const hands = hand(model, {
    give: () => tell(model, { moved: [...get("moved").filter((one) => one.step !== step()), { step: step(), position: partner(), share: 1 }] }),
    release: () => release(step()), reset: () => tell(model, { moved: [], masked: [] }), spread,
  });
  const two = el("div", { class: "two" },
    el("div", { class: "one" }, label, el("div", { class: "scroll" }, place.matrix), scale(), names),
    el("div", {}, place.keys, place.ask, place.tally));
  parts.body.append(title, why, el("div", { class: "scroll" }, place.links), hands.node, did, place.texts, two,
    place.models);

  const said = ({ row, column }, resting) => {
    const { state, looks } = drawn;
    const hold = { moved: state.moved, masked: state.masked, asks: !disabled && !resting };
    if (row === null) return columnSaid(state, looks, hold.masked, column, hold);
    return column === null ? rowSaid(state, looks, hold.moved, row) : cellSaid(state, looks, hold, row, column);
  };
  const point = (at, resting = false) => {
    const text = said(at, resting);
    why.textContent = text;
    drawn.links.point(at, resting);
    drawn.matrix.point(at, text);
  };
  const rest = () => point(view.at, true);
  const offered = () => hands.follow({ moved: drawn.state.moved, masked: drawn.state.masked, step: step(), partner: partner() });
  const go = (at) => {
    view.at = at;
    point(at);
    offered();
  };
  const on = { hover: (at) => point(at), leave: rest, go, put, drop: put, release, masked,
    pick: (row) => go({ row, column: null }) };

  const show = () => {
    const { state, changes, touched } = drawn;
    const count = shownOf(get("steps"), state.now.tokens.length);
    controls.show(state.now.tokens.length);
    drawn.links.show(count);
    drawn.matrix.show(count);
    place.texts.replaceChildren(textsOf(state, changes, touched, count));
    if (view.at.row !== null && view.at.row >= count) view.at = { ...view.at, row: count - 1 };
    rest();
    offered();
  };
  const matrix = () => {
    const { state, looks } = drawn;
    const { partners } = state.now;
    drawn.matrix = matrixOf({ state, looks, labelled: get("labelled"),
      room: parts.body.clientWidth, page: parts.node, on });
    place.matrix.replaceChildren(drawn.matrix.node);
    two.classList.toggle("beside", drawn.matrix.beside);
    two.style.setProperty("--left", `${drawn.matrix.width}px`);
    names.textContent = labelSaid(get("labelled"), state.now.tokens, {
      written: onPartner(looks, partners), read: onPartner(looks, partners, 1), of: partners.length });
  };
  const tally = () => {
    const counted = get("counted");
    const known = Boolean(counted.texts);
    const busy = view.tallied && !known && !get("stale");
    if (view.tallied && known) {
      place.tally.replaceChildren(el("h4", {}, "Does the prediction depend on the attention?"), ...tallyOf(counted));
      return;
    }
    place.tally.replaceChildren(...(get("menu").tallies ? [el("button", { type: "button", disabled: busy || (disabled && !known), "data-at": "tally",
      on: { click: () => {
        view.tallied = true;
        if (!known) tell(model, { count: get("count") + 1 });
        tally();
      } } }, busy ? "counting …" : "Does the prediction depend on the attention? Count over many texts")] : []));
  };
  const question = ({ question: text, answer, position }) => guess(view, text, [answer,
    el("span", { class: "tries" }, el("button", { type: "button", class: "preset", disabled, "data-at": "try",
      on: { click: () => tell(model, { moved: [], masked: [position] }) } }, "mask it here"))]);
  const draw = () => {
    const state = get("state");
    if (!state.source) return;
    const { moved, masked: off } = state;
    const looks = looksOf(state.now, state.source.length);
    const changes = changesOf(state);
    const wide = ruler(parts.node, "13px");
    const at = arranged([state.source.map(wide), state.now.tokens.map(wide)], parts.body.clientWidth - 8);
    const about = `${state.drawn}: ${state.text}`;
    if (view.about !== about) Object.assign(view, { at: firstCell(looks, state.now), tallied: false, about });
    const { row, column } = view.at;
    view.at = { row: row === null ? null : clamp(row, 0, looks.steps - 1), column };
    drawn = { state, looks, changes, touched: moved.length + off.length > 0 };
    drawn.links = linksOf({ state, looks, at, fresh: changes.fresh, on });
    keepingFocus(parts.body, () => {
      place.links.replaceChildren(drawn.links.node);
      matrix();
      place.keys.replaceChildren(legendOf(state, changes));
      place.ask.replaceChildren(question(state.quiz));
      place.models.replaceChildren(modelsOf(state, state.drawn));
      tally();
    });
    title.textContent = finding(state);
    did.textContent = handSaid(state, moved, off, changes);
    show();
  };
  const relabelled = () => {
    if (!drawn) return;
    keepingFocus(parts.body, matrix);
    show();
  };
  observe(model, ["state"], eachFrame(draw), signal);
  observe(model, ["steps"], eachFrame(() => drawn && show()), signal);
  observe(model, ["labelled"], eachFrame(relabelled), signal);
  observe(model, ["share"], eachFrame(() => drawn && offered()), signal);
  observe(model, ["counted", "stale"], eachFrame(tally), signal);
  resized(parts.body, draw, signal);
  draw();
});
