import { fill, h } from "../lib/dom.js";

/** A choice of one among a few, `{value, label}`, beside each other. The element has `value`. */
export function segments({ label, options, value, onchange }) {
  const element = h("div", { class: "segments", role: "group", "aria-label": label });
  const buttons = options.map((option) =>
    h("button", { type: "button", dataset: { value: option.value }, onclick: () => onchange(option.value) },
      option.label));
  fill(element, buttons);
  Object.defineProperty(element, "value", {
    set: (wanted) => { for (const button of buttons) button.setAttribute("aria-pressed",
        String(button.dataset.value === String(wanted))); },
  });
  element.value = value;
  return element;
}
