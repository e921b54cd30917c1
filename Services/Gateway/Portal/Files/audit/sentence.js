import { h } from "../lib/dom.js";
import { hasText, t, tn } from "../lib/text.js";
import { memberOf, nameOf } from "./names.js";

const differs = (a, b) => JSON.stringify(a) !== JSON.stringify(b);

/** The names of the fields that an entry has changed. */
export function changedFields({ before, after }) {
  if (!before || !after) return [];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) =>
    differs(before[name], after[name]));
}

/** A closer word for a change than its action, such as "rename" for an update that only changes the name. */
function variantOf(entry) {
  const { action, before, after } = entry;
  // Requiring a second factor changes its state as well.
  const fields = changedFields(entry).filter((field, index, all) => field !== "second_factor" || all.length === 1);
  if (action === "class_member.update" && after?.role === "ta") {
    // Who has a key for teaching assistants becomes one by it.
    return entry.actor === memberOf(entry.object.id) ? "key" : "ta";
  }
  if (action.endsWith(".update") && fields.length === 1) {
    const [field] = fields;
    if (field === "name") return "rename";
    if (field === "disabled") return after.disabled ? "disable" : "enable";
    if (field === "role") return after.role;
    if (field === "closed") return after.closed ? "close" : "open";
    if (field === "display_name") return "display_name";
    if (field === "professor") return after.professor ? "professor" : "no_professor";
    if (field === "second_factor_required") return after.second_factor_required ? "require" : "release";
  }
  if (action === "access.set") return after?.access?.length ? "some" : "all";
  if (action === "approval.set") return after?.approval ? "on" : "off";
  if (action === "account.password" && entry.actor === entry.object.id) return "own";
  if (action === "token.remove" && before?.operator) return "operator";
  if (action.startsWith("access_code.")) return (after ?? before)?.grants ?? "";
  if (action === "device.end") return before?.device === "all" ? "all" : "";
  return "";
}

/** Who has made a change, in words. */
export function actorOf(actor) {
  if (!actor) return t("audit.actor.hub");
  return actor.startsWith("cli:") ? t("audit.actor.command", { name: actor.slice(4) }) : actor;
}

/** An entry as a sentence: "ann renamed the area Weather to Climate". A list for `h`. */
export function sentenceOf(entry) {
  const variant = variantOf(entry);
  const keys = [variant && `audit.did.${entry.action}.${variant}`, `audit.did.${entry.action}`, "audit.did.other"];
  const name = nameOf(entry);
  const text = (value) => h("bdi", { class: "named" }, value);
  return tn(keys.find((key) => key && hasText(key)), {
    actor: h("bdi", { class: "actor" }, actorOf(entry.actor)), name: text(name), action: h("code", null, entry.action),
    old: text(entry.before?.name ?? ""),
    account: text((entry.after ?? entry.before)?.account ?? ""),
  });
}

/** The name of an action, for the list of filters. */
export const actionName = (action) => (hasText(`audit.action.${action}`) ? t(`audit.action.${action}`) : action);
