// What decides a pair of a mask, as Python counts it: the number of a rule, minus where it forbids, or this.

export const BY_HAND = 1000;
