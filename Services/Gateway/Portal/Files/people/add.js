import { post } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { showForm } from "../elements/dialogs.js";
import { field, refusal } from "../elements/field.js";
import { radioGroup } from "../elements/radio-group.js";
import { toast } from "../elements/toast.js";
import { showInvitation } from "./invitation.js";
import { newPasswordField } from "./password-field.js";

/** The roles that an account can be given. */
export const roles = ["communicator", "super_user", "student"];

/** The choice of a role, with what each one may do. */
export const roleChoice = ({ value, options, isOff = false, onchange }) => radioGroup({
  label: t("people.role"), value, isOff, onchange,
  options: options.map((role) => ({ value: role, label: t(`role.${role}`), hint: t(`people.role.${role}`) })),
});

/** The field for a person's identifier at the university's provider. */
export const universityField = (value = "") =>
  field({ label: t("people.oidc"), hint: t("people.oidc.hint"), value,
      attributes: { dir: "ltr", spellcheck: false, autocapitalize: "none" } });

/** The field for what people call a person. */
export const displayNameField = (value = "", hint = t("people.displayName.hint")) =>
  field({ label: t("people.displayName"), hint, value, max: 100, attributes: { autocomplete: "off" } });

/** Says at the field what is wrong with a display name. Returns whether the problem is about it. */
export function refusesDisplayName(displayName, error) {
  if (error.field !== "display_name") return false;
  displayName.error(t("people.displayName.wrong"));
  displayName.control.focus();
  return true;
}

/**
 * Asks for a new account, adds it, and shows its link if it is invited. Returns it, or `null`. `hasProvider`: people
 * can sign in at the university.
 */
export async function addAccount(hasProvider) {
  const displayName = displayNameField();
  displayName.control.autofocus = true;
  const name = field({ label: t("people.name"), hint: t("people.name.hint"),
      attributes: { dir: "ltr", spellcheck: false, autocapitalize: "none" } });
  // A student sets no password by a link.
  const role = roleChoice({ value: "communicator", options: roles, onchange: () => {
    const isStudent = role.value === "student";
    way.querySelector("label").hidden = isStudent;
    if (isStudent && way.value === "invitation") way.value = hasProvider ? "university" : "password";
    showWay();
  } });
  const password = newPasswordField();
  const university = universityField();
  const tell = h("p", { class: "hint" });
  const way = radioGroup({
    label: t("people.way"), value: "invitation",
    onchange: () => { showWay(); (university.hidden ? password : university).scrollIntoView({ block: "nearest" }); },
    options: ["invitation", "password", ...(hasProvider ? ["university"] : [])].map((value) =>
      ({ value, label: t(`people.way.${value}`), hint: t(`people.way.${value}.hint`) })),
  });
  const showWay = () => {
    password.hidden = tell.hidden = way.value !== "password";
    university.hidden = way.value !== "university";
    tell.textContent = t(role.value === "student" ? "people.add.tellStudent" : "people.add.tell");
  };
  showWay();
  const added = await showForm({
    heading: t("people.add.heading"), fields: [displayName, name, role, way, password, tell, university],
    action: t("people.add.action"),
    submit: async () => {
      const account = name.value.trim();
      if (displayName.isTooLong()) throw refusal(displayName, t("field.tooLong", { max: 100 }));
      if (!/^(?!\.{1,2}$)[A-Za-z0-9._@-]{1,64}$/.test(account)) {
        throw refusal(name, t(account ? "people.name.wrong" : "field.missing"));
      }
      const oidc = university.value.trim();
      if (way.value === "password") password.check();
      if (way.value === "university" && !oidc) throw refusal(university, t("field.missing"));
      const entrance = { invitation: { invite: true }, password: { password: password.value },
        university: { oidc } }[way.value];
      try {
        return await post("/account",
          { account, role: role.value, ...(displayName.value.trim() ? { display_name: displayName.value.trim() } : {}),
            ...entrance });
      } catch (error) {
        if (error.status === 409 && error.field === "account") throw refusal(name, t("people.name.taken"));
        if (error.status === 400 && error.field === "password") throw refusal(password, t("people.password.rule"));
        if (refusesDisplayName(displayName, error)) throw Object.assign(error, { isShown: true });
        if (error.field === "oidc") throw refusal(university, t("people.oidc.taken"));
        throw error;
      }
    },
  });
  if (added?.invitation) {
    await showInvitation(added);
    delete added.invitation.link_path;
  } else if (added) toast(t("people.added", { name: added.account }));
  return added;
}
