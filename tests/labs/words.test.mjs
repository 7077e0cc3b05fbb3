import assert from "node:assert/strict";
import { test } from "node:test";
import * as words from "../../plmlab/labs/shared/words.js";

const each = (write, cases) => {
  for (const [value, said] of cases) assert.equal(write(value), said);
};

test("counts have their thousands apart, and one is one", () => {
  each(words.number, [[0, "0"], [999, "999"], [1200, "1,200"], [1234567, "1,234,567"]]);
  assert.deepEqual([0, 1, 2, 1200].map((count) => words.plural(count, "word")), ["0 words", "1 word", "2 words", "1,200 words"]);
  assert.deepEqual([1, 2].map((count) => words.plural(count, "hypothesis", "hypotheses")), ["1 hypothesis", "2 hypotheses"]);
});

test("places have the ending that is said", () => {
  each(words.ordinal, [[1, "1st"], [2, "2nd"], [3, "3rd"], [4, "4th"], [11, "11th"], [12, "12th"], [13, "13th"], [21, "21st"],
    [22, "22nd"], [112, "112th"], [1002, "1,002nd"]]);
});

test("lists end with an “and”", () => {
  each(words.listed, [[[], ""], [["a"], "a"], [["a", "b"], "a and b"], [["a", "b", "c"], "a, b and c"]]);
  each(words.listedInQuotes, [[[], ""], [["a"], "“a”"], [["a", "b", "c"], "“a”, “b” and “c”"]]);
  assert.equal(words.quoted("<b>"), "“<b>”");
  each(words.capital, [["the null document", "The null document"], ["éa", "Éa"]]);
});

test("numbers have a true minus, and nothing is minus nothing", () => {
  each(words.decimal, [[-0.934, "−0.93"], [0.996, "1.00"], [-0.001, "0.00"], [0, "0.00"], [31.5, "31.50"],
    [Infinity, "∞"], [-Infinity, "−∞"]]);
  assert.deepEqual([words.decimal(-1.2345, 3), words.decimal(-0.0001, 3), words.decimal(2, 0)], ["−1.234", "0.000", "2"]);
  each(words.signed, [[0.4, "+0.40"], [-1.25, "−1.25"], [0.004, "0.00"], [-0.004, "0.00"], [0, "0.00"], [0.005, "+0.01"]]);
  each(words.short, [[0, "0"], [-0, "0"], [0.94731, "0.947"], [-0.009188, "−0.00919"], [23.93, "23.9"], [-1, "−1"],
    [10000, "10,000"], [-1234.6, "−1,235"]]);
  assert.deepEqual([words.short(10000, 6), words.short(3.75, 2), words.short(4.04, 2), words.short(1234.4, 2)],
    ["10000", "3.8", "4", "1,234"]);
  each(words.powerOfTen, [[-12, "10⁻¹²"], [0, "10⁰"], [30, "10³⁰"]]);
});

test("a share and a probability are never rounded to what they are not", () => {
  each(words.share, [[0, "0 %"], [0.003, "< 1 %"], [0.006, "1 %"], [0.555, "56 %"], [1, "100 %"]]);
  each(words.percent, [[0, "0 %"], [1, "100 %"], [0.9999, "> 99.9 %"], [0.9995, "> 99.9 %"], [0.97, "97.0 %"], [0.5, "50 %"],
    [0.0667, "6.7 %"], [0.0099, "0.99 %"], [0.00012, "0.012 %"], [1e-9, "< 0.00001 %"]]);
  each(words.shortPercent, [[0, "0\u00a0%"], [0.0004, "<\u00a00.1\u00a0%"], [0.034, "3.4\u00a0%"], [0.55, "55\u00a0%"],
    [0.93, "93.0\u00a0%"], [0.9995, ">\u00a099.9\u00a0%"], [1, "100\u00a0%"]]);
});
