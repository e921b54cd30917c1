import { explain, post } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { session } from "../lib/session.js";
import { codeField } from "../lib/sign-in.js";
import { t, tn } from "../lib/text.js";
import { formatMoment } from "../lib/time.js";
import { passwordField } from "../elements/field.js";

/**
 * The page behind the link of an invitation: sets the account's password, and signs in. `show(heading, intro, content)`
 * shows it; `done` is called after that.
 */
export async function showInvitation(invitation, { show, done }) {
  let known;
  try {
    known = await post("/session/invitation/check", { invitation }, { remedy: false });
  } catch (error) {
    if (error.field === "invitation") return showEnded(show);
    show(t("invitation.problem"), explain(error), h("button", {
      class: "button main", type: "button", onclick: () => showInvitation(invitation, { show, done }),
    }, t("retry")));
    return;
  }
  const { account, display_name: name, expires, needs_code: needsCode } = known;
  const password = passwordField({ label: t("invitation.password"), hint: t("invitation.rule"),
      attributes: { name: "password", autocomplete: "new-password" } });
  const code = needsCode ? codeField() : null;
  const problem = h("p", { class: "below wrong", role: "alert" });
  const button = h("button", { class: "button main", type: "submit" }, t("invitation.action"));
  const wrong = (element, text) => {
    element.error(text);
    element.control.focus();
  };
  show(t("invitation.heading", { name: name ?? account }),
      tn("invitation.intro", { account: h("bdi", { class: "named" }, account), time: formatMoment(expires) }),
      h("form", {
    class: "stack", noValidate: true, onsubmit: async (event) => {
      event.preventDefault();
      if (button.disabled) return;
      problem.textContent = "";
      const { length } = [...password.value];
      if (length < 8 || length > 256) return wrong(password, t(length ? "invitation.wrong" : "field.missing"));
      if (code && !code.value) return wrong(code, t("field.missing"));
      button.disabled = true;
      try {
        await post("/session/invitation",
          { invitation, password: password.value, ...(code ? { code: code.value.replaceAll(" ", "") } : {}) },
          { remedy: false });
        done();
      } catch (error) {
        if (error.field === "invitation") showEnded(show);
        else if (error.field === "password") wrong(password, t("invitation.wrong"));
        else if (error.field === "code" && code) wrong(code, t("signIn.wrongCode"));
        else problem.textContent = explain(error);
      } finally {
        button.disabled = false;
      }
    },
  }, session && session.account !== account
    ? h("p", { class: "notice" }, icon("info"),
        h("span", null, tn("invitation.other",
            { other: h("bdi", null, session.account), account: h("bdi", null, account) }))) : null,
  // Password managers need to know whose password it is.
  h("input", { class: "unseen", type: "text", autocomplete: "username", value: account, readOnly: true, tabIndex: -1,
      "aria-hidden": "true" }),
  password, code, problem, button));
  password.control.focus();
}

/** The link was used, has expired or was replaced. Its secret leaves the address. */
function showEnded(show) {
  history.replaceState(null, "", "/");
  show(t("invitation.ended"), t("invitation.ended.text"), h("div", { class: "stack" },
    ["used", "late"].map((name) => h("p", null, t(`invitation.ended.${name}`))),
    h("a", { class: "button main", href: "/" }, t("invitation.ended.action"))));
}
