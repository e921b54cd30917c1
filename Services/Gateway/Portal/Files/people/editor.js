import { put } from "../lib/api.js";
import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { session } from "../lib/session.js";
import { t, tn } from "../lib/text.js";
import { formatDate } from "../lib/time.js";
import { choice } from "../elements/field.js";
import { toast } from "../elements/toast.js";
import { explainChange, invite, pathOf, removeAccount, removeFactor, setDisabled, setPassword } from "./actions.js";
import { displayNameField, refusesDisplayName, roleChoice, roles, universityField } from "./add.js";
import { deviceList } from "./devices.js";
import { eraseAccount } from "./erase.js";

/** An account with what it does not say. */
const whole = (account) => ({ display_name: "", oidc: "", professor: false, ...account });

/**
 * What can be changed of an account, under its row. `update` takes the account as it is after another change, and keeps
 * what was chosen here. `context` has `tokens()`, `changed`, `removed` and `leave`.
 */
export function accountEditor(account, context) {
  const name = account.account;
  const isMe = name === session.account;
  const displayName = displayNameField(account.display_name);
  const role = roleChoice({ value: account.role, options: roles, isOff: isMe });
  const required = choice({ label: h("b", null, t("people.factorRequired")), hint: t("people.factorRequired.hint"),
      checked: account.second_factor_required });
  // Students set up no second factor.
  required.hidden = account.role === "student";
  const professor = choice({ label: h("b", null, t("people.professor")), hint: t("people.professor.hint"),
      checked: whole(account).professor });
  const devices = deviceList(name);
  // Without a provider, an identifier at it cannot be stored.
  const university = context.hasProvider || account.oidc ? universityField(account.oidc) : null;
  const problem = h("p", { class: "below wrong", role: "alert" });
  const save = h("button", { class: "button main", type: "submit" }, t("save"));
  const more = h("ul", { class: "plain deeds" });

  const form = h("form", { class: "stack", noValidate: true, onsubmit: async (event) => {
    event.preventDefault();
    if (save.disabled) return;
    if (displayName.isTooLong()) {
      displayName.error(t("field.tooLong", { max: 100 }));
      return displayName.control.focus();
    }
    const wanted = { display_name: displayName.value.trim(), role: role.value,
      second_factor_required: required.querySelector("input").checked,
      professor: professor.querySelector("input").checked,
      ...(university ? { oidc: university.value.trim() } : {}) };
    // Only what was changed here: others may have changed the rest.
    const known = whole(account);
    const changes = Object.fromEntries(Object.entries(wanted).filter(([key, value]) => value !== known[key]));
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
      } else if (!refusesDisplayName(displayName, error)) {
        problem.textContent = explainChange(error);
      }
    } finally {
      save.disabled = false;
    }
  } }, displayName, role, isMe ? h("p", { class: "hint" }, t("people.self.role")) : null, professor, required,
  university, problem,
  h("div", { class: "actions" }, save,
    h("button", { class: "button", type: "button", onclick: context.leave }, t("cancel"))));

  const deed = (text, label, iconName, run, isDanger = false) => h("li", null, h("p", { class: "secondary" }, text),
    h("button", { class: `button ${isDanger ? "danger" : ""}`, type: "button", name: iconName, onclick: run },
      icon(iconName, "small"), label));

  // These end devices.
  const setNewPassword = () => setPassword(account, context).then(devices.read);
  const switchOff = (disabled) => setDisabled(account, disabled, context).then(devices.read);

  const deedsOfStaff = () => [
    account.disabled ? null : deed(t(account.has_password ? "people.invite.text" : "people.invite.first"),
      t("people.invite"), "send", () => invite(account, context)),
    deed(t("people.newPassword.text"), t("people.newPassword"), "key", setNewPassword),
    account.second_factor === "set" ? deed(t("people.removeFactor.when"), t("people.removeFactor"), "phone",
      () => removeFactor(account, context)) : null,
    account.disabled ? deed(t("people.enable.text"), t("people.enable"), "check", () => switchOff(false))
      : deed(t("people.disable.text"), t("people.disable"), "lock", () => switchOff(true)),
    deed(t("people.delete.text"), t("people.delete"), "trash", () => removeAccount(account, context), true),
  ];

  const deedsOfStudent = () => [
    account.has_password
      ? deed(t("people.newPassword.student"), t("people.newPassword"), "key", setNewPassword) : null,
    account.disabled ? deed(t("people.enable.student"), t("people.enable"), "check", () => switchOff(false))
      : deed(t("people.disable.student"), t("people.disable"), "lock", () => switchOff(true)),
    deed(t("people.erase.text"), t("people.erase"), "trash", () => eraseAccount(account, context), true),
  ];

  const element = h("section",
    { class: "account-editor",
      onkeydown: (event) => { if (event.key === "Escape" && !event.defaultPrevented) context.leave(); } },
    h("div", { class: "editor-heading" },
      h("h2", { tabIndex: -1 }, tn("people.editNamed", { name: h("bdi", null, name) })),
      h("p", { class: "hint" }, t("people.since", { date: formatDate(account.created) }))), form, more, devices);
  element.setAttribute("aria-label", t("people.editNamed", { name }));

  element.update = (changed) => {
    const [before, after] = [account, changed].map(whole);
    const follow = (control, key, property = "value") => {
      if (control?.[property] === before[key]) control[property] = after[key];
    };
    follow(displayName, "display_name");
    follow(role, "role");
    follow(required.querySelector("input"), "second_factor_required", "checked");
    follow(professor.querySelector("input"), "professor", "checked");
    follow(university, "oidc");
    required.hidden = after.role === "student";
    // A dialog returns the focus to its button, which therefore stays if nothing has changed.
    const isSame = more.childElementCount && JSON.stringify(changed) === JSON.stringify(account);
    account = changed;
    if (isSame) return;
    const focused = more.contains(document.activeElement) ? document.activeElement.name : null;
    fill(more, isMe
      ? h("li", null, h("p", { class: "secondary" }, t("people.self.rest")),
          h("a", { class: "button small", href: "/portal/account/" }, icon("account", "small"), t("nav.account")))
      : account.role === "student" ? deedsOfStudent() : deedsOfStaff());
    if (focused) {
      (more.querySelector(`[name="${focused}"]`) ?? more.querySelector('[name="check"], [name="lock"]'))?.focus();
    }
  };
  element.update(account);
  devices.read();
  return element;
}
