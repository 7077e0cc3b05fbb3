// The next-token distribution as bars, the model's next to the world's; cut tokens are hatched; a press appends a token.

import { distribution, divergence, logitsOf, scaleEnd, stepSaid } from "./maths.js";
import { clamp, el } from "../shared/dom.js";
import { chance, choices, entropyOf } from "../shared/softmax.js";
import { number, short } from "../shared/words.js";

const NEUTRAL = { temperature: 1, topK: null, topP: 1 };

/** The index after a key press in a list of `count`, or null. */
export function along(key, at, count) {
  const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: count - 1 }[key];
  return to === undefined ? null : clamp(to, 0, count - 1);
}

/** The probability of each row, whether it is cut, and the same for all other tokens together. */
export function shares(rows, { chances, uncut, kept }) {
  const shown = rows.map(({ place }) => {
    const cut = place >= kept;
    return { p: cut ? uncut[place] : chances[place], cut };
  });
  const rest = (all) => Math.max(0, 1 - rows.reduce((sum, { place }) => sum + all[place], 0));
  const cut = rows.filter(({ place }) => place < kept).length >= kept;
  return { shown, rest: { p: rest(cut ? uncut : chances), cut } };
}

const line = (role) => el("i", { class: role });

/** The figures of a step. */
function figures(model, world) {
  const pair = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
  return el("dl", { class: "numbers" }, pair("entropy", `${model.nats.toFixed(2)} nats`),
    pair("perplexity", choices(model.nats)), pair("tokens kept", model.kept),
    ...(world ? [pair("the world's perplexity", choices(world.nats)), pair("KL(world ‖ model)", world.apart)] : []));
}

/** A KL divergence with its unit. */
export const apartText = (nats) => (nats === Infinity ? "∞" : `${short(Math.max(nats, 0), 2)} nats`);

/**
 * The panel. `paint(settings)` applies decoding settings to the same logits; `onTake(id)` is called to append a token.
 */
export function barsOf({ state, disabled, onTake }) {
  const logits = logitsOf(state.logits);
  const { rows, world } = state;
  const paired = Boolean(world?.p.length);
  const off = disabled || state.ended;
  const own = distribution(logits, NEUTRAL).chances;
  const cells = rows.map(({ token, id }, i) => {
    const [model, exact, was] = [line("model"), line("exact"), line("was")];
    const [amount, wanted] = [el("span", { class: "amount" }), el("span", { class: "amount exact" })];
    const node = el("button", { type: "button", class: "choice", tabindex: i ? "-1" : "0", "data-at": i, "data-id": id,
      "aria-disabled": String(off) }, el("bdi", { class: "token" }, token),
    el("span", { class: "track" }, model, ...(paired ? [exact] : []), was), amount, ...(paired ? [wanted] : []));
    return { node, model, exact, was, amount, wanted };
  });
  const others = logits.length - rows.length;
  const rest = { model: line("model"), exact: line("exact"), amount: el("span", { class: "amount" }) };
  const worldRest = paired ? Math.max(0, 1 - rows.reduce((sum, row) => sum + row.world, 0)) : 0;
  const restRow = el("div", { class: "choice rest" },
    el("span", { class: "token" }, `${number(others)} others`),
    el("span", { class: "track" }, rest.model, ...(paired ? [rest.exact] : [])), rest.amount,
    ...(paired ? [el("span", { class: "amount exact" }, worldRest < 1e-9 ? "–" : chance(worldRest))] : []));
  const end = el("span", { class: "end" });
  const list = el("div", { class: "choices", role: "group", "aria-label": "the next token" },
    ...cells.map(({ node }) => node), ...(others ? [restRow] : []));
  const head = el("div", { class: "choice head" }, el("span", {}, "token"), el("span", { class: "ends" }, "0", end),
    el("span", { class: "amount" }, "model"), ...(paired ? [el("span", { class: "amount exact" }, "world")] : []));
  const said = el("p", { class: "why", role: "status", "aria-live": "polite" });
  const numbers = el("div");
  const legend = el("p", { class: "note own" }, el("i"), "the model's own distribution (temperature 1, no truncation)");

  const paint = (settings) => {
    const now = distribution(logits, settings);
    const moved = Object.keys(NEUTRAL).some((name) => settings[name] !== NEUTRAL[name]);
    legend.hidden = !moved;
    const { shown, rest: left } = shares(rows, now);
    const most = scaleEnd(Math.max(left.p, worldRest, ...shown.map(({ p }) => p),
      ...rows.map(({ place, world: p }) => Math.max(p, own[place]))));
    const wide = (p) => `${(100 * Math.min(p / most, 1)).toFixed(2)}%`;
    end.textContent = String(most);
    cells.forEach((cell, i) => {
      const { p, cut } = shown[i];
      cell.model.style.width = wide(p);
      cell.exact.style.width = wide(rows[i].world);
      cell.was.style.left = wide(own[rows[i].place]);
      cell.was.hidden = !moved;
      cell.amount.textContent = cut ? "cut" : chance(p);
      cell.wanted.textContent = rows[i].world ? chance(rows[i].world) : "–";
      cell.node.classList.toggle("cut", cut);
      cell.node.setAttribute("aria-label", `${rows[i].token}: ${cut ? "cut" : chance(p)}` +
        `${paired ? `, in the world ${rows[i].world ? chance(rows[i].world) : "impossible"}` : ""}; append it`);
    });
    rest.model.style.width = wide(left.p);
    rest.exact.style.width = wide(worldRest);
    rest.amount.textContent = left.cut ? "cut" : chance(left.p);
    restRow.classList.toggle("cut", left.cut);
    const count = number(logits.length);
    const beside = paired && { nats: world.entropy, apart: apartText(divergence(world, now.chances)) };
    const keptText = now.kept === logits.length ? `all ${count}` : `${number(now.kept)} of ${count}`;
    numbers.replaceChildren(figures({ nats: entropyOf(now.chances), kept: keptText }, beside));
    said.textContent = stepSaid(now, rows[0].token, logits.length);
  };
  list.addEventListener("keydown", (event) => {
    const at = Number(event.target.dataset.at);
    const to = along(event.key, at, cells.length);
    if (to === null) return;
    cells[at].node.tabIndex = -1;
    cells[to].node.tabIndex = 0;
    cells[to].node.focus();
    event.preventDefault();
    event.stopPropagation();
  });
  list.addEventListener("click", (event) => {
    const id = event.target.closest("button")?.dataset.id;
    if (id !== undefined && !off) onTake(Number(id));
  });
  const focus = (at) => cells[clamp(at, 0, cells.length - 1)].node.focus({ preventScroll: true });
  const lost = world && !paired ? [el("p", { class: "lost" }, el("b", {}, "The Small World: "), world.said)] : [];
  const node = el("div", { class: paired ? "bars paired" : "bars" }, head, list, legend, ...lost);
  return { node, said, numbers, paint, focus };
}
