// Sentences of the Permutation Lab: about a step, an order, all orders, and the leak.

import { nats } from "../shared/beliefs.js";
import { listedInQuotes, plural, quoted } from "../shared/words.js";

const FLAT = 0.005; // nats: smaller differences count as equal

/** The number of the first step with both left and right context; if there is none, of the last step. */
export function tellingStep(steps) {
  const found = steps.findIndex(({ left, right }) => left.length && right.length);
  return found < 0 ? steps.length : found + 1;
}

/** The target of a step and its context. */
export function stepSaid({ steps, names, leak }, t) {
  const { position, left, right } = steps[t - 1];
  const sides = [[left, "left"], [right, "right"]].filter(([positions]) => positions.length)
    .map(([positions, side]) => `${listedInQuotes(positions.map((i) => names[i]))} on its ${side}`);
  const uses = sides.length ? `Its context is ${sides.join(", and ")}.`
    : "Its context has no word yet, only [SEP] and [CLS], which indicate where the sentence ends.";
  return `Step ${t} of ${steps.length}: the target is ${quoted(names[position])}. ${uses}` +
    `${leak ? " With the switch on, the query stream also sees the target itself." : ""}`;
}

/** The words of an order, in one line. */
export const orderSaid = (tokens, order) => order.map((position) => tokens[position]).join(" → ");

/** The mean loss, the indices of the orders with the lowest and the highest loss, and their difference. */
export function spreadOf(costs) {
  const sum = costs.reduce((whole, cost) => whole + cost, 0);
  const [least, most] = [Math.min(...costs), Math.max(...costs)];
  return { mean: sum / costs.length, least: costs.indexOf(least), most: costs.indexOf(most), spread: most - least };
}

/** The loss of the sentence in many orders, in words. */
export function ordersSaid({ orders, tokens, exact, why_not: whyNot, leak }) {
  const costs = leak ? orders.leaking : orders.model;
  const { mean, least, most, spread } = spreadOf(costs);
  const who = leak ? "the leaking model" : "the model";
  const many = costs.length === 1 ? "In the only order" : orders.complete ? `In all ${costs.length} orders`
    : "In 120 random orders and yours,";
  const same = `, the same in every order${leak ? "" : ": its predictions are consistent"}`;
  const range = spread < FLAT ? same
    : ` on average, from ${nats(costs[least])} (${orderSaid(tokens, orders.listed[least])}) ` +
      `to ${nats(costs[most])} (${orderSaid(tokens, orders.listed[most])})` +
      `${leak ? "" : `. The spread of ${nats(spread)} shows that its predictions are inconsistent`}`;
  const best = exact === null ? whyNot
    : `The Bayes-optimal predictor has a loss of ${nats(exact)} in every order: by the chain rule, the product of its ` +
      "step-by-step probabilities is always p(sentence | its length).";
  return [`${many} the loss of ${who} is ${nats(mean)}${costs.length === 1 ? "" : range}.`, best];
}

/** The proof that the leaking model's low loss comes from target leakage. */
export function leakSaid({ steps, names, exact, proof }) {
  const [loss] = steps.at(-1).sums;
  const name = quoted(names[steps[0].position]);
  const below = exact !== null && loss < exact - FLAT;
  const first = exact === null ? `The leaking model's loss on this sentence is ${nats(loss)}.`
    : `The leaking model's loss on this sentence is ${nats(loss)}, compared with ${nats(exact)} for the ` +
      `Bayes-optimal predictor${below ? ": it is below the floor." : "."}`;
  return [first, `It does not predict the target but copies it. Replace ${name}, the first target, by another word, ` +
    `and the model predicts that word: for ${plural(proof.tried, "word")} substituted in turn, the probabilities of ` +
    `the substituted words add up to ${proof.leaking.toFixed(2)}. A model that does not see the target makes the ` +
    "same prediction each time, so that the sum over all words is at most 1; with the model without the leak, these " +
    `words add up to ${proof.model.toFixed(2)}. A loss below the floor is how such a leak is detected.`];
}

/** The losses on many sentences, because one alone proves nothing; "" if there is no tally. */
export function tallySaid(tally, leak) {
  if (!tally) return "";
  const { sentences, exact, model, leaking } = tally;
  const compared = ({ nats: loss, error, below }) => `${nats(loss)} (${Math.abs(loss - exact).toFixed(2)} ± ` +
    `${error.toFixed(2)} ${loss < exact ? "lower" : "higher"}), and lower on ${below} of the sentences`;
  return "One sentence proves nothing: on a single sentence, a model without leakage can be below the line if it " +
    `assigns too little probability to others. Over ${sentences} sentences, each in a new random order, the loss of ` +
    `the Bayes-optimal predictor is ${nats(exact)} per sentence; that of the model is ${compared(model)}` +
    `${leak && leaking ? `; that of the leaking model is ${compared(leaking)}` : ""}. On average, no model that does ` +
    "not see the target can have a lower loss than the Bayes-optimal predictor.";
}
