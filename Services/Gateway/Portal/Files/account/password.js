import { explain, get, post, put } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { session } from "../lib/session.js";
import { confirmPassword } from "../lib/sign-in.js";
import { t } from "../lib/text.js";
import { passwordField } from "../elements/field.js";
import { toast } from "../elements/toast.js";

const secret = (name, autocomplete, hint) =>
  passwordField({ label: t(`account.password.${name}`), hint, attributes: { autocomplete } });

/** The form that changes one's own password. */
export function passwordForm() {
  const current = secret("current", "current-password");
  const fresh = secret("new", "new-password", t("account.password.rule"));
  const again = secret("again", "new-password");
  const problem = h("p", { class: "below wrong", role: "alert" });
  const button = h("button", { class: "button", type: "submit" }, t("account.password.action"));

  const wrong = (element, text) => {
    element.error(text);
    element.control.focus();
  };
  return h("form", { class: "stack", noValidate: true, onsubmit: async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    problem.textContent = "";
    const { length } = [...fresh.value];
    if (!current.value) return wrong(current, t("field.missing"));
    if (length < 8 || length > 256) return wrong(fresh, t("account.password.length"));
    if (fresh.value !== again.value) return wrong(again, t("account.password.differs"));
    button.disabled = true;
    try {
      // It counts as the confirmation too. With a second factor, the dialog asks for both.
      if (session.second_factor !== "set") await confirmPassword(current.value);
      await put(`/account/${encodeURIComponent(session.account)}/password`,
        { password: fresh.value, current_password: current.value });
      await signInWith(fresh.value);
      for (const part of [current, fresh, again]) part.value = "";
      toast(t("account.password.done"));
    } catch (error) {
      if (error.field === "current_password" || (error.field === "password" && error.status === 401))
        wrong(current, t("account.password.wrong"));
      else if (error.field === "password") wrong(fresh, t("account.password.length"));
      else problem.textContent = explain(error);
    } finally {
      button.disabled = false;
    }
  } },
  // Password managers need to know whose password it is.
  h("input", { class: "unseen", type: "text", autocomplete: "username", value: session.account, readOnly: true,
      tabIndex: -1, "aria-hidden": "true" }),
  current, fresh, again, h("p", { class: "notice" }, icon("info"), h("span", null, t("account.password.ends"))),
  problem, h("div", { class: "actions" }, button));
}

/** A new password ends every sign-in, also this one: it is begun again, so that nobody has to. */
async function signInWith(password) {
  try {
    await post("/session", { account: session.account, password }, { remedy: false });
  } catch {
    // With a second factor, the dialog asks for everything.
    await get("/session");
  }
}
