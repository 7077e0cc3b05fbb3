// The Small World Lab, third view: an entity's article with links, and its facts.

import { select } from "../shared/controls.js";
import { el } from "../shared/dom.js";
import { observe } from "../shared/lab.js";
import { KINDS, facts, prose } from "../shared/probabilities.js";

/** The entities that match a query by name, kind or both ("film harbor"), with prefix matches first. */
export function found(entities, query) {
  const parts = query.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = entities.filter(({ name, kind }) => {
    const whole = `${name} ${KINDS[kind]} ${kind}`.toLowerCase();
    return parts.every((part) => whole.includes(part));
  });
  const begins = ({ name }) => (parts.length && name.toLowerCase().startsWith(parts[0]) ? 0 : 1);
  return fits.sort((a, b) => begins(a) - begins(b) || a.name.localeCompare(b.name, "en"));
}

/** The view: { node, draw(part) }. */
export function entityView(model, { go, signal }) {
  const disabled = model.get("alone");
  const query = el("input", { type: "text", "aria-label": "search for an entity", placeholder: "search: a name, a kind",
    autocomplete: "off", spellcheck: "false" });
  const list = select({ label: "entities", size: 12, class: "entities", disabled }, go);
  const count = el("p", { class: "axes", role: "status" });
  const page = el("article", {});
  const narrow = () => {
    const all = model.get("menu").entities;
    const listed = found(all, query.value);
    list.offer(listed.map(({ key, name, kind }) => [key, `${name} · ${KINDS[kind]}`]));
    list.show(model.get("entity"));
    count.textContent = `${listed.length} of ${all.length}`;
  };
  query.addEventListener("input", narrow);
  query.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && list.input.options.length && !disabled) go(list.input.options[0].value);
    else if (event.key === "ArrowDown") list.node.focus();
    else return;
    event.preventDefault();
  });
  observe(model, ["menu"], narrow, signal);
  narrow();
  return {
    node: el("div", { class: "library" }, el("div", { class: "shelf" }, query, list.node, count), page),
    draw(part) {
      list.show(part.key);
      const walked = page.contains(document.activeElement);
      const heading = el("h4", { tabindex: "-1" }, part.name,
        el("span", {}, ` ${KINDS[part.kind]} · `, el("span", { lang: "zh" }, part.chinese)));
      page.replaceChildren(heading,
        ...(part.held ? [el("p", { class: "axes" }, "Held out: it does not occur in the training text.")] : []),
        el("p", { class: "text" }, ...part.sentences.flatMap((sentence, i) => [i ? " " : "",
          el("span", { class: part.gist.includes(i) ? "gist" : "" }, ...prose(sentence, go, part.key))])),
        el("p", { class: "axes" }, el("span", { class: "gist" }, "Underlined"), ": the sentences with the article’s gist."),
        el("p", { class: "text", lang: "zh" }, part.sentences.map(({ chinese }) => chinese).join("")),
        el("div", { class: "scroll" }, facts("facts", part.facts, go, part.key)));
      if (walked) heading.focus({ preventScroll: true });
    },
  };
}
