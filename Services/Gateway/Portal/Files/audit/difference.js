import { h } from "../lib/dom.js";
import { hasText, t } from "../lib/text.js";
import { formatExact } from "../lib/time.js";
import { namesOf } from "./names.js";

const times = new Set(["created", "closed", "expires", "last_used", "send_at", "last_sign_in", "invitation.expires"]);
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** The fields of a document, those of inner ones as "opt.level". */
function flat(document, prefix = "") {
  return Object.entries(document ?? {}).flatMap(([name, value]) =>
    (isObject(value) ? flat(value, `${prefix}${name}.`) : [[prefix + name, value]]));
}

const wordOf = (value) => namesOf(value)?.join(" › ") ??
  (hasText(`audit.value.${value}`) ? t(`audit.value.${value}`) : String(value));

function written(name, value) {
  if (value === undefined) return h("span", { class: "hint" }, "–");
  if (value === "" || (Array.isArray(value) && !value.length)) {
    return h("span", { class: "hint" }, t("audit.value.empty"));
  }
  if (times.has(name)) return formatExact(value);
  if (typeof value === "boolean") return t(value ? "audit.value.yes" : "audit.value.no");
  if (Array.isArray(value)) {
    return h("ul", { class: "plain" }, value.map((each) => h("li", null, h("bdi", null, wordOf(each)))));
  }
  return h("bdi", { class: name.startsWith("sha256") ? "code" : null }, wordOf(value));
}

/** What an entry has changed, as a table: before beside after. `null` if there is nothing to see. */
export function differenceOf({ before, after }) {
  if (!before && !after) return null;
  const [old, fresh] = [new Map(flat(before)), new Map(flat(after))];
  const isChange = before && after;
  const names = [...new Set([...old.keys(), ...fresh.keys()])].filter((name) =>
    !isChange || JSON.stringify(old.get(name)) !== JSON.stringify(fresh.get(name)));
  if (!names.length) return null;
  const column = (text) => h("th", { scope: "col" }, text);
  const label = (name) => (hasText(`audit.field.${name}`) ? t(`audit.field.${name}`) : name);
  const cell = (key, map, name, className) => h("td", { class: className, "data-label": t(key) },
    written(name, map.get(name)));
  return h("table", { class: "difference" },
    h("thead", null, h("tr", null, column(t("audit.field")), before ? column(t("audit.before")) : null,
        after ? column(t("audit.after")) : null)),
    h("tbody", null, names.map((name) => h("tr", null, h("th", { scope: "row" }, label(name)),
      before ? cell("audit.before", old, name, "old") : null,
      after ? cell("audit.after", fresh, name, isChange ? "new" : null) : null))));
}
