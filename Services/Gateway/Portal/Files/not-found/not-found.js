import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";

document.title = `${t("notFound.heading")} · ${t("product")}`;
fill(document.getElementById("main"), h("div", { class: "empty" }, icon("search"), h("h1", null, t("notFound.heading")), h("p", null, t("notFound.text")),
  h("a", { class: "button main", href: "/portal/send/" }, t("notFound.action"))));
