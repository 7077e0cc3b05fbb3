// Formatting of counts, names and numbers in sentences.

import { clamp } from "./dom.js";

const format = new Intl.NumberFormat("en");

/** An integer with thousands separators: 1,200. */
export const number = (value) => format.format(value);

/** A count with its noun: 1 word, 1,200 words. */
export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/** “a”. */
export const quoted = (text) => `“${text}”`;

/** a, b and c. */
export const listed = (parts) =>
  (parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`);

/** “a”, “b” and “c”. */
export const listedInQuotes = (names) => listed(names.map(quoted));

/** With an initial capital. */
export const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** 1st, 2nd, 3rd, 4th, … */
export function ordinal(place) {
  const teen = place % 100 > 10 && place % 100 < 14;
  return `${number(place)}${(!teen && { 1: "st", 2: "nd", 3: "rd" }[place % 10]) || "th"}`;
}

/** 10 to a whole power: 10⁻⁵. */
export const powerOfTen = (power) =>
  `10${power < 0 ? "⁻" : ""}${[...String(Math.abs(power))].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}`;

/** A number with `digits` decimals and a typographic minus; no sign if it rounds to 0. */
export function decimal(value, digits = 2) {
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/** The same with a sign: +0.42, −1.30; none if it rounds to 0. */
export const signed = (value) => (value >= 0.005 ? `+${decimal(value)}` : decimal(value));

/** A number with at most `digits` significant digits and a typographic minus. */
export function short(value, digits = 3) {
  const size = Math.abs(value);
  const text = size >= 10 ** digits ? number(Math.round(size)) : String(Number(size.toPrecision(digits)));
  return value < 0 && size !== 0 ? `−${text}` : text;
}

/** A proportion as a whole percentage; 0 % only if exact. */
export const share = (part) => (part > 0 && part < 0.005 ? "< 1 %" : `${Math.round(100 * part)} %`);

/** A probability as a percentage: 97.0 %, 3.1 %, 0.002 %; 0 % and 100 % only if exact. */
export function percent(p) {
  if (p === 0 || p === 1) return `${100 * p} %`;
  if (p >= 0.9995) return "> 99.9 %";
  const digits = p >= 0.0995 ? 0 : clamp(1 - Math.floor(Math.log10(100 * p)), 1, 6);
  return p < 1e-7 ? "< 0.00001 %" : `${(100 * p).toFixed(p >= 0.9 ? 1 : digits)} %`;
}

/** A probability as a short percentage, at a resolution of 0.1 % and without line breaks. */
export const shortPercent = (p) => (p > 0 && p < 0.001 ? "< 0.1 %" : percent(p)).replaceAll(" ", "\u00a0");
