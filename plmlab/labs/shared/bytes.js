// Binary data from Python.

/** An ArrayBuffer from what Jupyter sends (a DataView), or from the base64 text in an exported page. */
export function bytesOf(sent) {
  if (typeof sent === "string") return Uint8Array.from(atob(sent), (character) => character.charCodeAt(0)).buffer;
  return sent.buffer.slice(sent.byteOffset, sent.byteOffset + sent.byteLength);
}
