// Beside parts.js, since pages that show no pictures of people use those parts, and load none of what pictures need.

import { h } from "../lib/dom.js";
import { pathTo } from "../lib/route.js";
import { avatar } from "./avatar.js";

/** A person in a list, with a link to the page about them, and buttons behind it. */
export const personRow = (name, ...actions) => h("li", { class: "row person" }, avatar(name),
  h("a", { class: "row-text", href: pathTo({ tab: "people", page: "person", account: name }) }, h("bdi", null, name)),
  actions);
