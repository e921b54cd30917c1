import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";

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

/** A text as searches compare it: without case, marks above letters, and Arabic vowels. */
export const folded = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** Whether a text has all words of a query. */
export const matches = (text, query) => {
  const where = folded(text);
  return folded(query).split(/\s+/).every((word) => where.includes(word));
};
