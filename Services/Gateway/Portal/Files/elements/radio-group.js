import { h, newIdentifier } from "../lib/dom.js";
import { choice } from "./field.js";

/**
 * A choice of one among `options`, `{value, label, hint}`, each explained where it is chosen. The element has `value`.
 */
export function radioGroup({ label, options, value, isOff = false, onchange }) {
  const name = newIdentifier("choice");
  const parts = options.map((option) =>
    choice({ ...option, label: h("b", null, option.label), type: "radio", name, checked: option.value === value,
        onchange }));
  const element = h("fieldset", { disabled: isOff }, h("legend", null, label), parts);
  Object.defineProperty(element, "value", {
    get: () => element.querySelector("input:checked")?.value,
    set: (wanted) => { for (const input of element.querySelectorAll("input")) input.checked = input.value === wanted; },
  });
  return element;
}
