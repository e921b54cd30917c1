import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";

document.title = `${t("notFound.heading")} · ${t("product")}`;
fill(document.getElementById("main"), h("div", { class: "entrance" },
  h("div", { class: "brand" }, h("span", { class: "mark" }, icon("speaker")), t("product")),
  h("div", { class: "panel" }, h("h1", null, t("notFound.heading")), h("p", { class: "secondary" }, t("notFound.text")),
    h("a", { class: "button main", href: "/portal/send/" }, t("notFound.action")))));
