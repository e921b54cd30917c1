import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { isCovered, sendingKeys } from "./dialogs.js";

// What the forms beside a phone share: for messages and for broadcasts.

const line = 'input:not([type="checkbox"], [type="radio"])';

/**
 * A form that sends by Ctrl or ⌘ and Enter, from anywhere on its page but a link, which these keys open in a tab, and a
 * dialog. Enter alone never does: it moves on to the next text, and from the last one to the button that sends.
 */
export function sendByKeys(form, send) {
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || isSending(event) || event.isComposing || event.defaultPrevented ||
      !event.target.matches(line)) return;
    event.preventDefault();
    const fields = [...form.querySelectorAll(`${line}, textarea`)].filter((each) => each.checkVisibility());
    (fields[fields.indexOf(event.target) + 1] ?? form.querySelector(".button.main")).focus();
  });
  document.addEventListener("keydown", function follow(event) {
    if (!form.isConnected) document.removeEventListener("keydown", follow);
    else if (event.key === "Enter" && isSending(event) && !event.isComposing && !event.target.closest("a") &&
        !isCovered()) {
      event.preventDefault();
      // A plain button takes something away: these keys do nothing on it.
      if (!event.repeat && !event.target.closest(".button.plain")) send();
    }
  });
  return form;
}

const isSending = (event) => event.ctrlKey || event.metaKey;

/** The button that sends. Its type is not "submit", so that Enter in a field does not press it. */
export const sendButton = (send) =>
  h("button", { class: "button main", type: "button", ...sendingKeys, onclick: send });

/** On narrow screens, the button that shows the phone. */
export function previewButton(aside, label) {
  const button = h("button",
      { class: "button preview-button", type: "button", "aria-expanded": "false", onclick: () => {
    const isShown = aside.classList.toggle("shown");
    button.setAttribute("aria-expanded", String(isShown));
    if (isShown) aside.scrollIntoView({ block: "nearest" });
  } }, icon("phone", "small"), label);
  return button;
}
