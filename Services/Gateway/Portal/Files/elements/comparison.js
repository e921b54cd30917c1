import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";

/**
 * Two versions beside each other: `[[label, text]]` each. What differs is marked, also in words. `level` is that of
 * their headings.
 */
export function comparison(theirs, mine, level = 3) {
  const side = (label, rows, others) => h("section", { class: "version", "aria-label": label },
    h(`h${level}`, null, label),
    h("dl", null, rows.map(([name, text], index) => {
      const differs = text !== others[index][1];
      return h("div", { class: differs ? "differs" : null },
        h("dt", null, name, differs ? h("span", { class: "tag busy" }, t("comparison.differs")) : null),
        h("dd", { dir: "auto" }, text || t("comparison.nothing")));
    })));
  return h("div", { class: "versions" }, side(t("comparison.theirs"), theirs, mine),
    side(t("comparison.mine"), mine, theirs));
}
