// The Softmax Lab: e to each score ÷ T, the normalised probabilities, and the effect of the temperature.

import { slider } from "../shared/controls.js";
import { el, resized } from "../shared/dom.js";
import { guess, lab, observe, setter } from "../shared/lab.js";
import { chance, choices, entropyOf, softmax } from "../shared/softmax.js";
import { short } from "../shared/words.js";

const QUESTION = "Add 1 to all scores: how do the probabilities change? And as the temperature goes to 0?";
const ANSWER = "They do not change: the factor e¹ appears in numerator and denominator, and cancels. So only " +
  "differences of scores matter. As the temperature goes to 0, the probability of the highest score goes to 1, which is greedy " +
  "decoding; as it rises, the distribution becomes uniform.";
const SIDE_BY_SIDE = 460;

/** e to a power: as a number unless it is too large to read. */
export const powerText = (power) => (power > 14 ? `e^${short(power)}` : short(Math.exp(power)));

/** A sentence about the distribution: the ratio of the two highest probabilities, and the perplexity. */
export function finding(scores, temperature) {
  const shares = softmax(scores.map(([, score]) => score / temperature));
  const order = scores.map((_, i) => i).sort((a, b) => scores[b][1] - scores[a][1] || a - b);
  const [[first, high], [second, low]] = [scores[order[0]], scores[order[1]]];
  const times = powerText((high - low) / temperature);
  return `“${first}” has probability ${chance(shares[order[0]])}: ${times} times that of “${second}”, which is e to ` +
    `the (${short(high)} − ${short(low).replace(/^−.*/, "($&)")}) ÷ ${short(temperature)}. The perplexity is ` +
    `${choices(entropyOf(shares))}, the number of equally likely tokens with the same entropy.`;
}

export default lab({
  title: "How do scores become probabilities?",
  lead: "Softmax: e to the power of each score, divided by the sum over all scores. Change the temperature; then " +
    "move a score.",
}, ({ model, signal, parts }) => {
  parts.node.classList.add("softmax");
  const set = setter(model);
  const move = (i, score) =>
    set({ scores: model.get("scores").map(([token, was], j) => [token, i === j ? score : was]) });
  const { highest, coolest, hottest } = model.get("limits");
  const why = el("p", { class: "why", role: "status", "aria-live": "polite" });
  const temperature = el("div", { class: "bar" });
  const rows = el("div", { class: "shares" });
  let shown = [];

  const build = () => {
    temperature.replaceChildren(slider({ title: "temperature T", low: coolest, high: hottest, step: 0.1,
      value: model.get("temperature") }, (value) => set({ temperature: value })).node);
    shown = model.get("scores").map(([token, score], i) => {
      const [bar, power, share] = [el("i"), el("span", { class: "number" }), el("span", { class: "amount" })];
      const input = slider({ title: token, low: -highest, high: highest, step: 0.1, value: score },
        (value) => move(i, value)).node;
      return { token, bar, power, share, cells: [input, power, el("span", { class: "track" }, bar), share] };
    });
    const heads = ["score s", "e^(s ÷ T)", "probability, from 0 to 1", ""];
    rows.replaceChildren(...heads.map((name) => el("b", {}, name)), ...shown.flatMap(({ cells }) => cells));
  };
  const draw = () => {
    const [scores, T] = [model.get("scores"), model.get("temperature")];
    const shares = softmax(scores.map(([, score]) => score / T));
    shown.forEach(({ bar, power, share }, i) => {
      power.textContent = powerText(scores[i][1] / T);
      bar.style.width = `${100 * shares[i]}%`;
      share.textContent = chance(shares[i]);
    });
    why.textContent = finding(scores, T);
  };
  const fit = () => { rows.classList.toggle("stacked", parts.body.clientWidth < SIDE_BY_SIDE); };
  observe(model, ["scores", "temperature"], () => {
    const others = String(model.get("scores").map(([token]) => token)) !== String(shown.map(({ token }) => token));
    if (others || !parts.body.contains(document.activeElement)) build();
    draw();
  }, signal);
  parts.body.append(why, temperature, rows, guess({}, QUESTION, ANSWER));
  resized(parts.body, fit, signal);
  build();
  fit();
  draw();
});
