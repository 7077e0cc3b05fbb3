// The map of the vectors: all documents and the query, projected onto a plane that was fitted once.

import { along, lensOf, lettersAt, nearest } from "./layout.js";
import { mapSaid } from "./messages.js";
import { wordsOf } from "./wording.js";
import { el, svg } from "../shared/dom.js";

const [WIDTH, HEIGHT] = [320, 250];
const UNTOUCHED = "Point at a dot to see its name.";

/** All points: [{ number, x, y, moved }]; an edited document is placed at its new vector. */
export function pointsOf({ documents, box }, { plane: { query, written } }, shelf) {
  const lens = lensOf(box, WIDTH, HEIGHT);
  const known = documents.map(({ number, at }) => [number, written[number] ?? at]);
  const added = Object.entries(written).map(([number, at]) => [Number(number), at])
    .filter(([number]) => !documents.some((document) => document.number === number));
  const all = [...known, ...added].filter(([number]) => shelf.get(number)?.kind !== "removed");
  return { query: lens(query), points: all.map(([number, at]) => ({ number, ...lens(at), moved: written[number] !== undefined })) };
}

const dot = ({ x, y }, r) => `M${(x - r).toFixed(1)} ${y.toFixed(1)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;

/** The map; `point(number)` is called on hover, `open(number)` on click; the arrow keys go through the documents in
    order of decreasing inner product. */
export function mapOf({ menu, state, shelf, point, open, nameOf }) {
  const { query, points } = pointsOf(menu, state, shelf);
  const { many } = wordsOf(state);
  const retrieved = new Set(state.documents.map(({ number }) => number));
  const ring = svg("circle", { class: "ring", r: 8, visibility: "hidden" });
  const spots = points.filter(({ number }) => retrieved.has(number));
  const letters = lettersAt(spots, [query]);
  const marks = spots.map(({ number, x, y, moved }, i) => svg("g", { class: `spot${moved ? " moved" : ""}`, "data-doc": number },
    svg("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: 4 }),
    svg("text", { x: letters[i].x.toFixed(1), y: letters[i].y.toFixed(1) }, state.letters[number])));
  const said = el("p", { class: "map-said" }, UNTOUCHED);
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" },
    svg("path", { class: "dots", d: points.filter(({ number, moved }) => !retrieved.has(number) && !moved).map((one) => dot(one, 2)).join("") }),
    svg("path", { class: "dots written", d: points.filter(({ number, moved }) => !retrieved.has(number) && moved).map((one) => dot(one, 3)).join("") }),
    ...marks,
    svg("path", { class: "query", d: `M${query.x} ${query.y - 7}l7 7l-7 7l-7-7Z` }),
    ring);
  const field = el("div", { class: "map", tabindex: "0", role: "slider", "data-at": "map", "aria-label":
    `the map of vectors: the arrow keys go through the ${many} by decreasing inner product; Enter opens one`,
  "aria-valuemin": 1, "aria-valuemax": Math.max(1, state.plane.ranked.length), "aria-valuenow": 1 }, picture);
  let place = -1;
  const show = (number) => {
    const at = points.find((one) => one.number === number);
    ring.setAttribute("visibility", at ? "visible" : "hidden");
    if (!at) {
      said.textContent = UNTOUCHED;
      return;
    }
    ring.setAttribute("cx", at.x);
    ring.setAttribute("cy", at.y);
    const rank = state.plane.ranked.indexOf(number);
    said.textContent = `${nameOf(number)}: rank ${rank + 1} of ${state.plane.ranked.length} by inner product with x.`;
    field.setAttribute("aria-valuenow", rank + 1);
    field.setAttribute("aria-valuetext", said.textContent);
  };
  field.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const [x, y] = [((event.clientX - box.left) / box.width) * WIDTH, ((event.clientY - box.top) / box.height) * HEIGHT];
    point(nearest(points, x, y)?.number ?? null);
  });
  field.addEventListener("pointerleave", () => point(null));
  field.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    const on = nearest(points, ((event.clientX - box.left) / box.width) * WIDTH, ((event.clientY - box.top) / box.height) * HEIGHT);
    if (on) open(on.number);
  });
  field.addEventListener("keydown", (event) => {
    const { ranked } = state.plane;
    if (event.key === "Enter" && place >= 0) open(ranked[place]);
    else {
      const to = along(event.key, place, ranked.length);
      if (to === null || !ranked.length) return;
      place = Math.max(0, to);
      point(ranked[place]);
    }
    event.preventDefault();
    event.stopPropagation();
  });
  return { node: el("section", { class: "where", "aria-label": "map of the vectors" },
    el("h4", {}, "Map of the vectors"), field,
    el("p", { class: "map-key" }, el("span", { class: "diamond" }, "◆"), " the query x, ● retrieved, ○ edited by you, · other"),
    said, el("p", { class: "note" }, mapSaid(menu.share, many))), show };
}
