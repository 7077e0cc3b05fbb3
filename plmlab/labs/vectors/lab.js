// The Vector Lab: a cloud of words, the neighbours of one, an analogy of three, and all of them during training.

import { analogyBoxes, analogyPanel, answered } from "./analogy.js";
import { radii } from "./cloud.js";
import { axesControl, firstAxes, legend, tries } from "./controls.js";
import { figureOf } from "./figure.js";
import { ownText } from "./file.js";
import { between, coordinates, nearInPicture, nearness, neighbours, picture, rankOf, ranks } from "./maths.js";
import { neighbourPanel } from "./neighbours.js";
import { spaceOf } from "./numbers.js";
import { rankChart } from "./ranks.js";
import { scrubber } from "./scrubber.js";
import { heads, tableOf, tableRows } from "./table.js";
import { axesSaid, chosenSaid, pictureFinding, pointedSaid, unknownSaid } from "./messages.js";
import { spotlit, wordBox, wordList } from "./words.js";
import { checkbox } from "../shared/controls.js";
import { clamp, eachFrame, el, keepingFocus, resized, settled } from "../shared/dom.js";
import { lab, observe, setter, tell } from "../shared/lab.js";
import { keepLines } from "../shared/lines.js";

const SIDE_BY_SIDE = 800;
const SIDE = 312;
const TRAITS = ["state", "axes", "word", "measure", "update", "analogy", "spotlight", "hidden"];

export default lab({
  title: "Which words are near, and where does b − a + c lead?",
  lead: "Each word is a vector. The picture is a projection onto two axes; neighbours and analogies are computed in " +
  "all dimensions.",
}, ({ model, signal, parts }) => {
  parts.node.classList.add("vectors");
  const get = (name) => model.get(name);
  const choose = setter(model);
  const { presets, train, limit } = get("menu");
  const view = { open: null, table: false, trails: true };
  let [space, coords, list, now] = [null, null, el("span"), {}];

  const complaint = el("p", { class: "complaint", role: "status", "aria-live": "polite" });
  const complain = (text) => { complaint.textContent = text; };
  const rows = (words) => words.map((word) => space.row.get(word));
  const at = () => Math.max(0, space.updates.indexOf(get("update")));
  const boxes = el("div", { class: "bar" });
  const axes = { node: el("div") };
  const own = train ? ownText({ limit, disabled: Boolean(get("alone")), signal,
    ask: (request) => tell(model, { request: { ...request, number: Date.now() } }) }) : null;

  /** Build the controls, which depend on the vocabulary. */
  const turn = () => {
    const words = wordList(space.words);
    list.replaceWith(words);
    list = words;
    const shared = { space: () => space, list: words.id, complain };
    const word = wordBox({ ...shared, label: "a word", placeholder: "a word",
      choose: (row) => choose({ word: space.words[row] }) });
    const light = keepLines(el("input", { type: "text", class: "spotlight", dir: "auto", spellcheck: "false", autocomplete: "off",
      "aria-label": "words to highlight",
      placeholder: "several words, separated by commas or spaces" }));
    light.text = get("spotlight");
    light.addEventListener("input", settled(() => choose({ spotlight: light.text }), 200));
    boxes.replaceChildren(el("label", {}, "word", word.node), el("label", { class: "wide" }, "highlight", light));
    const set = axesControl({ ...shared, axes: () => get("axes"), analogy: () => get("analogy"),
      choose: (pairs) => choose({ axes: pairs }),
      suggest: () => firstAxes(get("analogy"), get("word"), now.near.map(({ row }) => space.words[row])) });
    axes.node.replaceWith(set.node);
    Object.assign(axes, set);
    const question = analogyBoxes({ ...shared, words: () => get("analogy"), choose: (analogy) => choose({ analogy }) });
    Object.assign(now, { word, light, asked: question });
  };

  const scene = { pointed: -1 };
  const say = (row) => {
    const { near, count } = now;
    const [measure, chosen] = [get("measure"), scene.chosen];
    const read = (of) => (space.counts ? space.counts[of] : null);
    const text = row < 0 || row === chosen ? chosenSaid({ word: space.words[chosen], measure, count: space.count,
      near: near.slice(0, 3).map((each) => ({ word: space.words[each.row], score: each.score })), width: space.width,
      size: space.length[at()][chosen], read: read(chosen) })
      : pointedSaid({ word: space.words[row], chosen: space.words[chosen], score: now.scores[row],
        rank: rankOf(now.scores, row, [chosen]), measure, read: read(row),
        seems: 1 + nearInPicture(coords[at()], chosen, count).indexOf(row),
        group: space.groups[space.groupOf[row]]?.name });
    now.why.textContent = text;
    now.figure.say(text);
  };
  const point = (row) => {
    if (scene.pointed === row) return;
    scene.pointed = row;
    now.figure.redraw();
    say(row);
  };

  /** Interpolate the points at a time between two snapshots. */
  const show = (time) => {
    const [from, part] = [Math.floor(time), time % 1];
    if (part < 1e-6) scene.xy = coords[from];
    else {
      now.mixed ??= new Float32Array(2 * space.count);
      for (let i = 0; i < now.mixed.length; i++) {
        now.mixed[i] = coords[from][i] + part * (coords[from + 1][i] - coords[from][i]);
      }
      scene.xy = now.mixed;
    }
    const passed = [...coords.slice(0, from + 1), scene.xy];
    const trail = (row) => ({ row, path: passed.flatMap((xy) => [xy[2 * row], xy[2 * row + 1]]) });
    scene.trails = view.trails && space.last ? [...scene.near, scene.chosen].map(trail) : null;
    now.figure.moved();
  };
  const time = () => now.scrub?.time() ?? at();

  const renew = (place, fresh) => keepingFocus(place, () => place.replaceChildren(fresh));
  const takeWord = () => {
    const [row, measure, i] = [space.row.get(get("word")) ?? 0, get("measure"), at()];
    scene.chosen = row;
    now.scores = nearness(space, i, row, measure);
    now.near = neighbours(space, i, row, measure);
    now.count = space.count - 1;
    scene.near = now.near.map((each) => each.row);
    const inPicture = nearInPicture(coords[i], row, now.near.length);
    const preserved = inPicture.filter((other) => scene.near.includes(other)).length;
    now.finding.textContent = pictureFinding(space.words[row], preserved, now.near.length);
    renew(now.side, neighbourPanel({ space, at: i, row, near: now.near, measure, onHover: point,
      before: i ? neighbours(space, i - 1, row, measure) : null,
      onWord: (other) => choose({ word: space.words[other] }), onMeasure: (value) => choose({ measure: value }) }));
    now.word.show(space.words[row]);
    now.why.setAttribute("aria-live", now.scrub?.playing() ? "off" : "polite");
    if (scene.pointed < 0 || scene.pointed === row) say(-1);
    else say(scene.pointed);
    now.table.fill();
    show(time());
  };
  /** The ranks during training, computed and drawn once per question. */
  const chart = (asked, words) => {
    const key = [now.room, ...asked].join();
    if (now.chart?.key !== key || now.chart.space !== space) {
      const width = Math.min(440, now.room >= SIDE_BY_SIDE ? now.room / 2 - 14 : now.room);
      now.chart = { key, space, ...rankChart({ space, words, found: ranks(space, asked), width }) };
    }
    now.chart.to(at());
    return now.chart.node;
  };
  const takeAnalogy = () => {
    const words = get("analogy");
    const asked = rows(words);
    now.asked.follow();
    axes.follow();
    const answer = asked.length ? answered(space, at(), asked).left[0]?.row ?? -1 : -1;
    const [a, b, c, d = -1] = asked;
    scene.arrows = asked.length ? { a, b, c, d, answer } : null;
    renew(now.analogy, analogyPanel({ space, at: at(), words, rows: asked, view, chart }));
    now.figure.redraw();
  };
  const takeAxes = () => {
    const projection = picture(space, get("axes").map(rows));
    coords = coordinates(space, projection);
    now.mixed = null;
    axes.follow();
    const [x, y] = get("axes");
    const { shares } = space.principal;
    const held = (i) => `principal axis ${i + 1}, ${(100 * shares[i]).toFixed(1)} % of the variance`;
    const end = (place, arrow, word) => el("span", { class: `end ${place}` }, arrow, el("bdi", {}, word));
    now.ends.replaceChildren(...(x
      ? [end("left", "← ", x[0]), end("right", "→ ", x[1]), end("bottom", "↓ ", y[0]), end("top", "↑ ", y[1])]
      : [end("right", "→ ", held(0)), end("top", "↑ ", held(1))]));
    now.axes.textContent = axesSaid({ pairs: get("axes"), shares, angle: between(projection.directions),
      snapshots: space.updates.length, sized: Boolean(space.counts) });
    scene.xy = coords[at()];
    const last = coords[space.last];
    const [a, b, c] = rows(get("analogy")).map((row) => [last[2 * row], last[2 * row + 1]]);
    now.figure.fit([last, a ? [c[0] + b[0] - a[0], c[1] + b[1] - a[1]] : []]);
  };
  const takeLight = () => {
    const { found, missing } = spotlit(space, get("spotlight"));
    scene.lit = found.size ? found : null;
    complain(unknownSaid(missing));
    if (now.light !== document.activeElement) now.light.text = get("spotlight");
    now.figure.redraw();
  };
  const takeHidden = () => {
    const hidden = get("hidden");
    const shown = [...space.groups.map(({ name }) => name), ""].map((name) => !hidden.includes(name));
    const others = shown.pop();
    scene.seen = (row) => (space.groupOf[row] < 0 ? others : shown[space.groupOf[row]]);
    renew(now.legend, legend(space.groups, hidden, (names) => choose({ hidden: names })));
    now.figure.redraw();
  };

  /** Build and draw the body. */
  const draw = () => {
    const room = parts.body.clientWidth;
    const beside = room >= SIDE_BY_SIDE;
    const width = Math.floor(beside ? room - SIDE - 24 : room) - 2;
    const focused = parts.body.contains(document.activeElement) && document.activeElement.matches(".cross");
    const ends = el("div", { class: "axis-ends", "aria-hidden": "true" });
    const height = clamp(Math.round(0.68 * width), 260, 540);
    const figure = figureOf({ scene, width, height, over: [ends], onPoint: point,
      onChoose: (row) => choose({ word: space.words[row] }) });
    const trails = checkbox({ title: "trails", checked: view.trails }, (shown) => {
      view.trails = shown;
      show(time());
    });
    const scrub = space.last ? scrubber({ updates: space.updates, at: at(), show, signal, extra: [trails.node],
      choose: (i) => choose({ update: space.updates[i] }) }) : null;
    const button = (title, label, press) =>
      el("button", { type: "button", title, "aria-label": title, on: { click: press } }, label);
    const zooms = el("div", { class: "zooms", role: "group", "aria-label": "zoom" },
      button("zoom in", "+", () => figure.zoom(1.4)),
      button("zoom out", "−", () => figure.zoom(1 / 1.4)),
      button("show the whole picture", "all", () => figure.whole()));
    figure.node.append(zooms);
    Object.assign(now, { room, figure, scrub, ends, side: el("div"), analogy: el("div"), legend: el("div"),
      finding: el("h4", { class: "finding" }), axes: el("p", { class: "note", role: "status", "aria-live": "polite" }),
      why: el("p", { class: "why", role: "status", "aria-live": "polite" }),
      table: tableOf({ view, heads: () => heads({ measure: get("measure"), space, at: at() }),
        rows: () => tableRows({ space, at: at(), xy: coords[at()], row: scene.chosen, near: now.near }) }) });
    Object.assign(scene, { space, size: radii(space), pointed: -1, near: [], chosen: 0, seen: () => true });
    parts.body.replaceChildren(now.finding, now.why,
      el("div", { class: beside ? "views" : "views stacked" },
        el("div", {}, figure.node, ...(scrub ? [scrub.node] : []), now.legend, now.axes), now.side),
      el("section", { class: "asks", "aria-label": "an analogy" }, el("h4", {}, "An analogy"), now.asked.node, now.analogy),
      ...(own ? [own.node] : []), now.table.node);
    takeAxes();
    takeHidden();
    takeWord();
    takeAnalogy();
    takeLight();
    own?.follow(space.own);
    figure.draw();
    if (focused) figure.focus();
  };

  parts.controls.prepend(boxes, ...(presets.length ? [tries(presets, (preset) => choose({ ...preset }))] : []),
    axes.node, complaint, list);
  const begin = () => {
    space = spaceOf(get("state"));
    turn();
    draw();
  };
  const dirty = new Set();
  const analogyNext = eachFrame(() => (dirty.size ? dirty.add("analogy") : takeAnalogy()));
  const flush = eachFrame(() => {
    const changed = new Set(dirty);
    dirty.clear();
    const any = (...names) => names.some((name) => changed.has(name));
    if (any("state")) return begin();
    if (any("axes")) takeAxes();
    if (any("hidden")) takeHidden();
    if (any("update")) now.scrub?.to(at());
    if (any("axes", "word", "measure", "update")) takeWord();
    if (any("word")) now.figure.reveal(scene.chosen);
    if (any("analogy")) takeAnalogy();
    else if (any("update")) analogyNext();
    if (any("spotlight")) takeLight();
    return null;
  });
  for (const name of TRAITS) {
    observe(model, [name], () => {
      dirty.add(name);
      flush();
    }, signal);
  }
  observe(model, ["request"], () => { if (!get("request").do) own?.answered(); }, signal);
  const themed = new MutationObserver(() => now.figure.redraw());
  themed.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  signal.addEventListener("abort", () => themed.disconnect());
  resized(parts.body, draw, signal);
  begin();
});
