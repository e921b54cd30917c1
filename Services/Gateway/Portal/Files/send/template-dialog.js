import { fill, h } from "../lib/dom.js";
import { piecesOf } from "../lib/template.js";
import { hasAll, t, wordsOf } from "../lib/text.js";
import { showDialog } from "../elements/dialogs.js";
import { urgentTag } from "./template-part.js";

/** Lets somebody choose a template; the urgent ones come first. Returns it or `null`. */
export function chooseTemplate(templates) {
  return showDialog((close) => {
    const list = h("ul", { class: "plain group template-list" });
    const show = (query) => {
      const words = wordsOf(query);
      const found = templates.filter((template) => hasAll(words, `${template.name} ${template.title}`));
      fill(list, found.map((template) => h("li", null, h("button", { type: "button", onclick: () => close(template) },
        h("span", { class: "name" }, h("bdi", null, template.name), template.urgent ? urgentTag() : null),
        h("span", { class: "hint", dir: "auto" }, piecesOf(template.title)
          .map((piece) => (piece.blank ? h("mark", null, piece.blank) : piece.text)))))));
      if (!found.length) {
        fill(list, h("li", { class: "note" }, t(templates.length ? "send.template.none" : "send.template.empty")));
      }
    };
    show("");
    return h("div", { class: "stack" }, h("h2", null, t("send.template.heading")),
      h("input", { type: "search", dir: "auto", "aria-label": t("send.template.search"),
          placeholder: t("send.template.search"), autofocus: true, oninput: (event) => show(event.target.value) }),
      list,
      h("div", { class: "actions" }, h("a", { class: "button plain", href: "/portal/templates/" },
          t("send.template.edit")),
        h("button", { class: "button", type: "button", onclick: () => close(null) }, t("cancel"))));
  });
}
