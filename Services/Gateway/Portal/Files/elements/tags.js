import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { folded, t } from "../lib/text.js";

/** The tag of a distribution: Alert has a triangle and the word. */
export const distributionTag = (distribution) =>
  distribution === "Alert"
    ? h("span", { class: "tag alert" }, icon("alert", "small"), t("distribution.Alert"))
    : h("span", { class: "tag" }, t("distribution.Information"));

/** The tag of a subject's level, or `null` for subjects that students choose. */
export const levelTag = (level) => (level ? h("span", { class: "tag" }, t(`level.${level}`)) : null);

/**
 * The path of a subject: Campus › Weather › Storms. `names` are texts; the last one is the strongest. With `isLine` it
 * stays in one line: then the last name stays, and the others give way.
 */
export const pathOf = (names, { isLine = false } = {}) =>
  h("span", isLine ? { class: "path line", title: names.join(" › ") } : { class: "path" },
      names.flatMap((name, index) => [
    index ? h("span", { class: "path-separator", "aria-hidden": "true" }, " › ") : null,
    index ? h("span", { class: "unseen" }, t("path.in")) : null,
    h("bdi", index === names.length - 1 ? { class: "path-end" } : null, name),
  ]));

/** For each of the paths of a cube, its shortest end that tells it from all others: Storms, or Weather › Storms. */
export function shortPaths(paths) {
  const counts = new Map();
  const ends = paths.map((path) => path.map((_, start) => folded(path.slice(start).join("\n"))));
  for (const end of ends.flat()) counts.set(end, (counts.get(end) ?? 0) + 1);
  return paths.map((path, index) => path.slice(Math.max(0, ends[index].findLastIndex((end) => counts.get(end) === 1))));
}
