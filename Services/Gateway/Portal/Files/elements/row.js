import { h, newIdentifier } from "../lib/dom.js";

/** A row with a label and a control at its end; `more` is below. */
export function row(label, control, more, hint) {
  control.id = newIdentifier("row");
  return h("div", { class: "row" },
    h("div", { class: "row-line" },
      h("label", { htmlFor: control.id }, label, hint ? h("span", { class: "hint" }, hint) : null), control), more);
}
