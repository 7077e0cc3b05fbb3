// Part A, both positions and the targets, filled in by the reader, with feedback on common mistakes.

import { partsOf } from "./messages.js";
import { el } from "../shared/dom.js";

const same = (one, other) => one.length === other.length && one.every((value, i) => value === other[i]);
const tidy = (text) => text.trim().split(/\s+/).join(" ");

/** The feedback on a reader's Part A: { right, said }. */
export function partASaid({ right, mistakes }, text) {
  const typed = tidy(text);
  if (!typed) return { right: false, said: "Type Part A: the visible words, and the token that stands for each blank." };
  if (typed === tidy(right)) return { right: true, said: "Part A is correct." };
  const mistake = mistakes.find((one) => tidy(one.text) === typed);
  if (mistake) return { right: false, said: mistake.said };
  const [mine, wanted] = [typed.split(" "), tidy(right).split(" ")];
  const first = mine.findIndex((word, i) => word !== wanted[i]);
  const where = first < 0 ? "its end" : `“${mine[first]}”, token ${first + 1}`;
  return { right: false, said: `Part A differs at ${where}. Keep the visible words as they are, with one [MASK] for each span.` };
}

/** The typed fields of a row as values: numbers, words, null for empty ones; NaN for what is not a number. */
export const typedCells = (name, fields) => fields.map((text) => {
  const value = text.trim();
  if (name === "target") return ["", "·", "-"].includes(value) ? null : value;
  return value === "" ? null : /^\d+$/.test(value) ? Number(value) : NaN;
});

/** The feedback on a row: { right, said: [a sentence, …], wrong: the first wrong position or −1 }. */
export function rowSaid(row, read, cells, inputs) {
  if (row.name !== "target" && cells.some((cell) => cell === null)) {
    return { right: false, said: ["A position id is missing: every token needs one."], wrong: cells.indexOf(null) };
  }
  const wrong = cells.findIndex((cell, i) => cell !== row.right[i]);
  if (wrong < 0) return { right: true, said: ["Correct."], wrong };
  const said = [["A", 0, read], ["B", read, cells.length]].flatMap(([part, first, end]) => {
    const mine = cells.slice(first, end);
    if (same(mine, row.right.slice(first, end))) return end > first ? [`Part ${part} is correct.`] : [];
    const mistake = row.mistakes.find((one) => one.part === part && same(mine, one.values));
    const at = first + mine.findIndex((cell, i) => cell !== row.right[first + i]);
    return [mistake ? mistake.said : `Part ${part} is not correct yet. Check “${inputs[at]}”, token ${at + 1} from the left.`];
  });
  return { right: false, said, wrong };
}

/** The exercise. `view.answers` keeps what was typed while the text and its blanks are unchanged. */
export function exercise({ state, view }) {
  const key = JSON.stringify([state.tokens, state.spans, state.order]);
  if (view.answers?.key !== key) view.answers = { key, text: "", done: false, fields: state.rows.map(() => state.inputs.map(() => "")) };
  const { answers } = view;
  const verdict = () => el("p", { class: "verdict", role: "status", "aria-live": "polite" });

  const field = el("input", { type: "text", class: "part-a", spellcheck: "false", autocomplete: "off", dir: "auto",
    "aria-label": "Part A", placeholder: "Part A of the text above, its blanks included" });
  field.value = answers.text;
  field.addEventListener("input", () => { answers.text = field.value; });
  const saidA = verdict();
  const below = el("div", { class: "below", hidden: !answers.done });
  const checkA = () => {
    const { right, said } = partASaid(state.part_a, field.value);
    saidA.textContent = said;
    saidA.classList.toggle("right", right);
    if (right) {
      answers.done = true;
      below.hidden = false;
    }
  };
  field.addEventListener("keydown", (event) => event.key === "Enter" && checkA());
  const show = () => {
    field.value = answers.text = state.part_a.right;
    checkA();
  };

  const parts = partsOf(state);
  const told = state.rows.map(() => verdict());
  const inputs = state.rows.map((row, r) => state.inputs.map((token, position) => {
    const input = el("input", { type: "text", class: "cell-field", inputmode: row.name === "target" ? "text" : "numeric",
      autocomplete: "off", spellcheck: "false", "data-row": r, "data-position": position, "aria-label": `${row.name} of token ${position + 1}, ${token}` });
    input.value = answers.fields[r][position];
    input.addEventListener("input", () => {
      answers.fields[r][position] = input.value;
      input.classList.remove("wrong");
    });
    return input;
  }));
  const check = (r) => {
    const { right, said, wrong } = rowSaid(state.rows[r], state.read, typedCells(state.rows[r].name, answers.fields[r]), state.inputs);
    told[r].replaceChildren(el("b", {}, `${state.rows[r].name}: `), said.join(" "));
    told[r].classList.toggle("right", right);
    inputs[r].forEach((input, position) => input.classList.toggle("wrong", position === wrong));
  };
  const solve = (r) => {
    state.rows[r].right.forEach((value, position) => {
      inputs[r][position].value = answers.fields[r][position] = value === null ? "" : String(value);
    });
    check(r);
  };
  below.addEventListener("keydown", (event) => {
    const { row, position } = event.target.dataset;
    if (position === undefined) return;
    if (event.key === "Enter") return check(Number(row));
    const whole = event.target.selectionStart === event.target.selectionEnd;
    const [r, s] = [Number(row), Number(position)];
    const to = { ArrowUp: [r - 1, s], ArrowDown: [r + 1, s],
      ArrowLeft: whole && event.target.selectionStart === 0 ? [r, s - 1] : null,
      ArrowRight: whole && event.target.selectionEnd === event.target.value.length ? [r, s + 1] : null }[event.key];
    const next = to && inputs[to[0]]?.[to[1]];
    if (!next) return;
    next.focus();
    event.preventDefault();
  });
  const buttons = (r) => el("td", { class: "acts" },
    el("button", { type: "button", class: "preset", on: { click: () => check(r) } }, "check"),
    el("button", { type: "button", class: "preset", on: { click: () => solve(r) } }, "show"));
  below.append(
    el("p", {}, "Now fill in both positions and the target of each token. Leave the target empty where there is none."),
    el("div", { class: "scroll" }, el("table", { class: "sheet" },
      el("thead", {}, el("tr", {}, el("td", {}), ...parts.map(({ name, first, end }) =>
        el("th", { scope: "colgroup", colspan: end - first }, name)), el("td", {})),
      el("tr", {}, el("th", { scope: "row" }, "input"), ...state.inputs.map((token) => el("th", { scope: "col" },
        el("span", { class: `chip${token === "[MASK]" ? " mask" : ""}`, title: token }, el("bdi", {}, token)))), el("td", {}))),
      el("tbody", {}, ...state.rows.map((row, r) => el("tr", {}, el("th", { scope: "row" }, row.name),
        ...inputs[r].map((input) => el("td", {}, input)), buttons(r)))))),
    ...told);
  return el("section", { class: "exercise", "aria-label": "fill it in yourself" },
    el("p", {}, "Type Part A of this text with these blanks: words and [MASK], separated by spaces."),
    el("div", { class: "bar" }, field, el("button", { type: "button", on: { click: checkA } }, "check"),
      el("button", { type: "button", on: { click: show } }, "show")), saidA, below);
}
