import { h } from "../lib/dom.js";

const separator = () => h("span", { class: "path-separator" }, " › ");

/**
 * A subject with the places it is in: `names` from the outside in. Where there is one line, the places are cut and the
 * subject stays.
 */
export const subjectPath = (names) => h("span", { class: "path" },
  names.slice(0, -1).map((name) => [h("bdi", { class: "path-place" }, name), separator()]),
  h("bdi", { class: "path-subject" }, names.at(-1)));
