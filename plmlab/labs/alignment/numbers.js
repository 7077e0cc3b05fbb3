// The numbers of the Alignment Lab: weights as Python sends them, partners that are hit, and where chips stand.

import { bytesOf } from "../shared/bytes.js";
import { clamp } from "../shared/dom.js";

const [LEAST, PADDING] = [30, 16];
const [CLOSE, WIDE] = [5, 24];
const [NARROW, BROAD] = [14, 30];

/** The weights of a translation: those of a step, `row(step)`, or one, `at(step, position)`. */
export function looksOf({ tokens, weights }, columns) {
  const all = new Float32Array(bytesOf(weights));
  return {
    steps: tokens.length, columns, at: (step, position) => all[step * columns + position],
    row: (step) => all.subarray(step * columns, (step + 1) * columns),
  };
}

/** Where a row has most; of equals, the first. */
export const heaviest = (row) => row.reduce((best, weight, position) => (weight > row[best] ? position : best), 0);

/** How many partners, [[step, position], …], bear the heaviest weight of their step; with a `shift` of 1 the row after it
    is read, as by one who labels each row by the word that was read there. */
export const onPartner = (looks, partners, shift = 0) => partners.filter(([step, position]) =>
  step + shift < looks.steps && heaviest(looks.row(step + shift)) === position).length;

/** What the matrix calls its rows: the words written, or those that were read to write them. */
export const rowNames = (tokens, labelled) => (labelled === "read" ? ["[START]", ...tokens.slice(0, -1)] : tokens);

/** What differs between two translations whose steps stand in pairs: those of the first that are `lost`, those of the
    second that are `fresh`, how many words that is (`count`), and the `first` pair. */
export function changesOf({ changes, before, now }) {
  const moved = changes.filter(([i, j]) => i === null || j === null || before.tokens[i] !== now.tokens[j]);
  const steps = (side) => new Set(moved.map((pair) => pair[side]).filter((step) => step !== null));
  return { count: moved.length, first: moved[0] ?? null, lost: steps(0), fresh: steps(1) };
}

/** Where two rows of chips stand, from the widths of their words in px: upright while both fit in the room, else
    turned and close together, as `tall` as their longest word. [{ x, width }] a row; a shorter one stands in the middle
    of the longer. */
export function arranged(rows, room) {
  const own = rows.map((words) => words.map((width) => Math.max(Math.ceil(width) + PADDING, LEAST)));
  const taken = (widths, gap) => widths.reduce((sum, width) => sum + width, gap * (widths.length - 1));
  const turned = own.some((widths) => taken(widths, CLOSE) > room);
  const pitch = clamp(Math.floor(room / Math.max(...rows.map((words) => words.length))), NARROW, BROAD);
  const spare = Math.min(...own.map((widths) => (room - taken(widths, 0)) / Math.max(widths.length - 1, 1)));
  const gap = turned ? 0 : clamp(Math.floor(spare), CLOSE, WIDE);
  const placed = (turned ? rows.map((words) => words.map(() => pitch)) : own);
  const width = Math.max(...placed.map((widths) => taken(widths, gap)));
  const tall = rows.map((words) => Math.ceil(Math.max(...words)) + 12);
  return { turned, width, tall, rows: placed.map((widths) => {
    let x = (width - taken(widths, gap)) / 2;
    return widths.map((own) => {
      const place = { x, width: own };
      x += own + gap;
      return place;
    });
  }) };
}

/** The hold of a step, or undefined. */
export const holdAt = (held, step) => held.find((one) => one.step === step);

/** What is held after a look was put on a position; one that lay there already is released. */
export function heldWith(held, step, position, share) {
  const known = holdAt(held, step);
  const others = held.filter((one) => one !== known);
  return known?.position === position ? others : [...others, { step, position, share }];
}

/** The positions that are shut off after one was switched. */
export const switched = (shut, position) =>
  (shut.includes(position) ? shut.filter((one) => one !== position) : [...shut, position].sort((a, b) => a - b));

/** Where to begin: of partners whose word is right, the two that stand farthest apart; without any, the first step's
    heaviest link. */
export function firstCell(looks, { partners, positions }) {
  const far = ([step, position]) => Math.abs(step - position);
  const right = partners.filter(([step]) => positions[step] !== null);
  const [row, column] = right.reduce((best, pair) => (best && far(best) >= far(pair) ? best : pair), null)
    ?? [0, heaviest(looks.row(0))];
  return { row, column };
}
