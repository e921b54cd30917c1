import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";

/** Two versions beside each other: `[[label, text]]` each. What differs is marked, also in words. */
export function comparison(theirs, mine) {
  const side = (label, rows, others) => h("section", { class: "version", "aria-label": label }, h("h4", null, label),
    h("dl", null, rows.map(([name, text], index) => {
      const differs = text !== others[index][1];
      return h("div", { class: differs ? "differs" : null },
        h("dt", null, name, differs ? h("span", { class: "tag busy" }, t("cube.differs")) : null),
        h("dd", { dir: "auto" }, text || t("cube.nothing")));
    })));
  return h("div", { class: "versions" }, side(t("cube.theirs"), theirs, mine), side(t("cube.mine"), mine, theirs));
}
