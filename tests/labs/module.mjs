// The labs' files as Python joins them: one module a lab, its pure functions exported.
import { readFileSync } from "node:fs";

const read = (name) => readFileSync(new URL(`../../plmlab/labs/${name}`, import.meta.url), "utf8");

export function load(...names) {
  const text = ["shared/lab.js", ...names].map(read).join("\n");
  return import(`data:text/javascript;base64,${Buffer.from(text).toString("base64")}`);
}

export const fixtures = JSON.parse(readFileSync(new URL("fixtures.json", import.meta.url), "utf8"));
