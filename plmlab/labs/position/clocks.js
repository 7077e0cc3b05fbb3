// Sinusoidal positions as clocks: a pair of dimensions is a hand, and "three back" turns it by one angle everywhere.

import { turnOf, wavelength } from "./maths.js";
import { lineKey } from "./views.js";
import { el, svg } from "../shared/dom.js";
import { capital, number, short } from "../shared/words.js";

const MOST = 6;
const [FACE, HAND, ARC, OUTER_ARC] = [47, 40, 21, 43]; // radii, where a face is 100 wide
const SMALL = 0.25; // an angle whose arc shows only beyond the ends of its hands
const SPIRAL = 5; // how much farther out each full turn ends
const TURN = 2 * Math.PI;
const WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/** A number in words, up to twelve; digits beyond. */
export const inWords = (count) => WORDS[count] ?? number(count);
const degrees = (angle) => (angle * 360) / TURN;
const inDegrees = (angle) => (degrees(angle) < 1e-6 && angle > 0 ? "under 0.000001°" : `${short(degrees(angle))}°`);

/** The first dimensions of at most six pairs, evenly chosen from the fastest to the slowest. */
export function pairsShown(width) {
  const pairs = width / 2;
  const count = Math.min(MOST, pairs);
  return Array.from({ length: count }, (_, i) => 2 * Math.round((i * (pairs - 1)) / Math.max(count - 1, 1)));
}

/** Where a hand of this length ends that has turned by an angle, clockwise from the top: x is its sine. */
export const tip = (angle, length) => [length * Math.sin(angle), -length * Math.cos(angle)];

/** The path from a hand that stands `turn` back to one at the top; beyond a full turn it winds outwards. */
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

/** An angle as it is told: full turns, and degrees. */
export function told(turn) {
  const whole = Math.floor(turn / TURN);
  const rest = inDegrees(turn - whole * TURN);
  return whole ? `${whole} ${whole === 1 ? "turn" : "turns"} + ${rest}` : rest;
}

/** What going back does to a clock; nothing stands before position 0, and then the sentence says so. */
export function sentence(turn, position, back) {
  const turns = `${capital(inWords(back))} back turns this clock by ${told(turn)}, at every position`;
  return position < back ? `${turns} from ${back} on; position ${position} has no dashed hand.`
    : `${turns}: so one matrix takes all the clocks ${inWords(back)} back.`;
}

const TICKS = Array.from({ length: 12 }, (_, i) =>
  `M${tip((i * TURN) / 12, FACE).join(" ")}L${tip((i * TURN) / 12, FACE - (i % 3 ? 3 : 6)).join(" ")}`).join("");

const line = (name, angle) => {
  const [x2, y2] = tip(angle, HAND);
  return svg("line", { class: `hand ${name}`, x1: 0, y1: 0, x2, y2 });
};

/** A clock face. The two hands and their angle are one piece, which `set(position, back)` turns. */
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

/** A clock to choose, with what is told beneath it. */
function clock(dimension, { width, base }, name, choose) {
  const { node: drawn, set } = face(dimension, width, base);
  const angle = el("b", {});
  const radio = el("input", { type: "radio", class: "pick", name, on: { change: choose } });
  const node = el("label", { class: "clock", on: { pointerenter: choose } }, radio, drawn, angle,
    el("span", {}, `dimensions ${dimension},\u00a0${dimension + 1}`),
    el("span", {}, `${short(wavelength(dimension, width, base))} tokens a\u00a0turn`));
  const turn = (back) => turnOf(back, dimension, width, base);
  return { node, radio, turn, point(position, back) {
    set(position, back);
    angle.textContent = told(turn(back));
  } };
}

/** A row of clocks, their hands at the position and some positions back. `view` keeps which one the sentence is of. */
export function clocksView({ width, length, base }, { room, view }) {
  const name = `plm-clocks-${rows++}`;
  const said = el("p", { class: "turns", role: "status", "aria-live": "polite" });
  const keys = el("p", { class: "keys" });
  let now = { position: 0, back: 1 };
  const tell = () => {
    const text = sentence(clocks[view.clock].turn(now.back), now.position, now.back);
    if (said.textContent !== text) said.textContent = text;
    clocks[view.clock].radio.checked = true;
  };
  const clocks = pairsShown(width).map((dimension, i) => clock(dimension, { width, base }, name, () => {
    view.clock = i;
    tell();
  }));
  view.clock = Math.min(view.clock ?? 0, clocks.length - 1);
  const faces = el("div", { class: `faces${room < 760 ? " stacked" : ""}`, role: "radiogroup",
    "aria-label": "the clock that is told" }, ...clocks.map((each) => each.node));
  const node = el("div", { class: "clocks" },
    el("h4", { class: "finding" }, "Each pair of dimensions is a clock: the first turns fast, the last hardly at all"),
    faces, said, keys);
  const point = ({ position, back }) => {
    now = { position: Math.min(position, length - 1), back };
    for (const each of clocks) each.point(now.position, back);
    const before = now.position - back;
    keys.replaceChildren(lineKey("", `position ${now.position}`), ...(before < 0 ? []
      : [lineKey("back", `position ${before}, ${inWords(back)} back`), lineKey("own", "the angle between them")]));
    tell();
  };
  return { node, point };
}
