import { fill, h, newIdentifier } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { hasAll, t, wordsOf } from "../lib/text.js";
import { field } from "../elements/field.js";
import { pathOf } from "../elements/tags.js";

const mostSuggestions = 7;

/** Where a token works: nothing chosen means everywhere. The element has `value`, a list of ids or `undefined`. */
export function scopePicker(places) {
  const chosen = new Set();
  let at = -1;
  const identifier = newIdentifier("places");
  const found = h("ul", { class: "plain suggestions", id: identifier, role: "listbox", "aria-label": t("tokens.places"), hidden: true });
  const chips = h("ul", { class: "plain chips", "aria-label": t("tokens.scope") });
  const meaning = h("p", { class: "hint", role: "status" });
  const search = field({
    label: t("tokens.scope"), oninput: () => { at = -1; suggest(true); },
    attributes: { placeholder: t("tokens.scope.search"), role: "combobox", "aria-controls": identifier, "aria-expanded": "false", "aria-autocomplete": "list", spellcheck: false },
  });
  const { control } = search;

  function suggest(isShown) {
    const words = wordsOf(search.value);
    const fitting = [...places.values()].filter(({ id, names }) => !chosen.has(id) && hasAll(words, names.join(" ")));
    const isOpen = isShown && fitting.length > 0;
    found.hidden = !isOpen;
    control.setAttribute("aria-expanded", String(isOpen));
    search.error(isShown && search.value.trim() && !fitting.length ? t("tokens.scope.none") : "");
    fill(found, fitting.slice(0, mostSuggestions).map((place, index) => h("li", {
      id: `${identifier}-${index}`, role: "option", "aria-selected": String(index === at), dataset: { id: place.id },
      onpointerdown: (event) => { event.preventDefault(); add(place.id); },
    }, h("span", null, pathOf(place.names)), h("small", null, t(`tokens.kind.${place.kind}`)))));
    if (isOpen) found.scrollIntoView({ block: "nearest" });
    if (isOpen && at >= 0) control.setAttribute("aria-activedescendant", `${identifier}-${at}`);
    else control.removeAttribute("aria-activedescendant");
  }

  function add(id) {
    chosen.add(id);
    search.value = "";
    at = -1;
    show();
    suggest(false);
  }

  function show() {
    chips.hidden = !chosen.size;
    meaning.textContent = t(chosen.size ? "tokens.scope.only" : "tokens.scope.everywhere");
    fill(chips, [...chosen].map((id, index) => h("li", { class: "chip" }, pathOf(places.get(id).names),
      h("button", { class: "chip-remove", type: "button", "aria-label": t("tokens.scope.remove", { name: places.get(id).names.at(-1) }), onclick: () => {
        chosen.delete(id);
        show();
        (chips.children[Math.min(index, chosen.size - 1)]?.querySelector("button") ?? control).focus();
      } }, icon("cross", "small")))));
  }

  control.addEventListener("click", () => suggest(true));
  control.addEventListener("blur", () => suggest(false));
  control.addEventListener("keydown", (event) => {
    const count = found.hidden ? 0 : found.children.length;
    if (event.key === "Escape" && count) {
      event.preventDefault();
      event.stopPropagation();
      suggest(false);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (count) at = event.key === "ArrowDown" ? (at + 1) % count : (Math.max(at, 0) + count - 1) % count;
      suggest(true);
    } else if (event.key === "Enter" && (count || search.value.trim())) {
      event.preventDefault();
      if (count) add(found.children[Math.max(at, 0)].dataset.id);
    }
  });
  show();
  const element = h("div", { class: "scope-picker" }, h("div", { class: "name-entry" }, search, found), chips, meaning);
  Object.defineProperty(element, "value", { get: () => (chosen.size ? [...chosen] : undefined) });
  return element;
}
