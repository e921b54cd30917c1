import { h } from "./dom.js";

/** Lets the browser save a file under a name. */
export function saveFile(content, name) {
  const href = URL.createObjectURL(content);
  h("a", { href, download: name }).click();
  // Some browsers read it only later.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
