import { fill, h, newIdentifier } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";

/**
 * A labelled control: label above, count at the end, hint below. An error takes the hint's place and is announced.
 *
 * `control` is an input, select or textarea, or made from `type`, `value`, `max` (characters) and `attributes`. The
 * element has `control`, `value`, `error(text)` and `hint(text)`.
 */
export function field({ label, hint = "", control, type = "text", value = "", max, attributes = {}, oninput }) {
  const identifier = newIdentifier("field");
  control ??= h(type === "textarea" ? "textarea" : "input", {
    ...(type === "textarea" ? {} : { type }), value, dir: "auto", autocomplete: "off", ...attributes,
  });
  control.id = identifier;
  const below = h("div", { class: "below", id: `${identifier}-below`, "aria-live": "polite" });
  const count = max ? h("span", { class: "count", dir: "ltr" }) : null;
  control.setAttribute("aria-describedby", below.id);
  const element = h("div", { class: "field" }, h("label", { htmlFor: identifier }, label), count, control, below);

  let currentHint = hint;
  const update = () => {
    if (!count) return;
    const length = [...control.value].length;
    count.textContent = t("count", { length, max });
    count.classList.toggle("over", length > max);
  };
  element.control = control;
  element.error = (text) => {
    control.toggleAttribute("aria-invalid", false);
    if (text) control.setAttribute("aria-invalid", "true");
    below.classList.toggle("wrong", Boolean(text));
    fill(below, text || currentHint);
  };
  element.hint = (text) => {
    currentHint = text;
    if (!below.classList.contains("wrong")) fill(below, text);
  };
  element.isTooLong = () => max !== undefined && [...control.value].length > max;
  Object.defineProperty(element, "value", {
    get: () => control.value,
    set: (text) => { control.value = text; update(); },
  });
  control.addEventListener("input", () => {
    update();
    element.error("");
    oninput?.(control.value);
  });
  update();
  element.error("");
  return element;
}

/** A field for a password, with a button that shows it until it is sent. The element has `see(isSeen)`. */
export function passwordField({ attributes, ...options }) {
  const element = field({ ...options, type: "password",
      attributes: { dir: "ltr", spellcheck: false, autocapitalize: "none", ...attributes } });
  const { control } = element;
  const reveal = h("button", { class: "button", type: "button", "aria-label": t("password.show.name"),
      onclick: () => element.see(control.type === "password") },
    icon("eye", "small"), t("password.show"));
  element.see = (isSeen) => {
    control.type = isSeen ? "text" : "password";
    reveal.setAttribute("aria-pressed", String(isSeen));
    // Browsers offer to keep only what is hidden.
    if (isSeen) control.form?.addEventListener("submit", () => element.see(false), { once: true, capture: true });
  };
  element.see(false);
  const row = h("div", { class: "control password-row" });
  control.before(row);
  row.append(control, reveal);
  return element;
}

/** Says at a field what is wrong, focuses it, and returns an error for `throw` that `showForm` does not show again. */
export function refusal(element, text) {
  element.error(text);
  element.control.focus();
  return Object.assign(new Error(text), { isShown: true });
}

/** A check box with its label and a hint. The element has `control`. */
export function choice({ label, hint, type = "checkbox", checked = false, name, value, onchange }) {
  const control = h("input", { type, checked, ...(name ? { name } : {}), ...(value === undefined ? {} : { value }),
      ...(onchange ? { onchange } : {}) });
  const element = h("label", { class: "choice" }, control,
    h("span", null, label, hint ? h("span", { class: "hint choice-hint" }, hint) : null));
  return element;
}
