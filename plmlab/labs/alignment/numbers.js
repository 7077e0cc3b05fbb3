// The numbers of the Alignment Lab: attention weights as sent by Python, gold links recovered, layout of the chips.

import { bytesOf } from "../shared/bytes.js";
import { clamp } from "../shared/dom.js";

const [LEAST, PADDING] = [30, 16];
const [CLOSE, WIDE] = [5, 24];
const [NARROW, BROAD] = [14, 30];

/** The attention weights of a translation: `row(step)` for one step, `at(step, position)` for one weight. */
export function looksOf({ tokens, weights }, columns) {
  const all = new Float32Array(bytesOf(weights));
  return {
    steps: tokens.length, columns, at: (step, position) => all[step * columns + position],
    row: (step) => all.subarray(step * columns, (step + 1) * columns),
  };
}

/** The argmax of a row; the first in case of ties. */
export const heaviest = (row) => row.reduce((best, weight, position) => (weight > row[best] ? position : best), 0);

/** The number of gold links, [[step, position], …], that have the largest weight of their step; with a `shift` of 1, of the
    next row, as if each row were labelled by its input word. */
export const onPartner = (looks, partners, shift = 0) => partners.filter(([step, position]) =>
  step + shift < looks.steps && heaviest(looks.row(step + shift)) === position).length;

/** The row labels of the matrix: the generated words, or the decoder's input words. */
export const rowNames = (tokens, labelled) => (labelled === "read" ? ["[START]", ...tokens.slice(0, -1)] : tokens);

/** The differences between two aligned translations: the steps of the first that are `lost`, those of the second that
    are `fresh`, the number of changed pairs (`count`), and the `first` of them. */
export function changesOf({ changes, before, now }) {
  const moved = changes.filter(([i, j]) => i === null || j === null || before.tokens[i] !== now.tokens[j]);
  const steps = (side) => new Set(moved.map((pair) => pair[side]).filter((step) => step !== null));
  return { count: moved.length, first: moved[0] ?? null, lost: steps(0), fresh: steps(1) };
}

/** The layout of two rows of chips from the widths of their words in px: upright if both fit into the room, otherwise
    turned and packed, as `tall` as their longest word. Each row is [{ x, width }]; the shorter one is centred. */
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
export const holdAt = (moved, step) => moved.find((one) => one.step === step);

/** The interventions after moving the attention of a step to a position; if it is there already, it is released. */
export function movedWith(moved, step, position, share) {
  const known = holdAt(moved, step);
  const others = moved.filter((one) => one !== known);
  return known?.position === position ? others : [...others, { step, position, share }];
}

/** The masked positions after one was toggled. */
export const switched = (masked, position) =>
  (masked.includes(position) ? masked.filter((one) => one !== position) : [...masked, position].sort((a, b) => a - b));

/** The initial cell: the gold link of a correct word with the largest distance; without any, the first step's largest
    weight. */
export function firstCell(looks, { partners, positions }) {
  const far = ([step, position]) => Math.abs(step - position);
  const right = partners.filter(([step]) => positions[step] !== null);
  const [row, column] = right.reduce((best, pair) => (best && far(best) >= far(pair) ? best : pair), null)
    ?? [0, heaviest(looks.row(0))];
  return { row, column };
}
