import { put } from "../lib/api.js";
import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { session } from "../lib/session.js";
import { t, tn } from "../lib/text.js";
import { choice } from "../elements/field.js";
import { toast } from "../elements/toast.js";
import { explainChange, pathOf, removeAccount, removeFactor, setDisabled, setPassword } from "./actions.js";
import { roleChoice, universityField } from "./add.js";

/**
 * What can be changed of an account, under its row. `update` takes the account as it is after another change, and keeps what was
 * chosen here. `context` has `tokens()`, `changed`, `removed` and `leave`.
 */
export function accountEditor(account, context) {
  const name = account.account;
  const isMe = name === session.account;
  const role = roleChoice(account.role, isMe);
  const required = choice({ label: h("b", null, t("people.factorRequired")), hint: t("people.factorRequired.hint"), checked: account.second_factor_required });
  // Without a provider, an identifier at it cannot be stored.
  const university = context.hasProvider || account.oidc ? universityField(account.oidc) : null;
  const problem = h("p", { class: "below wrong", role: "alert" });
  const save = h("button", { class: "button main", type: "submit" }, t("save"));
  const more = h("ul", { class: "plain deeds" });

  const form = h("form", { class: "stack", noValidate: true, onsubmit: async (event) => {
    event.preventDefault();
    if (save.disabled) return;
    const wanted = { role: role.value, second_factor_required: required.querySelector("input").checked, ...(university ? { oidc: university.value.trim() } : {}) };
    // Only what was changed here: others may have changed the rest.
    const changes = Object.fromEntries(Object.entries(wanted).filter(([key, value]) => value !== (account[key] ?? "")));
    if (!Object.keys(changes).length) return context.leave();
    save.disabled = true;
    problem.textContent = "";
    try {
      context.changed(await put(pathOf(name), changes), { closes: true });
      toast(t("people.saved", { name }));
    } catch (error) {
      if (university && error.field === "oidc") {
        university.error(t("people.oidc.taken"));
        university.control.focus();
      } else {
        problem.textContent = explainChange(error);
      }
    } finally {
      save.disabled = false;
    }
  } }, role, isMe ? h("p", { class: "hint" }, t("people.self.role")) : null, required, university, problem,
  h("div", { class: "actions" }, save, h("button", { class: "button", type: "button", onclick: context.leave }, t("cancel"))));

  const deed = (text, label, iconName, run, isDanger = false) => h("li", null, h("p", { class: "secondary" }, text),
    h("button", { class: `button small ${isDanger ? "danger" : ""}`, type: "button", onclick: run }, icon(iconName, "small"), label));

  const element = h("section", { class: "account-editor", onkeydown: (event) => { if (event.key === "Escape" && !event.defaultPrevented) context.leave(); } },
    h("h2", { tabIndex: -1, class: "editor-heading" }, tn("people.editNamed", { name: h("bdi", null, name) })), form, more);
  element.setAttribute("aria-label", t("people.editNamed", { name }));

  element.update = (changed) => {
    const box = required.querySelector("input");
    if (role.value === account.role) role.value = changed.role;
    if (box.checked === account.second_factor_required) box.checked = changed.second_factor_required;
    if (university && university.value === (account.oidc ?? "")) university.value = changed.oidc ?? "";
    account = changed;
    fill(more, isMe
      ? h("li", null, h("p", { class: "secondary" }, t("people.self.rest")), h("a", { class: "button small", href: "/portal/account/" }, icon("account", "small"), t("nav.account")))
      : [
        deed(t("people.newPassword.text"), t("people.newPassword"), "key", () => setPassword(account, context)),
        account.second_factor === "set" ? deed(t("people.removeFactor.when"), t("people.removeFactor"), "phone", () => removeFactor(account, context)) : null,
        account.disabled
          ? deed(t("people.enable.text"), t("people.enable"), "check", () => setDisabled(account, false, context))
          : deed(t("people.disable.text"), t("people.disable"), "lock", () => setDisabled(account, true, context)),
        deed(t("people.delete.text"), t("people.delete"), "trash", () => removeAccount(account, context), true),
      ]);
  };
  element.update(account);
  return element;
}
