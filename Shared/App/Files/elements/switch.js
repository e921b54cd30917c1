import { h, newIdentifier } from "../lib/dom.js";

/**
 * A line with a switch at its end. A tap anywhere in the line switches. `onchange` is called with what is wanted. The
 * element has `checked` and `control`.
 */
export function switchRow({ label, hint, marks, checked = false, onchange }) {
  const identifier = newIdentifier("switch");
  const below = hint ? h("span", { class: "hint", id: `${identifier}-hint` }, h("bdi", null, hint)) : null;
  const control = h("button", {
    type: "button", class: "switch", role: "switch", "aria-labelledby": identifier, "aria-describedby": below?.id,
    onclick: () => onchange(control.getAttribute("aria-checked") !== "true"),
  });
  const tapped = ({ target }) => { if (!control.contains(target)) control.click(); };
  const element = h("div", { class: "row switched", onclick: tapped },
    h("span", { class: "row-text" }, h("span", { class: "row-label" }, h("bdi", { id: identifier }, label), marks),
      below), control);
  element.control = control;
  Object.defineProperty(element, "checked", { set: (wanted) => control.setAttribute("aria-checked", String(wanted)) });
  element.checked = checked;
  return element;
}
