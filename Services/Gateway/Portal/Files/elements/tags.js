import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";

/** The tag of a distribution: Alert has a triangle and the word. */
export const distributionTag = (distribution) =>
  distribution === "Alert"
    ? h("span", { class: "tag alert" }, icon("alert", "small"), t("distribution.Alert"))
    : h("span", { class: "tag" }, t("distribution.Information"));

/** The tag of a subject's level, or `null` for subjects that students choose. */
export const levelTag = (level) => (level ? h("span", { class: "tag" }, t(`level.${level}`)) : null);

/** The path of a subject: Campus › Weather › Storms. `names` are texts; the last one is the strongest. */
export const pathOf = (names) =>
  h("span", { class: "path" }, names.flatMap((name, index) => [
    index ? h("span", { class: "path-separator", "aria-hidden": "true" }, " › ") : null,
    index ? h("span", { class: "unseen" }, t("path.in")) : null,
    h("bdi", index === names.length - 1 ? { class: "path-end" } : null, name),
  ]));
