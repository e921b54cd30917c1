import { h } from "../lib/dom.js";

/** A picture of this device. The browser forgets its address once it is shown. `alt` is what readers hear of it. */
export function shownBlob(blob, alt, properties) {
  const address = URL.createObjectURL(blob);
  const forget = () => URL.revokeObjectURL(address);
  return h("img", { alt, ...properties, onload: forget, onerror: forget, src: address });
}
