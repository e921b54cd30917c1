import { post } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { showForm } from "../elements/dialogs.js";
import { field, refusal } from "../elements/field.js";
import { radioGroup } from "../elements/radio-group.js";
import { toast } from "../elements/toast.js";
import { newPasswordField } from "./password-field.js";

/** The choice of a role, with what each one may do. */
export const roleChoice = (value, isOff = false) => radioGroup({
  label: t("people.role"), value, isOff,
  options: ["communicator", "super_user"].map((role) => ({ value: role, label: t(`role.${role}`), hint: t(`people.role.${role}`) })),
});

/** The field for a person's identifier at the university's provider. */
export const universityField = (value = "") =>
  field({ label: t("people.oidc"), hint: t("people.oidc.hint"), value, attributes: { dir: "ltr", spellcheck: false, autocapitalize: "none" } });

/** Asks for a new account, and adds it. Returns it, or `null`. `hasProvider`: people can sign in at the university. */
export function addAccount(hasProvider) {
  const name = field({ label: t("people.name"), hint: t("people.name.hint"), attributes: { dir: "ltr", spellcheck: false, autocapitalize: "none", autofocus: true } });
  const password = newPasswordField();
  const role = roleChoice("communicator");
  const university = hasProvider ? universityField() : null;
  if (hasProvider) password.hint(t("people.password.orUniversity"));
  return showForm({
    heading: t("people.add.heading"), fields: [name, password, role, university, h("p", { class: "hint" }, t("people.add.tell"))], action: t("people.add.action"),
    submit: async () => {
      const account = name.value.trim();
      const oidc = university?.value.trim();
      if (!/^(?!\.{1,2}$)[A-Za-z0-9._@-]{1,64}$/.test(account)) throw refusal(name, t(account ? "people.name.wrong" : "field.missing"));
      if (!oidc || password.value) password.check();
      try {
        const added = await post("/account", { account, role: role.value, ...(password.value ? { password: password.value } : {}), ...(oidc ? { oidc } : {}) });
        toast(t("people.added", { name: account }));
        return added;
      } catch (error) {
        if (error.status === 409 && error.field === "account") throw refusal(name, t("people.name.taken"));
        if (error.status === 400 && error.field === "password") throw refusal(password, t("people.password.rule"));
        if (university && error.field === "oidc") throw refusal(university, t("people.oidc.taken"));
        throw error;
      }
    },
  });
}
