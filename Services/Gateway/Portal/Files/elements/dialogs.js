import { fill, h, newIdentifier } from "../lib/dom.js";
import { explain } from "../lib/api.js";
import { t } from "../lib/text.js";

/**
 * Shows a modal dialog and returns what `close` was called with, or `null` if it was dismissed.
 *
 * `make(close)` returns the content, which begins with a heading. The focus returns to where it was.
 */
export function showDialog(make, { label } = {}) {
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

/** Asks a question that names the thing. Returns whether it was confirmed. `content` may be texts or elements. */
export async function confirmAction({ heading, content, action, isDanger = false }) {
  return (await showDialog((close) =>
    h("div", { class: "stack" }, h("h2", null, heading), h("div", { class: "stack secondary" }, content),
      h("div", { class: "actions" },
        h("button", { class: "button", type: "button", onclick: () => close(false) }, t("cancel")),
        h("button", { class: `button ${isDanger ? "danger" : "main"}`, type: "button", autofocus: true, onclick: () => close(true) }, action)))))
    === true;
}

/**
 * A dialog with a form. `fields` are elements, or a function that gets `close` and returns them; `submit` does the work and returns the result of the dialog, or throws: then the
 * error is shown and the dialog stays.
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
    }, h("h2", null, heading), intro ? h("p", { class: "secondary" }, intro) : null, typeof fields === "function" ? fields(close) : fields, problem,
    h("div", { class: "actions" },
      h("button", { class: "button", type: "button", onclick: () => close(null) }, t("cancel")), button));
  });
}
