// The record of a new person: a name, and what the hub wants to see beside it.

import { h } from "../lib/dom.js";
import { app } from "../lib/state.js";
import { t } from "../lib/text.js";
import { field, form } from "./parts.js";

/**
 * The form of a registration. `credential` is what a provider has brought back, or `null` for a password that is chosen
 * here. `registered(credential)` continues afterwards. `back` is a button that leaves the form.
 */
export function registration({ offer, credential, back, registered }) {
  const name = field({ label: t("register.name"), hint: t("register.name.hint"), autocomplete: "username",
    autocapitalize: "none", spellcheck: false, required: true, minLength: 3, maxLength: 32,
    pattern: "(?!-)(?!\\.+$)[A-Za-z0-9._\\-]+", title: t("register.name.hint"), dir: "ltr" });
  const password = credential ? null : field({ label: t("register.password"), hint: t("register.password.hint"),
    type: "password", autocomplete: "new-password", required: true });
  const code = field({ label: t(offer.needs_code ? "register.code" : "register.code.maybe"),
    hint: t("register.code.hint"), autocomplete: "off", autocapitalize: "characters", spellcheck: false,
    required: offer.needs_code === true, maxLength: 40, dir: "ltr" });
  /** What was tried last, and its key: the hub makes one record of all attempts. */
  let tried = "";
  let key = null;

  async function register() {
    const [account, access] = [name.input.value.trim(), code.input.value.trim()];
    const shown = credential ?? { provider: offer.provider, account, password: password.input.value };
    const text = JSON.stringify([account, access, shown]);
    if (tried !== (tried = text)) key = crypto.randomUUID();
    const { account: own } = await app.people();
    await own.register(account, shown, access, key).catch((error) => {
      // Elsewhere the hub calls another person so.
      throw error.field === "account" ? Object.assign(error, { field: "name" }) : error;
    });
    await registered(shown);
  }

  return h("div", { class: "stack" }, h("h2", { class: "day" }, t("register.heading")),
    h("p", { class: "secondary" }, t("register.text")),
    form({ fields: [name, password, code], action: t("register.action"), onsubmit: register, extra: [back] }));
}
