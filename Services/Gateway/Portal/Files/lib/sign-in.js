import { h } from "./dom.js";
import { explain, get, post, put } from "./api.js";
import { hubNow } from "./clock.js";
import { readSession, session } from "./session.js";
import { keep } from "./store.js";
import { field, passwordField } from "../elements/field.js";
import { t } from "./text.js";

/**
 * The form with which one signs in: account, password, and a code if the account has a second factor. `account` is
 * fixed if it is given. Calls `done` with the session.
 */
export function signInForm({ account, done }) {
  const name = field({
    label: t("signIn.account"), value: account ?? "",
    attributes: { name: "username", autocomplete: "username", autocapitalize: "none", spellcheck: false,
      readOnly: Boolean(account), required: true, dir: "ltr" },
  });
  const password = passwordField({ label: t("signIn.password"),
      attributes: { name: "password", autocomplete: "current-password", required: true } });
  const code = codeField();
  code.hidden = true;
  const problem = h("p", { class: "below wrong", role: "alert" });
  const button = h("button", { class: "button main", type: "submit" }, t("signIn.action"));
  const university = universityLink({ label: t("signIn.university"), done: account ? done : null });

  return h("form", {
    class: "stack", noValidate: true,
    onsubmit: async (event) => {
      event.preventDefault();
      if (button.disabled) return;
      problem.textContent = "";
      for (const part of [name, password])
        if (!part.value) { part.error(t("field.missing")); part.control.focus(); return; }
      if (!code.hidden && !code.value) { code.error(t("field.missing")); code.control.focus(); return; }
      button.disabled = true;
      try {
        const body = { account: name.value.trim(), password: password.value,
          ...(code.hidden ? {} : { code: code.value.replaceAll(" ", "") }) };
        done(await post("/session", body, { remedy: false }));
      } catch (error) {
        if (error.field === "code") {
          const isFirst = code.hidden;
          code.hidden = false;
          code.error(isFirst ? "" : t("signIn.wrongCode"));
          code.control.focus();
        } else {
          problem.textContent = error.status === 401 ? t("signIn.wrong") : explain(error);
          password.control.select();
        }
      } finally {
        button.disabled = false;
      }
    },
  }, name, password, code, problem, h("div", { class: "stack" }, button, university));
}

/** A field for the code of a second factor. */
export const codeField = () =>
  field({ label: t("signIn.code"), hint: t("signIn.codeHint"),
      attributes: { name: "code", autocomplete: "one-time-code", dir: "ltr", spellcheck: false } });

/**
 * A link to the sign-in at the university, if there is one. With `done`, it is over a page whose text must not be lost:
 * it opens another tab, and `done` is called with the session when that has worked.
 */
export function universityLink({ label, done, confirms = false }) {
  const link = h("a", { class: "button", href: `/session/oidc${confirms ? "?confirm=true" : ""}`, hidden: true },
    label);
  offersProvider().then((offers) => { link.hidden = !offers; });
  if (!done) return link;
  link.target = "_blank";
  link.addEventListener("click", () => {
    const account = session.account;
    keep(elsewhere, Date.now());
    const end = () => { for (const [target, name] of returns) target.removeEventListener(name, look); };
    async function look(event) {
      if (!link.isConnected) return end();
      if (document.visibilityState !== "visible" && event.type !== "storage") return;
      const now = await readSession().catch(() => null);
      if (!now || now.second_factor === "pending" || (confirms && !(now.confirmed_until > hubNow())) ||
        !link.isConnected) return;
      end();
      // The page is that of another person.
      if (now.account !== account) location.reload();
      else done(now);
    }
    for (const [target, name] of returns) target.addEventListener(name, look);
  });
  return link;
}

// The other tab removes what is kept; without a storage, the return to this tab tells.
const returns = [[window, "storage"], [window, "focus"], [document, "visibilitychange"]];

/** Whether one can sign in at the university's provider. */
export async function offersProvider() {
  try {
    return (await get("/session/ways", { remedy: false })).provider;
  } catch {
    return false;
  }
}

/** Where the browser keeps that another tab waits for this sign-in; see `kept`. */
export const elsewhere = "elsewhere";

/** Confirms the password of the signed-in account; see "Confirmation" of the gateway's API. */
export const confirmPassword = (password, code) => put("/session", { password, ...(code ? { code } : {}) },
  { remedy: false });
