// Leaflet, which draws maps. It is not of this product: the hub serves it from the folder of the system's package.

import { h } from "../lib/dom.js";

/** By the path of its folder. */
const loading = new Map();

/** Adds a stylesheet. Resolves when the page has it. */
const addStyle = (href) => new Promise((resolve, reject) => {
  const link = h("link", { rel: "stylesheet", href, onload: resolve, onerror: reject });
  // The styles of the page come after it, and count.
  document.querySelector("link[rel=stylesheet]").before(link);
});

/** Loads Leaflet from the folder of a path, which ends with a slash. Rejects if it cannot be loaded. */
export function leaflet(folder) {
  if (!loading.has(folder)) {
    // It is no module, and makes a global name instead.
    const loaded = Promise.all([import(`${folder}leaflet.min.js`), addStyle(`${folder}leaflet.css`)])
      .then(() => globalThis.L);
    loading.set(folder, loaded);
    loaded.catch(() => loading.delete(folder));
  }
  return loading.get(folder);
}
