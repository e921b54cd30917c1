import { h } from "../lib/dom.js";
import { place } from "../lib/place.js";

/** Chips of which one is chosen. `show(names, chosen)` sets them: `{value, label}`. */
export function chips({ label, onchange }) {
  const buttons = new Map();
  const element = h("div", { class: "chips scrolled", role: "group", "aria-label": label });
  element.show = (options, chosen) => {
    place(element, options.map((option) => {
      let button = buttons.get(option.value);
      if (!button) {
        button = h("button", { class: "chip", type: "button", onclick: () => onchange(option.value) }, h("bdi", null));
        buttons.set(option.value, button);
      }
      button.firstChild.textContent = option.label;
      button.setAttribute("aria-pressed", String(option.value === chosen));
      return button;
    }));
  };
  return element;
}
