// The four terms of Transformer-XL's attention score (Dai et al. 2019, section 3.3), as all labs name them.

export const TERMS = [
  { key: "content", letter: "a", title: "content–content", product: "q·k" },
  { key: "content_position", letter: "b", title: "content–position", product: "q·WR" },
  { key: "global_content", letter: "c", title: "global content bias", product: "u·k" },
  { key: "global_position", letter: "d", title: "global position bias", product: "v·WR" },
];
