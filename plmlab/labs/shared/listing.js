// Several things in a sentence.

/** a, b and c. */
export const listed = (parts) =>
  (parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`);
