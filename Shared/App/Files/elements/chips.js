import { h } from "../lib/dom.js";
import { place } from "../lib/place.js";

/** The space beside the chosen chip, in pixels. */
const margin = 16;

/** Chips of which one is chosen. `show(names, chosen)` sets them: `{value, label}`. */
export function chips({ label, onchange }) {
  const buttons = new Map();
  let shown = null;
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
    if (chosen !== shown) reveal(buttons.get(shown = chosen));
  };

  function reveal(button) {
    const [all, one] = [element, button].map((each) => each.getBoundingClientRect());
    element.scrollBy(Math.min(0, one.left - all.left - margin) || Math.max(0, one.right - all.right + margin), 0);
  }
  return element;
}
