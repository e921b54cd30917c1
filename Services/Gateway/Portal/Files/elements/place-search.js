import { fill, h, newIdentifier } from "../lib/dom.js";
import { hasAll, t, wordsOf } from "../lib/text.js";
import { field } from "./field.js";
import { pathOf } from "./tags.js";

const mostSuggestions = 20;

/**
 * A search field over channels, areas and subjects. It follows the combobox pattern of ARIA: the focus stays in the
 * field, and the arrows move in the list. `find()` returns the places that can be chosen (those of `placesOf`), and
 * `choose` gets one. `typed()` returns what is searched, unless that is all of the field. The element has the `field`,
 * its `control`, and `again()` for other places than before.
 */
export function placeSearch({ label, attributes = {}, find, choose, typed }) {
  let shown = [];
  let at = -1;
  const identifier = newIdentifier("places");
  const list = h("ul", { class: "plain place-options", id: identifier, role: "listbox",
      "aria-label": t("place.list"), hidden: true });
  const search = field({
    label, oninput: () => { at = -1; suggest(true); },
    attributes: { role: "combobox", "aria-controls": identifier, "aria-expanded": "false", "aria-autocomplete": "list",
      spellcheck: false, ...attributes },
  });
  const { control } = search;
  const written = typed ?? (() => search.value);

  function suggest(isWanted) {
    const words = wordsOf(written());
    const places = isWanted ? [...find()] : [];
    const fitting = places.filter(({ names }) => hasAll(words, names.join(" ")));
    // What has the words in its own name comes first.
    if (words.length) fitting.sort((a, b) => hasAll(words, b.names.at(-1)) - hasAll(words, a.names.at(-1)));
    shown = fitting.slice(0, mostSuggestions);
    const rest = fitting.length - shown.length;
    list.hidden = !shown.length;
    control.setAttribute("aria-expanded", String(!list.hidden));
    search.error(places.length && words.length && !shown.length ? t("place.none") : "");
    fill(list, shown.map((place, index) => h("li", {
      id: `${identifier}-${index}`, role: "option", "aria-selected": String(index === at), dataset: { id: place.id },
      // The field keeps the focus.
      onpointerdown: (event) => event.preventDefault(), onclick: () => take(place),
    }, pathOf(place.names), h("small", null, t(`place.kind.${place.kind}`)))),
    rest > 0 ? h("li", { class: "hint", role: "presentation" }, t("place.more", { count: rest })) : null);
    if (!list.hidden) (list.children[at] ?? list).scrollIntoView({ block: "nearest" });
    if (at >= 0) control.setAttribute("aria-activedescendant", `${identifier}-${at}`);
    else control.removeAttribute("aria-activedescendant");
  }

  function take(place) {
    at = -1;
    suggest(false);
    choose(place);
  }

  control.addEventListener("click", () => suggest(true));
  control.addEventListener("blur", () => suggest(false));
  control.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      event.stopPropagation();
      at = -1;
      suggest(false);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) suggest(true);
      else at = event.key === "ArrowDown"
        ? (at + 1) % shown.length : (Math.max(at, 0) + shown.length - 1) % shown.length;
      suggest(true);
    } else if (event.key === "Enter" && (shown.length || search.value.trim())) {
      event.preventDefault();
      if ((shown.length && written().trim()) || at >= 0) take(shown[Math.max(at, 0)]);
    }
  });
  const again = () => { if (document.activeElement === control && written().trim()) suggest(true); };
  return Object.assign(h("div", { class: "place-search" }, search, list), { field: search, control, again });
}
