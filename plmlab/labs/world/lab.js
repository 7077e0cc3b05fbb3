// The Small World Lab: four views in tabs.

import { select } from "../shared/controls.js";
import { el, resized } from "../shared/dom.js";
import { lab, observe, tell } from "../shared/lab.js";
import { entityView } from "./entity.js";
import { probabilityView } from "./probability.js";
import { questionView } from "./question.js";
import { sentencesView } from "./sentences.js";
import { number } from "../shared/words.js";

const VIEWS = [
  { name: "sentences", title: "Sentences", make: sentencesView },
  { name: "probability", title: "Exact probability", make: probabilityView },
  { name: "entity", title: "An entity", make: entityView },
  { name: "question", title: "A bridge question", make: questionView },
];

/** The index of the tab that a keyboard key moves to from `place`, or null. */
export function tabAfter(key, place, count) {
  const to = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: count - 1 }[key];
  return to === undefined ? null : (to + count) % count;
}

let tablists = 0;

function tabs(model, panels) {
  const id = `plm-world-${tablists++}`;
  const open = (name) => tell(model, { view: name });
  const buttons = VIEWS.map(({ name, title }) => el("button", { type: "button", role: "tab", id: `${id}-${name}`,
    "aria-controls": `${id}-${name}-panel`, on: { click: () => open(name) } }, title));
  const list = el("div", { class: "tabs", role: "tablist", "aria-label": "views" }, ...buttons);
  list.addEventListener("keydown", (event) => {
    const to = tabAfter(event.key, buttons.indexOf(document.activeElement), VIEWS.length);
    if (to === null) return;
    open(VIEWS[to].name);
    buttons[to].focus();
    event.preventDefault();
    event.stopPropagation();
  });
  VIEWS.forEach(({ name }, i) => {
    Object.assign(panels[i], { id: `${id}-${name}-panel`, role: "tabpanel" });
    panels[i].setAttribute("aria-labelledby", `${id}-${name}`);
  });
  const follow = () => VIEWS.forEach(({ name }, i) => {
    const chosen = model.get("view") === name;
    buttons[i].setAttribute("aria-selected", String(chosen));
    buttons[i].tabIndex = chosen ? 0 : -1;
    panels[i].hidden = !chosen;
  });
  return { list, follow };
}

function worldChoice(model, signal) {
  const note = el("span", { class: "axes", role: "status" });
  const choice = select({ label: "which world", disabled: model.get("alone"),
    options: model.get("menu").sizes.map((name) => [name, `the ${name} world`]) }, (size) => {
    if (size === "full") note.textContent = "compiling: this takes a few seconds, once";
    tell(model, { size });
  });
  const follow = () => {
    const { name, words, entities, arcs } = model.get("state").world;
    choice.show(name);
    note.textContent = `${number(words)} words, ${entities} named entities, ` +
      `a grammar of ${number(arcs)} arcs`;
  };
  observe(model, ["state"], follow, signal);
  follow();
  return el("div", { class: "bar quiet" }, choice.node, note);
}

export default lab({
  title: "Meet the Small World",
  lead: "A synthetic universe with its own people, films and cafés. It generates text about them in English and " +
  "Chinese, and because we wrote its grammar, everything about the text is known exactly.",
}, ({ model, signal, parts }) => {
  parts.node.classList.add("world");
  if (!model.get("state").world) return;
  const go = model.get("alone") ? null : (key) => tell(model, { view: "entity", entity: key });
  const views = VIEWS.map(({ make }) => make(model, { go, signal }));
  const { list, follow } = tabs(model, views.map(({ node }) => node));
  const drawn = {};
  const draw = () => {
    const place = VIEWS.findIndex(({ name }) => name === model.get("view"));
    const part = model.get("state")[model.get("view")];
    const serialized = JSON.stringify(part);
    if (drawn[place] === serialized) return views[place].repaint?.();
    drawn[place] = serialized;
    views[place].draw(part);
  };
  parts.controls.prepend(worldChoice(model, signal), list);
  parts.body.append(...views.map(({ node }) => node));
  const turn = () => { follow(); draw(); };
  observe(model, ["view"], turn, signal);
  observe(model, ["state"], draw, signal);
  resized(parts.body, draw, signal);
  turn();
});
