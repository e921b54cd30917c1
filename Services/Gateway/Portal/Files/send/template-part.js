import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { piecesOf } from "../lib/template.js";
import { t } from "../lib/text.js";
import { field } from "../elements/field.js";

/** The tag of a template that goes out at once. */
export const urgentTag = () => h("span", { class: "tag" }, icon("clock", "small"), t("send.template.urgent"));

/**
 * The templates to choose from, or the blanks of the one in use. The element has `blanks`, their fields by name, and
 * `show()`. `use` is called with a chosen template, `write` to write its text by hand, `drop` to do without it, and
 * `changed` after each change of a value.
 */
export function templatePart({ draft, templates, use, write, drop, changed }) {
  const element = h("div", { class: "template-part" });
  element.blanks = {};

  async function choose() {
    const { chooseTemplate } = await import("./template-dialog.js");
    const template = await chooseTemplate(templates);
    if (template) use(template);
  }

  const inUse = () => h("section", { class: "panel used-template", "aria-label": t("send.template") },
    h("div", { class: "used-head" }, h("h2", null, icon("template"), h("bdi", null, draft.template.name),
        draft.template.urgent ? urgentTag() : null),
      h("div", { class: "actions" }, h("button", { class: "button small", type: "button", onclick: write },
          t("send.template.write")),
        h("button", { class: "button small plain", type: "button", onclick: drop }, t("send.template.drop")))),
    h("p", { class: "hint used-text", dir: "auto" }, piecesOf(draft.template.message)
      .map((piece) => (piece.blank ? h("mark", null, piece.blank) : piece.text))),
    Object.values(element.blanks).length ? Object.values(element.blanks) : h("p", { class: "secondary" },
      t("send.template.complete")));

  const choice = () => h("div", { class: "chips" }, h("span", { class: "hint" }, t("send.template.row")),
    templates.filter((template) => template.urgent).slice(0, 4).map((template) =>
      h("button", { class: "chip", type: "button", onclick: () => use(template) }, icon("template", "small"),
        h("bdi", null, template.name), urgentTag())),
    h("button", { class: "chip", type: "button", onclick: choose }, t("send.template.all")));

  element.show = () => {
    element.blanks = Object.fromEntries(Object.keys(draft.template ? draft.values : {}).map((name) => [name, field({
      label: name.replaceAll(/[_-]/g, " "), value: draft.values[name], attributes: { enterKeyHint: "next" },
      oninput: (value) => { draft.values[name] = value; changed(); },
    })]));
    fill(element, draft.template ? inUse() : choice());
  };
  return element;
}
