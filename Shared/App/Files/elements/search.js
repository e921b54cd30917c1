import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { hasAll, wordsOf } from "../lib/text.js";

/** A round button of a page's head. `label` is its tooltip, too. */
export const roundButton = (sign, label, onclick) =>
  h("button", { class: "round", type: "button", title: label, "aria-label": label, onclick }, sign);

/**
 * A `button` that shows a search field, the `input`. Its `label` says where it searches. `onchange` gets the words as
 * they are typed; `close()` empties and hides the field.
 */
export function search({ label, onchange }) {
  const input = h("input", {
    type: "search", dir: "auto", hidden: true, autocomplete: "off", oninput: () => onchange(input.value),
    onkeydown: (event) => { if (event.key === "Escape") toggle(); },
  });
  const button = roundButton(icon("search"), label, () => toggle());
  const show = (isShown) => {
    input.hidden = !isShown;
    button.setAttribute("aria-expanded", String(isShown));
    if (!isShown) input.value = "";
    onchange(input.value);
  };
  const toggle = () => {
    show(input.hidden);
    (input.hidden ? button : input).focus();
  };
  const find = { button, input, close: () => { if (!input.hidden) show(false); } };
  Object.defineProperty(find, "label", {
    set: (text) => {
      if (button.title === text && input.placeholder === text) return;
      button.title = button.ariaLabel = input.placeholder = input.ariaLabel = text;
    },
  });
  find.label = label;
  button.setAttribute("aria-expanded", "false");
  return find;
}

/** Whether a text has all words of a query. */
export const matches = (text, query) => hasAll(wordsOf(query), text);
