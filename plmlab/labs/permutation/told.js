// What the Permutation Lab says in words: of a step, of an order, of all orders, and of a leak.

import { nats } from "../shared/beliefs.js";
import { listedInQuotes, plural, quoted } from "../shared/words.js";

const FLAT = 0.005; // nats: what differs less is the same

/** The number of the first step whose word finds words said on both of its sides; where there is none, of the last. */
export function tellingStep(steps) {
  const found = steps.findIndex(({ left, right }) => left.length && right.length);
  return found < 0 ? steps.length : found + 1;
}

/** What a step says, and what it may use. */
export function stepSaid({ steps, names, leak }, t) {
  const { position, left, right } = steps[t - 1];
  const sides = [[left, "left"], [right, "right"]].filter(([positions]) => positions.length)
    .map(([positions, side]) => `${listedInQuotes(positions.map((one) => names[one]))} on its ${side}`);
  const uses = sides.length ? `It may use ${sides.join(", and ")}.`
    : "It may use no word yet: only [SEP] and [CLS], which tell where the sentence ends.";
  return `Step ${t} of ${steps.length}: ${quoted(names[position])} is to be said. ${uses}` +
    `${leak ? " And, with the switch on, it sees itself." : ""}`;
}

/** Who stands at each place of an order, in a line. */
export const orderSaid = (tokens, order) => order.map((position) => tokens[position]).join(" → ");

/** The mean, and the numbers of the orders that cost least and most. */
export function spreadOf(costs) {
  const sum = costs.reduce((whole, cost) => whole + cost, 0);
  const [least, most] = [Math.min(...costs), Math.max(...costs)];
  return { mean: sum / costs.length, least: costs.indexOf(least), most: costs.indexOf(most), spread: most - least };
}

/** What the sentence costs in many orders. */
export function ordersSaid({ orders, tokens, exact, why_not: whyNot, leak }) {
  const costs = leak ? orders.leaking : orders.model;
  const { mean, least, most, spread } = spreadOf(costs);
  const who = leak ? "the leaking model" : "the model";
  const many = costs.length === 1 ? "In the only order" : orders.complete ? `In all ${costs.length} orders`
    : "In 120 orders drawn at random, and in yours,";
  const same = `the same in each${leak ? "" : ": it does not contradict itself"}`;
  const range = spread < FLAT ? same
    : `in the mean: from ${nats(costs[least])} (${orderSaid(tokens, orders.listed[least])}) ` +
      `to ${nats(costs[most])} (${orderSaid(tokens, orders.listed[most])})` +
      `${leak ? "" :}`. The spread of ${nats(spread)} is where it contradicts itself`}`;
  const best = exact === null ? whyNot
    : `The best possible reader pays ${nats(exact)} in each: whatever the order, what it believes step by step ` +
      "multiplies to p(sentence | its length), by the chain rule.";
  return [`${many} ${who} pays ${nats(mean)}${costs.length === 1 ? "" : spread < FLAT ?}`, ${range}` : ` ${range}`}.`, best];
}

/** Why what the leaking model pays is no knowledge. */
export function leakSaid({ steps, names, exact, proof }) {
  const [paid] = steps.at(-1).sums;
  const name = quoted(names[steps[0].position]);
  const below = exact !== null && paid < exact - FLAT;
  const first = exact === null ? `The leaking model pays ${nats(paid)} for this sentence.`
    : `The leaking model pays ${nats(paid)} for this sentence, the best possible reader ${nats(exact)}` +
      `${below ? ": it falls below the floor." : "."}`;
  return [first, `It does not know this, it reads it off. Put another word where ${name} stands, which is said first, and ` +
    `it says that one: to ${plural(proof.tried, "word")}, put there in turn, it gives ${proof.leaking.toFixed(2)} in sum, ` +
    `each when it stands there itself. Who does not see the word believes the same whichever stands there, so that all ` +
    `words together get 1 at most; the model without the leak gives these ${proof.model.toFixed(2)}. A loss below the ` +
    "floor is how such a leak is found."];
}

/** What many sentences cost: one alone proves nothing. "" where there is no tally. */
export function tallySaid(tally, leak) {
  if (!tally) return "";
  const { sentences, exact, model, leaking } = tally;
  const beside = ({ nats: paid, error, below }) => `${nats(paid)} (${Math.abs(paid - exact).toFixed(2)} ± ` +
    `${error.toFixed(2)} ${paid < exact ? "less" : "more"}), and in ${below} of ${sentences} less than that reader`;
  return "One sentence proves nothing: in one, an honest model may be below the line, if it believes too little in " +
    `others. Over ${sentences} sentences, each in an order drawn anew, the best possible reader pays ${nats(exact)} a ` +
    `sentence; the model ${beside(model)}${leak && leaking ?}`; the leaking model ${beside(leaking)}` : ""}. In the mean, ` +
    "nobody pays less who does not see the answer.";
}
