// The Gradient Lab: the switch between its views, their controls, and redrawing when a control changes.

import { cliffView } from "./cliff.js";
import { mapOf } from "./draws.js";
import { mapView } from "./map.js";
import { CELLS } from "./maths.js";
import { following, radioGroup, slider } from "../shared/controls.js";
import { clamp, eachFrame, el, keepingFocus, resized } from "../shared/dom.js";
import { lab, observe, setter } from "../shared/lab.js";

const VIEWS = { map: "the map", cliff: "the cliff" };
const PUSHES = { memory: "perturb the cell state c", state: "perturb the hidden state h" };
const COMPUTED = ["cell", "push", "radius", "forget_bias", "input_size", "width", "steps", "seed"];
const CLIFF = ["w", "b", "rate", "clip"];
const SEEDS = 1000;

/** The sliders of a view, [[trait, title]]. */
export function dialsOf(view, cell) {
  if (view === "cliff") return [["rate", "learning rate"], ["clip", "clipping threshold τ"]];
  const bias = { lstm: [["forget_bias", "forget bias"]], gru: [["forget_bias", "update-gate bias"]] }[cell] ?? [];
  return [["radius", "spectral radius ρ of U"], ...bias, ["input_size", "input scale"], ["width", "width"],
    ["steps", "steps"]];
}

export default lab({
  title: "What happens to a gradient over many time steps?",
  lead: "The map shows how much of a small perturbation of the state at one step is left at a later step. The cliff " +
    "shows how an exploding gradient throws one step of gradient descent far away.",
}, ({ model, signal, parts }) => {
  parts.node.classList.add("gradient");
  const get = (name) => model.get(name);
  const choose = setter(model);
  const settings = () => Object.fromEntries([...COMPUTED, ...CLIFF].map((name) => [name, get(name)]));
  const open = { map: {}, cliff: {} };
  const choice = (trait, label, options) => following(model, trait,
    radioGroup({ label, kind: "bar choice", options }, (value) => choose({ [trait]: value })), signal);
  const cells = choice("cell", "cell", Object.entries(CELLS).map(([name, { title }]) => [name, title]));
  const pushes = choice("push", "what is perturbed", Object.entries(PUSHES));
  const again = el("button", { type: "button", class: "preset",
    on: { click: () => choose({ seed: (get("seed") + 1) % SEEDS }) } }, "resample");
  const dials = el("div", { class: "bar quiet dials" });
  parts.controls.prepend(choice("view", "view", Object.entries(VIEWS)), cells, pushes, dials);

  let now = {};
  const turn = () => {
    const map = get("view") === "map";
    cells.hidden = !map;
    pushes.hidden = !map || !CELLS[get("cell")].memory;
    if (dials.contains(document.activeElement) && document.activeElement !== again) return;
    const hadFocus = document.activeElement === again;
    dials.replaceChildren(...dialsOf(get("view"), get("cell")).map(([trait, title]) => {
      const [low, high, step] = get("limits")[trait];
      return slider({ title, low, high, step, value: get(trait) }, (value) => choose({ [trait]: value })).node;
    }), ...(map ? [again] : []));
    if (hadFocus) again.focus();
  };
  const point = () => {
    if (now.view === "cliff") return now.point(settings());
    const last = get("steps") - 1;
    return now.point(clamp(get("pushed"), 0, last), clamp(get("moved"), 0, last));
  };
  const compute = () => {
    if (now.view === "map") {
      const traits = settings();
      now.show(mapOf({ ...traits, bias: traits.forget_bias, inputs: traits.input_size }), traits);
    }
    point();
  };
  const draw = () => keepingFocus(parts.body, () => {
    turn();
    const [view, steps] = [get("view"), get("steps")];
    const context = { room: parts.body.clientWidth, node: parts.node, choose, view: open[view] };
    const drawing = view === "map" ? mapView({ ...context, steps }) : cliffView({ ...context, limits: get("limits") });
    now = { view, steps, ...drawing };
    parts.body.replaceChildren(now.node);
    compute();
  });
  observe(model, [...COMPUTED, "view"], eachFrame(() => {
    if (now.view !== get("view") || now.steps !== get("steps")) return draw();
    turn();
    return compute();
  }), signal);
  observe(model, ["pushed", "moved", ...CLIFF], eachFrame(() => {
    turn();
    point();
  }), signal);
  resized(parts.body, draw, signal);
  draw();
});
