import { explain, post, put, remove } from "../lib/api.js";
import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { readSession, session } from "../lib/session.js";
import { t } from "../lib/text.js";
import { copyButton } from "../elements/copy.js";
import { confirmAction } from "../elements/dialogs.js";
import { field } from "../elements/field.js";
import { qrPicture } from "../elements/qr-picture.js";
import { toast } from "../elements/toast.js";

const path = () => `/account/${encodeURIComponent(session.account)}/second-factor`;

/**
 * The second factor of one's own account. `done` is called after the recovery codes were kept; without it the state is
 * shown.
 */
export function secondFactor({ state, isRequired = false, done }) {
  const element = h("div", { class: "stack second-factor" });
  const problem = h("p", { class: "below wrong", role: "alert" });
  const button = (className, label, run, name) =>
      h("button", { class: `button ${className}`, type: "button", onclick: async (event) => {
    const pressed = event.currentTarget;
    if (pressed.disabled) return;
    pressed.disabled = true;
    problem.textContent = "";
    try {
      await run();
    } catch (error) {
      problem.textContent = explain(error);
    } finally {
      pressed.disabled = false;
    }
  } }, name ? icon(name, "small") : null, label);

  function showState(current) {
    fill(element, current === "set"
      ? [h("p", null, h("span", { class: "tag good" }, icon("check", "small"), t("account.factor.on"))),
        h("p", { class: "secondary" }, t("account.factor.onText")), problem,
        h("div", { class: "actions" }, button("danger", t("account.factor.remove"), drop))]
      : [h("p", null, h("span", { class: "tag" }, t("account.factor.off"))),
          h("p", { class: "secondary" }, t("account.factor.offText")), problem,
        h("div", { class: "actions" }, button(done ? "main" : "", t("account.factor.setUp"), begin, "phone"))]);
  }

  async function begin() {
    const { secret, uri } = await post(path());
    const code = field({ label: t("account.factor.code"), hint: t("account.factor.codeHint"),
        attributes: { autocomplete: "one-time-code", inputMode: "numeric", maxLength: 7, dir: "ltr",
          class: "code-entry" } });
    const wrong = h("p", { class: "below wrong", role: "alert" });
    const confirm = h("button", { class: "button main", type: "submit" }, t("account.factor.confirm"));
    const heading = h("h3", { tabIndex: -1 }, t("account.factor.step1"));
    fill(element, heading, h("p", { class: "secondary" }, t("account.factor.scan")),
      h("div", { class: "scan" }, qrPicture(uri, t("account.factor.qr")),
        h("div", { class: "stack" }, h("p", { class: "hint" }, t("account.factor.orType")),
          h("div", { class: "secret-groups code", dir: "ltr", role: "group", "aria-label": t("account.factor.secret") },
            secret.match(/.{1,4}/g).map((group) => h("span", null, group, " "))),
          h("div", { class: "actions" }, copyButton(() => secret)))),
      h("form", { class: "stack", noValidate: true, onsubmit: async (event) => {
        event.preventDefault();
        if (confirm.disabled) return;
        const digits = code.value.replaceAll(/\s/g, "");
        if (!/^\p{Nd}{6}$/u.test(digits)) { code.error(t("account.factor.sixDigits")); code.control.focus(); return; }
        confirm.disabled = true;
        try {
          const { recovery_codes: codes } = await put(path(), { code: digits });
          await readSession().catch(() => {});
          showCodes(codes);
        } catch (error) {
          if (error.field === "code" || error.status === 400) {
            code.error(t("account.factor.wrongCode"));
            code.control.select();
          } else {
            wrong.textContent = explain(error);
          }
        } finally {
          confirm.disabled = false;
        }
      } }, h("h3", null, t("account.factor.step2")), code, wrong,
      h("div", { class: "actions" }, confirm, h("button", { class: "button", type: "button", onclick: () => {
        showState(state);
        element.querySelector("button").focus();
      } }, t("cancel")))));
    heading.focus();
  }

  function showCodes(codes) {
    const text = codes.join("\n");
    const warn = (event) => event.preventDefault();
    const heading = h("h3", { tabIndex: -1 }, t("account.factor.step3"));
    window.addEventListener("beforeunload", warn);
    const owner = `${t("product")} · ${session.account} · ${location.origin}`;
    const address = URL.createObjectURL(new Blob([`${owner}\n\n${text}\n`], { type: "text/plain" }));
    fill(element, heading, h("p", { class: "notice" }, icon("key"), h("span", null, t("account.factor.codes"))),
      h("ol", { class: "plain recovery-codes code", dir: "ltr", "aria-label": t("account.factor.recovery") },
        codes.map((code) => h("li", null, code))),
      h("div", { class: "actions" }, copyButton(() => text),
        h("a", { class: "button small", href: address, download: `message-hub-${session.account}.txt` },
          icon("download", "small"), t("account.factor.download"))),
      h("div", { class: "actions" }, h("button", { class: "button main", type: "button", onclick: () => {
        window.removeEventListener("beforeunload", warn);
        URL.revokeObjectURL(address);
        state = "set";
        if (done) return done();
        showState("set");
        element.querySelector("button").focus();
        toast(t("account.factor.done"));
      } }, t("account.factor.kept"))));
    heading.focus();
  }

  async function drop() {
    if (!(await confirmAction({
      heading: t("account.factor.removeHeading"),
      content: h("p", null, t(isRequired ? "account.factor.removeRequired" : "account.factor.removeText")),
      action: t("account.factor.removeAction"), isDanger: true,
    }))) return;
    await remove(path());
    if (isRequired) return location.reload();
    await readSession().catch(() => {});
    state = "none";
    showState("none");
    element.querySelector("button").focus();
    toast(t("account.factor.removed"));
  }

  showState(state);
  return element;
}
