import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { pathOf } from "../elements/tags.js";

/** The subjects of a scope, all without one. */
export const subjectsIn = (scope, places) => [...places.values()].filter(({ kind, line }) =>
  kind === "subject" && (!scope || scope.some((part) => line.includes(part))));

/** A scope in words. */
export function scopeWords(scope, places) {
  if (!scope) return h("p", { class: "scope" }, t("tokens.everywhere"));
  return h("ul", { class: "plain scope" }, scope.map((id) => {
    const place = places.get(id);
    return h("li", null,
      place ? [pathOf(place.names), place.kind === "subject" ? null : h("span", { class: "hint" }, " ",
          t(`tokens.all.${place.kind}`))]
      : h("span", { class: "hint" }, icon("info", "small"), " ", t(places.size ? "tokens.gone" : "tokens.unknown")));
  }));
}
