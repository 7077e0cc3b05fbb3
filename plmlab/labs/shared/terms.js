// The four terms of a Transformer-XL's score, as all labs name them.

export const TERMS = [
  { key: "content", letter: "a", title: "content", product: "q·k" },
  { key: "content_position", letter: "b", title: "where this query looks", product: "q·WR" },
  { key: "global_content", letter: "c", title: "what all look at", product: "u·k" },
  { key: "global_position", letter: "d", title: "where all look", product: "v·WR" },
];
