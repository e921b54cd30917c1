import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { hasAll, wordsOf } from "../lib/text.js";

/** A round button of a page's head. Its word is its tooltip and its label. */
export const roundButton = (sign, label, onclick) => h("button", { class: "round", type: "button", title: label, "aria-label": label, onclick }, sign);

/** A button that shows a search field. Returns both; `onchange` gets the words as they are typed. */
export function search({ label, onchange }) {
  const input = h("input", {
    type: "search", placeholder: label, "aria-label": label, hidden: true, autocomplete: "off", oninput: () => onchange(input.value),
    onkeydown: (event) => { if (event.key === "Escape") toggle(); },
  });
  const button = roundButton(icon("search"), label, () => toggle());
  const toggle = (isShown = input.hidden) => {
    input.hidden = !isShown;
    button.setAttribute("aria-expanded", String(isShown));
    if (!isShown) input.value = "";
    onchange(input.value);
    (isShown ? input : button).focus();
  };
  button.setAttribute("aria-expanded", "false");
  return { button, input };
}

/** Whether a text has all words of a query. */
export const matches = (text, query) => hasAll(wordsOf(query), text);
