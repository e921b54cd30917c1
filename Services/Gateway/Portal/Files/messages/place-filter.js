import { append, fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { placeSearch } from "../elements/place-search.js";
import { pathOf } from "../elements/tags.js";

const kinds = ["subject", "area", "channel"];
const ownID = ({ id }) => id.split("-").at(-1);

/**
 * The search for the channel, area or subject whose messages are shown. `choose` gets `{channel, area, subject}`, of
 * which at most one is not empty. The element has `show(filters)`, `places`, which are those of the cube, and `place`,
 * the one that is chosen or `null`.
 */
export function placeFilter(choose) {
  /** `null` as long as the cube could not be read. */
  let places = null;
  let filters = {};
  let shown = "";
  const choosePlace = (place) =>
    choose({ channel: "", area: "", subject: "", ...(place ? { [place.kind]: ownID(place) } : {}) });
  const search = placeSearch({
    label: t("messages.place"), find: () => places?.values() ?? [], choose: choosePlace,
    typed: () => (control.value === shown ? "" : control.value),
    attributes: { placeholder: t("messages.everywhere"), onfocus: () => control.select() },
  });
  const { control } = search;
  search.field.querySelector("label").className = "unseen";
  const clear = h("button", { class: "button plain bare", type: "button", "aria-label": t("messages.place.clear"),
      title: t("messages.place.clear"), onclick: () => { choosePlace(null); control.focus(); } },
    icon("cross", "small"));
  // A field cuts the end of a long text, and the last name is what matters.
  const view = h("div", { class: "place-view", "aria-hidden": "true" });
  const element = append(h("div", { class: "place" }), search, view, clear);
  // An emptied field means everywhere; what was typed and not chosen is no place.
  control.addEventListener("change", () => { if (!control.value.trim() && shown) choosePlace(null); });
  control.addEventListener("blur", () => element.show());

  function chosen() {
    const kind = kinds.find((name) => filters[name]);
    if (!kind) return null;
    const place = [...(places?.values() ?? [])].find((each) => each.kind === kind && ownID(each) === filters[kind]);
    // A place that was deleted still has messages.
    const name = t(places ? "messages.deletedPlace" : `place.kind.${kind}`);
    return place ?? { names: [name], short: [name] };
  }

  element.show = (given = filters) => {
    filters = given;
    const place = chosen();
    shown = place?.short.join(" › ") ?? "";
    search.field.value = shown;
    control.title = place?.names.join(" › ") ?? "";
    fill(view, place ? pathOf(place.short, { isLine: true }) : null);
    clear.hidden = !place;
    element.classList.toggle("chosen", Boolean(place));
  };
  Object.defineProperty(element, "places", { set: (cube) => {
    places = cube;
    search.again();
    if (document.activeElement !== control) element.show();
  } });
  Object.defineProperty(element, "place", { get: chosen });
  return element;
}
