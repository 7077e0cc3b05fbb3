// Sinusoidal positions as clocks: a pair of dimensions is a hand, and a fixed distance is the same angle everywhere.

import { turnOf, wavelength } from "./maths.js";
import { lineKey } from "./views.js";
import { el, svg } from "../shared/dom.js";
import { number, short } from "../shared/words.js";

const MOST = 6;
const [FACE, HAND, ARC, OUTER_ARC] = [47, 40, 21, 43]; // radii; a face is 100 wide
const SMALL = 0.25; // rad: below it the arc is drawn outside the hands
const SPIRAL = 5; // increase of the arc's radius per full turn
const TURN = 2 * Math.PI;
const WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/** A number in words up to twelve, in digits above. */
export const inWords = (count) => WORDS[count] ?? number(count);
const degrees = (angle) => (angle * 360) / TURN;
const inDegrees = (angle) => (degrees(angle) < 1e-6 && angle > 0 ? "under 0.000001°" : `${short(degrees(angle))}°`);

/** The first dimensions of at most six pairs, evenly spaced from the fastest to the slowest. */
export function pairsShown(width) {
  const pairs = width / 2;
  const count = Math.min(MOST, pairs);
  return Array.from({ length: count }, (_, i) => 2 * Math.round((i * (pairs - 1)) / Math.max(count - 1, 1)));
}

/** The end of a hand at an angle, clockwise from the top: x is proportional to the sine. */
export const tip = (angle, length) => [length * Math.sin(angle), -length * Math.cos(angle)];

/** The SVG path from a hand `turn` back to one at the top; beyond a full turn it spirals outwards. */
export function arcPath(turn) {
  const steps = Math.max(2, Math.ceil(turn / 0.1));
  const out = turn > TURN ? Math.min(SPIRAL, ((HAND - ARC - 4) * TURN) / turn) : 0;
  const from = turn < SMALL ? OUTER_ARC : ARC;
  const points = Array.from({ length: steps + 1 }, (_, i) => {
    const angle = (turn * i) / steps;
    return tip(angle - turn, from + (out * angle) / TURN).map((place) => place.toFixed(2)).join(" ");
  });
  return `M${points.join("L")}`;
}

/** An angle in words: full turns and degrees. */
export function told(turn) {
  const whole = Math.floor(turn / TURN);
  const rest = inDegrees(turn - whole * TURN);
  return whole ? `${whole} ${whole === 1 ? "turn" : "turns"} + ${rest}` : rest;
}

const backSaid = (back) => `${inWords(back)} position${back === 1 ? "" : "s"} back`;

/** The effect of going back on a clock; there is no second hand if that would lead to a position before 0. */
export function sentence(turn, position, back) {
  const turns = `Going ${backSaid(back)} turns this clock by ${told(turn)}, at every position`;
  return position < back ? `${turns} from ${back} on; position ${position} has no dashed hand.`
    : `${turns}: one rotation matrix turns all clocks ${backSaid(back)}.`;
}

const TICKS = Array.from({ length: 12 }, (_, i) =>
  `M${tip((i * TURN) / 12, FACE).join(" ")}L${tip((i * TURN) / 12, FACE - (i % 3 ? 3 : 6)).join(" ")}`).join("");

const line = (name, angle) => {
  const [x2, y2] = tip(angle, HAND);
  return svg("line", { class: `hand ${name}`, x1: 0, y1: 0, x2, y2 });
};

/** A clock face. The two hands and their angle are one group, which `set(position, back)` rotates. */
function face(dimension, width, base) {
  const hands = svg("g", {});
  const node = svg("svg", { class: "face", viewBox: "-50 -50 100 100", role: "img" },
    svg("circle", { class: "rim", r: FACE }), svg("path", { class: "tick", d: TICKS }), hands, svg("circle", { class: "pin", r: 3 }));
  const set = (position, back) => {
    const [here, turn] = [position, back].map((count) => turnOf(count, dimension, width, base));
    const two = position >= back;
    hands.replaceChildren(...(two ? [svg("path", { class: "arc", d: arcPath(turn) })] : []), line("query", 0),
      ...(two ? [line("key", -turn)] : []));
    hands.setAttribute("transform", `rotate(${degrees(here % TURN)})`);
    const at = (place, angle) => `position ${place} at ${inDegrees(angle % TURN)}`;
    const before = two ? at(position - back, turnOf(position - back, dimension, width, base)) : "no second hand";
    node.setAttribute("aria-label", `${at(position, here)}, ${before}`);
  };
  return { node, set };
}

let rows = 0;

/** A selectable clock with its caption. */
function clock(dimension, { width, base }, name, choose) {
  const { node: drawn, set } = face(dimension, width, base);
  const angle = el("b", {});
  const radio = el("input", { type: "radio", class: "pick", name, on: { change: choose } });
  const node = el("label", { class: "clock", on: { pointerenter: choose } }, radio, drawn, angle,
    el("span", {}, `dimensions ${dimension},\u00a0${dimension + 1}`),
    el("span", {}, `${short(wavelength(dimension, width, base))} tokens per\u00a0turn`));
  const turn = (back) => turnOf(back, dimension, width, base);
  return { node, radio, turn, point(position, back) {
    set(position, back);
    angle.textContent = told(turn(back));
  } };
}

/** A row of clocks with hands at the position and `back` positions earlier. `view` keeps the selected clock. */
export function clocksView({ width, length, base }, { room, view }) {
  const name = `plm-clocks-${rows++}`;
  const caption = el("p", { class: "turns", role: "status", "aria-live": "polite" });
  const keys = el("p", { class: "keys" });
  let now = { position: 0, back: 1 };
  const tell = () => {
    const text = sentence(clocks[view.clock].turn(now.back), now.position, now.back);
    if (caption.textContent !== text) caption.textContent = text;
    clocks[view.clock].radio.checked = true;
  };
  const clocks = pairsShown(width).map((dimension, i) => clock(dimension, { width, base }, name, () => {
    view.clock = i;
    tell();
  }));
  view.clock = Math.min(view.clock ?? 0, clocks.length - 1);
  const faces = el("div", { class: `faces${room < 760 ? " stacked" : ""}`, role: "radiogroup",
    "aria-label": "the clock described below" }, ...clocks.map((each) => each.node));
  const node = el("div", { class: "clocks" },
    el("h4", { class: "finding" }, "Each pair of dimensions is a clock: the first turns fast, the last hardly at all"),
    faces, caption, keys);
  const point = ({ position, back }) => {
    now = { position: Math.min(position, length - 1), back };
    for (const each of clocks) each.point(now.position, back);
    const before = now.position - back;
    keys.replaceChildren(lineKey("", `position ${now.position}`), ...(before < 0 ? []
      : [lineKey("back", `position ${before}, ${backSaid(back)}`), lineKey("own", "the angle between them")]));
    tell();
  };
  return { node, point };
}
