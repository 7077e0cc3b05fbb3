// The selected word and its neighbours as a table: the values of the picture in an accessible form.

import { el } from "../shared/dom.js";
import { decimal, number } from "../shared/words.js";

/** The rows, [[word, cosine or dot, length, x, y, group]]; `near` are { row, score }. */
export function tableRows({ space, at, xy, row, near }) {
  return [{ row, score: null }, ...near].map(({ row: each, score }) => [
    space.words[each], score === null ? "–" : decimal(score), space.length[at][each].toFixed(2),
    decimal(xy[2 * each]), decimal(xy[2 * each + 1]), space.groups[space.groupOf[each]]?.name ?? "–"]);
}

/** The table, initially closed; it is filled when it is opened. `rows()` returns the current rows. */
export function tableOf({ rows, heads, view }) {
  const table = el("table");
  const fill = () => {
    if (!node.open) return;
    table.replaceChildren(el("thead", {}, el("tr", {}, ...heads().map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, ...rows().map(([word, ...cells]) => el("tr", {}, el("td", {}, el("bdi", {}, word)),
        ...cells.map((cell) => el("td", {}, cell))))));
  };
  const node = el("details", { class: "table-of chosen", open: view.table },
    el("summary", {}, "the selected word and its neighbours as a table"), table);
  node.addEventListener("toggle", () => {
    view.table = node.open;
    fill();
  });
  return { node, fill };
}

export const heads = ({ measure, space, at }) => ["word", measure === "dot" ? "dot product" : "cosine", "length",
  "horizontal", "vertical", space.last ? `group (update ${number(space.updates[at])})` : "group"];
