import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { placeSearch } from "../elements/place-search.js";
import { pathOf } from "../elements/tags.js";

/** Where a token works: nothing chosen means everywhere. The element has `value`, a list of ids or `undefined`. */
export function scopePicker(places) {
  const chosen = new Set();
  const chips = h("ul", { class: "plain chips", "aria-label": t("tokens.scope") });
  const meaning = h("p", { class: "hint", role: "status" });
  const search = placeSearch({
    label: t("tokens.scope"), attributes: { placeholder: t("place.search") },
    find: () => [...places.values()].filter(({ id }) => !chosen.has(id)),
    choose: ({ id }) => {
      chosen.add(id);
      search.field.value = "";
      show();
    },
  });

  function show() {
    chips.hidden = !chosen.size;
    meaning.textContent = t(chosen.size ? "tokens.scope.only" : "tokens.scope.everywhere");
    fill(chips, [...chosen].map((id, index) => h("li", { class: "chip" }, pathOf(places.get(id).names),
      h("button", { class: "chip-remove", type: "button",
          "aria-label": t("tokens.scope.remove", { name: places.get(id).names.join(" › ") }), onclick: () => {
        chosen.delete(id);
        show();
        (chips.children[Math.min(index, chosen.size - 1)]?.querySelector("button") ?? search.control).focus();
      } }, icon("cross", "small")))));
  }

  show();
  const element = h("div", { class: "scope-picker" }, search, chips, meaning);
  Object.defineProperty(element, "value", { get: () => (chosen.size ? [...chosen] : undefined) });
  return element;
}
