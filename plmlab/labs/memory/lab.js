// The Memory Lab: segment-level recurrence, the receptive field of a position, and masking parts of the memory.

import { longMap } from "./map.js";
import { MEAN, MOST, looked, scoreScale } from "./numbers.js";
import { answerPanel, scorePanel, waysPanel } from "./panels.js";
import { ribbon } from "./ribbon.js";
import {
  CLICKS, answerSaid, changeSaid, cutsWith, isChanged, reachSaid, reasonSaid, tallySaid, weightSaid,
} from "./messages.js";
import { following, presetBar, radioGroup, select, slider, textField } from "../shared/controls.js";
import { eachFrame, el, keepingFocus, resized } from "../shared/dom.js";
import { guess, lab, observe, setter, tell, written } from "../shared/lab.js";
import { plural } from "../shared/words.js";

const SIDE_BY_SIDE = 860;
const FARTHEST = 200;

export default lab({
  title: "What does a Transformer-XL remember?",
  lead: "It processes a text in segments, and each layer caches its inputs at the preceding positions. From how far " +
    "back can information come, along which path does it reach the prediction, and what is lost without the memory?",
}, ({ model, signal, parts }) => {
  parts.node.classList.add("memory");
  const get = (name) => model.get(name);
  const { presets, layers, heads, tally } = get("menu");
  const disabled = Boolean(get("alone"));
  const choose = setter(model);
  const view = { open: null };
  const layerTitles = [[MOST, "layer with the largest weight"],
    ...Array.from({ length: layers }, (_, i) => [i, `layer ${i}`])];
  const length = (trait, title, low) => following(model, trait,
    slider({ title, low, high: FARTHEST, step: 1, disabled }, (value) => choose({ [trait]: value })), signal);
  const headTitles = [[MEAN, "mean of all"], ...Array.from({ length: heads }, (_, i) => [i, String(i)])];
  parts.controls.prepend(
    el("div", { class: "bar" }, textField(model, "the text", signal)),
    presetBar(model, presets),
    el("div", { class: "bar quiet choices" },
      length("segment", "segment length", 1), length("memory", "memory length", 0),
      following(model, "head",
        select({ label: "head", lead: "head", options: headTitles }, (head) => choose({ head })), signal)),
    following(model, "click", radioGroup({ label: "what a click does", lead: "a click on a word, or Enter, ",
      kind: "bar quiet clicks", options: Object.entries(CLICKS), disabled }, (click) => choose({ click })), signal));

  let now = null;
  let pointed = null;
  const home = () => {
    const { fact, position } = now.state;
    const key = get("key");
    const last = now.state.tokens.length - 1;
    return { row: now.row, position: key >= 0 && key <= last ? key : fact ?? position };
  };
  const explanation = ({ row, position }, kind) => {
    const { state, map, look } = now;
    const here = kind === "ribbon" ? { kind } : map.rows[row];
    const head = get("head");
    const whose = head === MEAN ? "mean of all heads" : `head ${head}`;
    const every = Array.from({ length: layers }, (_, layer) => layer);
    const chosen = here.kind === "looked" ? [here.layer] : every;
    const looks = state.zones[position] === "forgotten" ? []
      : chosen.map((layer) => [layer, look.weight(here.way ?? 0, layer, head, position)]);
    const first = here.kind === "heard" ? reachSaid(state, here.layer, position) : reasonSaid(state, position);
    return here.kind === "heard" ? first : [...first, ...weightSaid(state, position, looks, whose)];
  };
  const show = (cell, kind) => {
    now.why.replaceChildren(...written(explanation(cell, kind)));
    now.map.point(cell.row, cell.position, now.why.textContent);
    now.ribbon.point(cell.position);
    score(cell.position);
  };
  const point = (cell, kind = "map") => {
    pointed = { cell, kind };
    pointing();
  };
  const pointing = eachFrame(() => {
    if (now) show(pointed?.cell ?? home(), pointed?.kind);
  });
  const leave = () => {
    pointed = null;
    pointing();
  };
  const walk = (cell) => {
    now.row = cell.row;
    point(cell);
    if (get("key") !== cell.position) choose({ key: cell.position });
  };
  const act = (position) => {
    if (disabled) {
      choose({ key: position });
      return;
    }
    const click = get("click");
    if (click === "ask") tell(model, { position, key: -1 });
    else tell(model, { cuts: cutsWith(get("cuts"), click, position, now.state.segment), key: position });
  };
  const score = (position) => {
    const { state, look, changed } = now;
    const { layer, head } = look.most(get("layer"), get("head"), position);
    if (now.scored === `${position} ${layer} ${head}`) return;
    now.scored = `${position} ${layer} ${head}`;
    const scale = scoreScale(state.tokens.map((_, key) => look.terms(0, layer, head, key)).filter(Boolean));
    const panel = scorePanel({ terms: look.terms(0, layer, head, position),
      after: changed ? look.terms(1, layer, head, position) : null,
      weight: look.weight(0, layer, head, position), weightAfter: look.weight(1, layer, head, position),
      most: scale, title: `Score of query “${state.names[state.position]}” and key “${state.names[position]}”`,
      controls: now.scoreControls });
    const meant = get("layer") !== MOST && get("head") !== MEAN;
    now.scoreNote.textContent = !meant && look.terms(0, layer, head, position)
      ? `layer ${layer}, head ${head}: largest weight on this position` : "";
    now.score.replaceChildren(...panel.childNodes);
  };
  const draw = () => {
    const state = get("state");
    if (!state.tokens) return;
    const room = parts.body.clientWidth;
    const look = looked(state, layers, heads);
    const why = el("p", { class: "why", role: "status", "aria-live": "polite" });
    const scoreNote = el("span", { class: "which-head" });
    const ofLayer = select({ label: "layer of the score", "data-at": "layer", options: layerTitles },
      (layer) => choose({ layer }));
    ofLayer.show(get("layer"));
    const previous = now?.map.rows[now.row] ?? { kind: "zone" };
    now = { state, look, why, changed: isChanged(state), score: el("div", { class: "score" }), scoreNote,
      scoreControls: el("div", { class: "bar quiet" }, ofLayer.node, scoreNote) };
    now.map = longMap({ state, look, layers, head: get("head"), room, onPoint: point, onWalk: walk,
      onLeave: leave, onAct: act });
    now.row = now.map.rows.findIndex(({ kind, layer }) => kind === previous.kind && layer === previous.layer);
    now.ribbon = ribbon({ state, narrow: room < SIDE_BY_SIDE, onLeave: leave, onAct: act,
      onPoint: (position) => point({ row: now.row, position }, "ribbon") });
    const ask = state.guess ? [guess(view, state.guess.question, [state.guess.answer, el("span", { class: "tries" },
      el("button", { type: "button", class: "preset", disabled, "data-at": "try",
        on: { click: () => tell(model, { memory: state.guess.memory }) } },
      `set the memory to ${plural(state.guess.memory, "position")}`))])] : [];
    const all = tallySaid(tally);
    keepingFocus(parts.body, () => parts.body.replaceChildren(
      el("h4", { class: "finding", role: "status", "aria-live": "polite" }, answerSaid(state)), why,
      now.map.node, now.ribbon.node,
      el("div", { class: room >= SIDE_BY_SIDE ? "below" : "below stacked" },
        el("div", {}, answerPanel({ state, changeSaid: changeSaid(state, get("cuts")), disabled,
          idle: get("cuts").length > 0 && !now.changed,
          undo: () => tell(model, { cuts: [], without: "" }) }), ...ask),
        el("div", {}, waysPanel({ state, disabled, choose: (without) => tell(model, { without }) }), now.score)),
      ...(all ? [el("p", { class: "note tally" }, all)] : [])), () => parts.body.querySelector(".cross"));
    pointed = null;
    now.ribbon.reveal();
    show(home());
  };
  observe(model, ["state", "head", "layer"], eachFrame(draw), signal);
  observe(model, ["key"], pointing, signal);
  resized(parts.body, draw, signal);
  draw();
});
