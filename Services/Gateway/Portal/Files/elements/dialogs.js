import { fill, h, newIdentifier } from "../lib/dom.js";
import { explain } from "../lib/api.js";
import { t } from "../lib/text.js";

export const isApple = /Mac|iP/.test(navigator.platform);
/** What a button says of the keys that press it from anywhere. */
export const sendingKeys = { "aria-keyshortcuts": "Control+Enter Meta+Enter",
  title: `${isApple ? "⌘" : "Ctrl"} + Enter` };

/** Whether a dialog or a menu is open over the page: the keys are for that. */
export const isCovered = () => Boolean(document.querySelector("dialog[open], :popover-open"));

/**
 * Shows a modal dialog and returns what `close` was called with, or `null` if it was dismissed.
 *
 * `make(close)` returns the content, which begins with a heading. The focus returns to where it was. `isFirm`: only its
 * buttons close it.
 */
export function showDialog(make, { label, isFirm = false } = {}) {
  return new Promise((resolve) => {
    let result = null;
    const before = document.activeElement;
    const dialog = h("dialog", { "aria-label": label });
    const close = (value) => {
      result = value;
      dialog.close();
    };
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (before?.isConnected) before.focus();
      resolve(result);
    });
    if (isFirm) {
      dialog.addEventListener("cancel", (event) => event.preventDefault());
      // Browsers let a second Escape close any dialog.
      dialog.addEventListener("keydown", (event) => { if (event.key === "Escape") event.preventDefault(); });
    }
    fill(dialog, make(close));
    const heading = dialog.querySelector("h2");
    if (heading && !label) {
      // A dialog may be over another one.
      heading.id = newIdentifier("dialog");
      dialog.setAttribute("aria-labelledby", heading.id);
    }
    document.body.append(dialog);
    dialog.showModal();
    (dialog.querySelector("[autofocus]") ?? dialog.querySelector("input, select, textarea, button"))?.focus();
  });
}

/**
 * Asks a question that names the thing. Returns whether it was confirmed. `content` may be texts or elements. The focus
 * begins at the action, or with `isCautious` at "Cancel", so that Enter pressed twice does nothing; Ctrl or ⌘ and Enter
 * confirms then.
 */
export async function confirmAction({ heading, content, action, isDanger = false, isCautious = false }) {
  return (await showDialog((close) =>
    h("div", { class: "stack", onkeydown: (event) => {
      if (!isCautious || event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      event.stopPropagation();
      if (!event.repeat) close(true);
    } }, h("h2", null, heading), h("div", { class: "stack secondary" }, content),
      h("div", { class: "actions" },
        h("button", { class: "button", type: "button", autofocus: isCautious, onclick: () => close(false) },
          t("cancel")),
        h("button", { class: `button ${isDanger ? "danger" : "main"}`, type: "button", autofocus: !isCautious,
            ...(isCautious ? sendingKeys : {}), onclick: () => close(true) }, action)))))
    === true;
}

/**
 * A dialog with a form. `fields` are elements, or a function that gets `close` and returns them; `submit` does the work
 * and returns the result of the dialog, or throws: then the error is shown and the dialog stays.
 */
export function showForm({ heading, intro, fields, action, submit, isDanger = false }) {
  return showDialog((close) => {
    const problem = h("p", { class: "below wrong", role: "alert" });
    const button = h("button", { class: `button ${isDanger ? "danger" : "main"}`, type: "submit" }, action);
    return h("form", {
      noValidate: true,
      onsubmit: async (event) => {
        event.preventDefault();
        if (button.disabled) return;
        button.disabled = true;
        problem.textContent = "";
        try {
          close(await submit(event.target));
        } catch (error) {
          // What a field says already is not said twice.
          if (!error.isShown) problem.textContent = explain(error);
        } finally {
          button.disabled = false;
        }
      },
    }, h("h2", null, heading), intro ? h("p", { class: "secondary" }, intro) : null, typeof fields === "function"
      ? fields(close) : fields, problem,
    h("div", { class: "actions" },
      h("button", { class: "button", type: "button", onclick: () => close(null) }, t("cancel")), button));
  });
}
