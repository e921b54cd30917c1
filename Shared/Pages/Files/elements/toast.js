import { h } from "../lib/dom.js";

let region = null;

/** The region in which short messages of the page appear. It is there from the beginning, so that screen readers announce them. */
export function toastRegion() {
  region ??= h("div", { class: "toasts", role: "status", "aria-live": "polite" });
  return region;
}

/**
 * Shows a short message, such as "Storms was renamed." With `action` (`{label, run}`) it has a button, such as Undo, and stays
 * longer. Returns a function that removes it.
 */
export function toast(text, { action, seconds = action ? 10 : 5 } = {}) {
  const element = h("div", { class: "toast" }, h("span", null, text),
    action ? h("button", { class: "link-button", type: "button", onclick: () => { dismiss(); action.run(); } }, action.label) : null);
  const dismiss = () => element.remove();
  // It stays while somebody is about to use it.
  let timer = setTimeout(dismiss, seconds * 1_000);
  for (const type of ["pointerenter", "focusin"]) element.addEventListener(type, () => clearTimeout(timer));
  for (const type of ["pointerleave", "focusout"]) {
    element.addEventListener(type, () => { clearTimeout(timer); timer = setTimeout(dismiss, seconds * 1_000); });
  }
  toastRegion().append(element);
  return dismiss;
}
