import { append, h, newIdentifier } from "../lib/dom.js";
import { t } from "../lib/text.js";

// A dialog covers the phone's screen and nothing else: the controls of the simulation are no part of the app. So it is
// no <dialog>, which would cover the whole window.

/** Where dialogs appear: the last child of the screen. */
export const dialogPlace = h("div", { class: "dialogs" });
const open = [];

/** Makes the rest of the screen inert while a dialog is open, except live regions (elements with a role). */
function coverScreen() {
  for (const other of dialogPlace.parentElement.children) {
    other.inert = open.length > 0 && other !== dialogPlace && !other.role;
  }
}

/**
 * Shows a dialog of the app and returns what `close` was called with, or `null` if it was dismissed. `make(close)`
 * returns its content. The focus returns to where it was.
 */
export function showDialog({ heading, make, role = "dialog", kind = "" }) {
  return new Promise((resolve) => {
    const before = document.activeElement;
    const identifier = newIdentifier("dialog");
    const close = (value = null) => {
      open.splice(open.indexOf(close), 1);
      cover.remove();
      coverScreen();
      if (before?.isConnected) before.focus();
      resolve(value);
    };
    const dialog = append(h("div",
        { class: `dialog ${kind}`, role, "aria-modal": "true", "aria-labelledby": identifier }),
      h("h2", { id: identifier }, heading), make(close));
    const text = role === "alertdialog" && dialog.querySelector("p");
    if (text) {
      text.id = `${identifier}-text`;
      dialog.setAttribute("aria-describedby", text.id);
    }
    const cover = h("div", {
      class: "cover",
      onclick: (event) => { if (event.target === cover && role === "dialog") close(); },
      onkeydown: (event) => { if (event.key === "Escape") close(); },
    }, dialog);
    open.push(close);
    dialogPlace.append(cover);
    coverScreen();
    (dialog.querySelector("[autofocus]") ?? dialog.querySelector("input, button"))?.focus({ preventScroll: true });
  });
}

/** Dismisses all dialogs, as when the phone is locked. */
export function closeDialogs() {
  for (const close of [...open]) close();
}

/** The line of buttons at a dialog's end. */
export const dialogButtons = (close, main) =>
  h("div", { class: "dialog-buttons" },
    h("button", { class: "button", type: "button", onclick: () => close() }, t("cancel")), main);
