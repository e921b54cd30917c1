import { explain, post, put, remove } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { t, tn } from "../lib/text.js";
import { confirmAction, showForm } from "../elements/dialogs.js";
import { refusal } from "../elements/field.js";
import { toast } from "../elements/toast.js";
import { showInvitation } from "./invitation.js";
import { newPasswordField } from "./password-field.js";

export const pathOf = (name) => `/account/${encodeURIComponent(name)}`;

/** What went wrong with a change of an account, in words. */
export const explainChange = (error) => (error.status === 409 && error.message.includes("last super user")
  ? t("people.lastSuperUser") : explain(error));

/** What follows from an action, one sentence each. */
export const consequences = (texts) => h("ul", { class: "consequences" }, texts.filter(Boolean)
  .map((text) => h("li", null, text)));
const strong = (name) => h("bdi", null, name);

/**
 * Disables an account or lets it sign in again, and offers to undo it. Tokens do not come back, so that is asked
 * before.
 */
export async function setDisabled({ account: name }, disabled, { tokens, changed }) {
  const count = tokens();
  if (disabled && count && !(await confirmAction({
    heading: t("people.disable.heading", { name }),
    content: [h("p", null, t("people.disable.text")), h("p", null, t("people.disable.tokens", { count }))],
    action: t("people.disable"), isDanger: true,
  }))) return;
  try {
    changed(await put(pathOf(name), { disabled }), { endsTokens: disabled });
    toast(t(disabled ? "people.disable.done" : "people.enable.done", { name }),
      disabled ? { action: { label: t("undo"), run: () => setDisabled({ account: name }, false, { tokens, changed }) } }
        : {});
  } catch (error) {
    toast(explainChange(error));
  }
}

/** Makes a link with which somebody sets a new password, and shows it. */
export async function invite({ account: name }, { changed }) {
  try {
    const account = await post(`${pathOf(name)}/invitation`);
    changed({ ...account, invitation: { expires: account.invitation.expires } });
    await showInvitation(account);
  } catch (error) {
    toast(explain(error));
  }
}

/** Gives an account another password. */
export async function setPassword({ account: name, role }, { tokens, changed }) {
  const password = newPasswordField();
  const changedAccount = await showForm({
    heading: t("people.newPassword.heading", { name }),
    intro: role === "student" ? t("people.newPassword.student") : t("people.newPassword.intro", { count: tokens() }),
    fields: [password], action: t("people.newPassword.action"),
    submit: async () => {
      password.check();
      try {
        return await put(`${pathOf(name)}/password`, { password: password.value });
      } catch (error) {
        if (error.status === 400 && error.field === "password") throw refusal(password, t("people.password.rule"));
        throw error;
      }
    },
  });
  if (!changedAccount) return;
  changed(changedAccount, { endsTokens: true });
  toast(t("people.newPassword.done", { name }));
}

/** Removes the second factor of somebody who has lost the phone. */
export async function removeFactor({ account: name, second_factor_required: isRequired }, { changed }) {
  if (!(await confirmAction({
    heading: t("people.removeFactor.heading", { name }),
    content: h("p", null, t(isRequired ? "people.removeFactor.required" : "people.removeFactor.text")),
    action: t("people.removeFactor.action"), isDanger: true,
  }))) return;
  try {
    changed(await remove(`${pathOf(name)}/second-factor`));
    toast(t("people.removeFactor.done", { name }));
  } catch (error) {
    toast(explain(error));
  }
}

/** Deletes an account, after a question that says what that means. */
export async function removeAccount({ account: name }, { tokens, removed }) {
  const count = tokens();
  const isRemoved = await showForm({
    heading: t("people.delete.heading", { name }), isDanger: true, action: t("people.delete.action"),
    fields: consequences([t("people.delete.signIns"), count ? t("people.delete.tokens", { count }) : null,
        t("people.delete.stays"), h("span", null, tn("people.delete.name", { name: strong(name) }))]),
    submit: async () => {
      try {
        await remove(pathOf(name));
      } catch (error) {
        if (error.kind !== "not-found") throw error.status === 409 ? new Error(explainChange(error)) : error;
      }
      return true;
    },
  });
  if (!isRemoved) return;
  removed(name);
  toast(t("people.delete.done", { name }));
}
