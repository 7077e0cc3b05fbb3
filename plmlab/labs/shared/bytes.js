// Numbers that come from Python as bytes.

/** Bytes as Jupyter hands them over, or as a page of its own holds them, in base64. */
export function bytesOf(sent) {
  if (typeof sent === "string") return Uint8Array.from(atob(sent), (letter) => letter.charCodeAt(0)).buffer;
  return sent.buffer.slice(sent.byteOffset, sent.byteOffset + sent.byteLength);
}
