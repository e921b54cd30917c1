import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { pathOf } from "../elements/tags.js";

/** All channels, areas and subjects by their id in a scope: `{id, kind, names}`. */
export function placesOf(channels) {
  const places = new Map();
  const add = (id, kind, names) => places.set(id, { id, kind, names });
  for (const channel of channels) {
    add(channel._id, "channel", [channel.name]);
    for (const area of channel.areas) {
      add(`${channel._id}-${area.id}`, "area", [channel.name, area.name]);
      for (const subject of area.subjects) add(subject.topic_key, "subject", [channel.name, area.name, subject.name]);
    }
  }
  return places;
}

/** The subjects of a scope, all without one. */
export const subjectsIn = (scope, places) => [...places.values()].filter(({ id, kind }) =>
  kind === "subject" && (!scope || scope.some((part) => id === part || id.startsWith(`${part}-`))));

/** A scope in words. */
export function scopeWords(scope, places) {
  if (!scope) return h("p", { class: "scope" }, t("tokens.everywhere"));
  return h("ul", { class: "plain scope" }, scope.map((id) => {
    const place = places.get(id);
    return h("li", null, place ? [pathOf(place.names), place.kind === "subject" ? null : h("span", { class: "hint" }, " ", t(`tokens.all.${place.kind}`))]
      : h("span", { class: "hint" }, icon("info", "small"), " ", t(places.size ? "tokens.gone" : "tokens.unknown")));
  }));
}
