// The Attention Lab: all heads, one head, one cell; and the effect of ablating them.

import { arithmetic } from "./cell.js";
import { changes } from "./change.js";
import { headMap, pitchOf, turned } from "./head.js";
import { carried, detailOf, firstCell, spoken, weightsOf } from "./numbers.js";
import { overview, switched } from "./overview.js";
import { checkbox, presetBar, select, textField } from "../shared/controls.js";
import { clamp, el, resized, ruler, settled } from "../shared/dom.js";
import { scaleBar, sequential } from "../shared/heat.js";
import { guess, lab, observe, tell, written } from "../shared/lab.js";
import { plural } from "../shared/words.js";

const OVERVIEW = 34 * 12 + 24;
const NARROWEST = 236;
const SIDE_BY_SIDE = 760;

/** The layout of overview and head: side by side if the head's cells keep 16 px, otherwise stacked. */
export function arranged(room, columns, heads, label) {
  const left = clamp(24 + 34 * heads, NARROWEST, OVERVIEW);
  const beside = room - left - 28;
  const together = room >= SIDE_BY_SIDE && pitchOf(columns, label, beside) >= 16;
  return { together, left, pitch: pitchOf(columns, label, together ? beside : room) };
}

function controls(model, signal) {
  const { presets, two, masks } = model.get("menu");
  const disabled = model.get("alone");
  const second = textField(model, two ? "the decoder's text" : "sentence B", signal,
    { trait: "second", kind: "second" });
  const which = select({ label: "which attention", disabled }, (shown) => tell(model, { shown, layer: 0, head: 0 }));
  const under = select({ label: "attention mask", lead: "mask ", disabled,
    options: masks.map((name) => [name, name]) }, (mask) => tell(model, { mask }));
  const read = masks.length ? [under.node] : [];
  const again = el("button", {
    type: "button", disabled, on: { click: () => tell(model, { off: [], closed: [] }) },
  }, "restore everything");
  const follow = () => {
    const { maps = [] } = model.get("state");
    which.offer(maps.map(({ title }, i) => [i, title]));
    which.show(model.get("shown"));
    which.node.hidden = maps.length < 2;
    second.hidden = !two && !model.get("second");
    under.show(model.get("mask"));
    again.disabled = disabled || !(model.get("off").length + model.get("closed").length);
  };
  observe(model, ["state"], follow, signal);
  follow();
  return [
    el("div", { class: "bar" }, textField(model, "your sentence", signal), second, ...read, which.node, again),
    presetBar(model, presets, (preset, i) => ({ ...preset, preset: i })),
  ];
}

export default lab({
  title: "What do the heads of a real model attend to?",
  lead: "All heads of all layers; one head enlarged; and the arithmetic behind one cell. Click, or use the arrow " +
  "keys. Then switch off a head, and see how the output changes.",
}, ({ model, signal, parts }) => {
  const disabled = model.get("alone");
  const view = { cell: null, editing: false, open: "", tokens: "", mask: "", row: [] };
  parts.node.classList.add("look");
  parts.controls.prepend(...controls(model, signal));
  const why = el("p", { class: "why", role: "status", "aria-live": "polite" });
  const title = el("h4", { class: "head-title" });
  const headButton = el("button", { type: "button", class: "preset", disabled, on: { click: () => turn(false) } });
  const layerButton = el("button", { type: "button", class: "preset", disabled, on: { click: () => turn(true) } });
  const edit = checkbox({ title: "edit the mask: a click blocks a pair", kind: "edit", disabled },
    (on) => { view.editing = on; });
  const sums = el("div", { class: "arithmetic" });
  const moved = el("div", { class: "changes" });
  let drawn = null;

  const isOff = (layer, head) =>
    model.get("off").some(([m, l, h]) => m === model.get("state").map && l === layer && h === head);
  function turn(whole) {
    const { map, size } = model.get("state");
    tell(model, { off: switched(model.get("off"), map, model.get("layer"), model.get("head"), size[1], whole) });
  }
  const names = () => {
    const { query_names: queries, key_names: keys, keys: tokens } = model.get("state");
    return { queries, keys, positions: tokens.map((token, i) => (keys[i] === token ? token : `${token} #${i}`)) };
  };
  const now = () => drawn.weights.head(model.get("layer"), model.get("head"));

  const say = (cell) => {
    const off = isOff(model.get("layer"), model.get("head"));
    const pieces = spoken(model.get("state").mask, now(), names(), cell, off);
    why.replaceChildren(...written(pieces));
    drawn.map.point(cell, pieces.map(({ text }) => text).join(""));
  };
  const work = () => {
    const [detail, layer, head] = [model.get("detail"), model.get("layer"), model.get("head")];
    const { map, mask } = model.get("state");
    const place = `layer ${layer}, head ${head}`;
    if (detail.map === map && detail.layer === layer && detail.head === head) {
      const open = sums.querySelector("details")?.open;
      sums.replaceChildren(...arithmetic(detailOf(detail), mask.rule_ids, view.cell, {
        names: names(), place, off: isOff(layer, head), room: drawn.room,
      }));
      if (open) sums.querySelector("details").open = true;
    } else {
      sums.replaceChildren(el("p", { class: "note" }, disabled
        ? `This page holds only the vectors of layer ${detail.layer}, head ${detail.head}; for ${place}, open the ` +
          "notebook."
        : `loading the vectors of ${place} …`));
    }
  };
  const visit = (cell, kept) => {
    if (kept) {
      view.cell = cell;
      work();
    }
    say(cell);
  };
  const act = ({ q, k }) => {
    if (!view.editing) return;
    tell(model, { closed: turned(model.get("closed"), model.get("state").map, q, k) });
  };

  const ask = settled((layer, head) => tell(model, { layer, head }), 30);
  const choose = (layer, head) => {
    model.set("layer", layer);
    model.set("head", head);
    ask(layer, head);
  };
  const showHead = () => {
    const [layer, head] = [model.get("layer"), model.get("head")];
    if (layer >= drawn.weights.layers || head >= drawn.weights.heads) return;
    const off = isOff(layer, head);
    const whole = [...Array(drawn.weights.heads).keys()].every((h) => isOff(layer, h));
    title.replaceChildren(`Layer ${layer}, head ${head}`, ...(off ? [el("span", {}, "switched off")] : []));
    headButton.textContent = off ? "switch the head on" : "switch the head off";
    layerButton.textContent = whole ? `switch layer ${layer} on` : `switch layer ${layer} off`;
    drawn.map.node.classList.toggle("is-off", off);
    drawn.all.point(layer, head, `layer ${layer}, head ${head}${off ? ", switched off" : ""}`);
    drawn.map.paint(now());
    say(view.cell);
    work();
  };

  const scale = () => scaleBar(sequential(), ["0", "¼", "1"], "weight");

  const draw = () => {
    const state = model.get("state");
    if (!state.weights) return;
    const focused = ["all", "map"].find((name) => drawn?.[name].cross === document.activeElement);
    const weights = weightsOf(state);
    const wide = ruler(parts.node, "600 12.5px");
    const label = clamp(Math.ceil(Math.max(...state.queries.map(wide))) + 14, 46, 130);
    const room = parts.body.clientWidth;
    const at = arranged(room, weights.columns, weights.heads, label);
    const tokens = JSON.stringify([state.map, state.queries, state.keys, state.start, model.get("preset")]);
    if (view.tokens !== tokens) {
      const first = weights.head(model.get("layer"), model.get("head"));
      const [q, k] = state.start ?? [];
      const kept = view.mask !== model.get("mask") && view.cell && carried(view.cell, view.row, state.queries);
      view.cell = kept || (state.start ? { q, k } : firstCell(first, weights.rows, weights.columns));
      Object.assign(view, { tokens, row: state.queries });
    }
    view.mask = model.get("mask");
    const all = overview({
      weights, room: at.together ? at.left : Math.min(room, OVERVIEW), onHead: choose, onSwitch: (whole) => turn(whole),
      onEnter: () => drawn.map.cross.focus(),
    });
    const map = headMap({ state, label, pitch: at.pitch, onCell: visit, onAct: act, onLeave: () => say(view.cell) });
    drawn = { state, weights, all, map, room };
    all.mark(model.get("off").filter(([name]) => name === state.map));
    moved.replaceChildren(...changes(state.change, model.get("off").length, model.get("closed").length));
    const size = [[weights.layers, "layer"], [weights.heads, "head"]]
      .map(([count, one]) => plural(count, one)).join(" × ");
    const placed = at.together ? "" : room >= 680 ? " stacked wide" : " stacked";
    parts.body.replaceChildren(
      el("div", { class: `levels${placed}`, style: `--left:${at.left}px` },
        el("div", { class: "whole" }, el("h4", {}, model.get("menu").name, el("span", {}, size)), all.node, scale(),
          guess(view, state.question, state.answer)),
        el("div", { class: "one" }, el("div", { class: "head-bar" }, title, headButton, layerButton, edit.node),
        why, el("div", { class: "scroll" }, map.node))),
      sums, moved);
    showHead();
    if (focused) drawn[focused].cross.focus({ preventScroll: true });
  };

  // Traits that changed together are reported one by one: the first of them draws the new state, so that an old cell is
  // never drawn with a new sentence.
  const changed = (then) => () => (drawn?.state === model.get("state") ? then?.() : draw());
  observe(model, ["state"], changed(), signal);
  observe(model, ["layer", "head"], changed(showHead), signal);
  observe(model, ["detail"], changed(work), signal);
  resized(parts.body, draw, signal);
  draw();
});
