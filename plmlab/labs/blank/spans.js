// The spans of a text and the order in which they are filled: adding and removing spans.

const overlap = ([begin, stop], [from, to]) => begin < to && from < stop;

/** The index of the span that contains a word, or −1. */
export const spanAt = (spans, place) => spans.findIndex(([begin, stop]) => begin <= place && place < stop);

/** The words from one place to another, whichever comes first, as [begin, end). */
export const range = (one, other) => [Math.min(one, other), Math.max(one, other) + 1];

/** Spans and order, restricted to the spans for which `keep(span)` is true. */
function kept({ spans, order }, keep) {
  const numbers = spans.map((_, number) => number).filter((number) => keep(spans[number]));
  return { spans: numbers.map((number) => spans[number]),
    order: order.filter((number) => numbers.includes(number)).map((number) => numbers.indexOf(number)) };
}

/** Spans and order with one more span, which is filled last and replaces those that it overlaps. */
export function marked(blanks, added) {
  const { spans, order } = kept(blanks, (span) => !overlap(span, added));
  const place = spans.filter(([begin]) => begin < added[0]).length;
  return { spans: [...spans.slice(0, place), added, ...spans.slice(place)],
    order: [...order.map((number) => number + (number >= place)), place] };
}

/** Spans and order without the span of that number. */
export const unmarked = (blanks, number) => kept(blanks, (span) => span !== blanks.spans[number]);

/** The blanks after the reader acts on the words from `anchor` to `place`: a single word in a span removes the span. */
export function acted(blanks, anchor, place) {
  const number = spanAt(blanks.spans, place);
  return anchor === place && number >= 0 ? unmarked(blanks, number) : marked(blanks, range(anchor, place));
}
