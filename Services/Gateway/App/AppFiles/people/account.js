// The account: who is signed in, in which ways, and what needs a secret.

import { fill, h } from "../lib/dom.js";
import { app } from "../lib/state.js";
import { t } from "../lib/text.js";
import { signInOf } from "../core/sign-in.js";
import { dialogButtons, showDialog } from "../elements/dialog.js";
import { toast } from "../elements/toast.js";
import { field, form, goToLanding, hide, loaded, pageHeading, refill } from "./parts.js";
import { providerName, reasonOf } from "./reasons.js";

/** Asks the hub for something that is not kept, and reads the person again. */
async function ask(method, path, body, key) {
  const people = await app.people();
  await people.ask(method, path, body, key);
  await people.load(["person"]).catch(() => {});
}

async function unlink(provider) {
  try {
    await ask("DELETE", `/user/identities/${provider}`);
    toast(t("ways.removed", { provider: providerName(provider) }));
  } catch (error) {
    toast(reasonOf(error));
  }
}

/** The ways to sign in: those that the person has, and those that could be added. */
function ways() {
  const list = h("ul", { class: "plain group" });
  const more = h("div", { class: "actions" });
  const element = h("section", { class: "stack" }, h("h2", { class: "day" }, t("ways.heading")), list, more);
  let linked = [];
  let offers = [];

  function showMore() {
    fill(more, offers.filter(({ provider }) => !linked.includes(provider)).map((offer) =>
      h("button", { class: "button", type: "button", onclick: () => add(offer) },
        t("ways.add", { provider: providerName(offer.provider) }))));
  }

  async function add(offer) {
    try {
      await signInOf({ account: (await app.people()).account }).begin(offer, "link");
    } catch (error) {
      toast(reasonOf(error, offer.provider));
    }
  }

  async function load() {
    const { account } = await app.people();
    offers = (await signInOf({ account }).offered()).filter(({ flow }) => flow !== "form");
    showMore();
  }

  // Without them nothing can be added now.
  load().catch(() => {});
  return Object.assign(element, { show: (identities) => {
    linked = identities.map(({ provider }) => provider);
    refill(list, () => pageHeading(list), identities.map(({ provider, email }) => h("li", { class: "row" },
      h("span", { class: "row-text" }, providerName(provider),
        email ? h("span", { class: "hint" }, h("bdi", null, email)) : null),
      identities.length > 1 ? h("button", { class: "pill danger", type: "button", onclick: () => unlink(provider) },
        t("ways.remove"), h("span", { class: "unseen" }, `: ${providerName(provider)}`)) : null)));
    showMore();
  } });
}

function password() {
  const current = field({ label: t("password.current"), type: "password", autocomplete: "current-password",
    required: true });
  const next = field({ label: t("password.next"), hint: t("register.password.hint"), type: "password",
    autocomplete: "new-password", required: true });
  return h("section", { class: "stack" }, h("h2", { class: "day" }, t("password.heading")),
    form({ fields: [current, next], action: t("password.change"), onsubmit: async () => {
      await ask("PUT", "/user/password", { current: current.input.value, password: next.input.value });
      current.input.value = next.input.value = "";
      toast(t("password.done"));
    } }));
}

/** A code of a super user, which makes a professor. */
export function accessCode() {
  const code = field({ label: t("code.label"), hint: t("code.hint"), autocomplete: "off", spellcheck: false,
    autocapitalize: "characters", maxLength: 40, required: true, dir: "ltr" });
  let tried = "";
  let key = null;
  return h("section", { class: "stack" }, h("h2", { class: "day" }, t("code.heading")),
    form({ fields: [code], action: t("code.use"), onsubmit: async () => {
      const text = code.input.value.trim();
      if (tried !== (tried = text)) key = crypto.randomUUID();
      await ask("POST", "/user/access-code", { code: text }, key);
      code.input.value = "";
      toast(t("code.done"));
    } }));
}

/** Asks, and signs the person out on this device. */
export async function signOut() {
  const isWanted = await showDialog({ heading: t("signOut.question"), role: "alertdialog", make: (close) => [
    h("p", { class: "secondary" }, t("signOut.text")),
    dialogButtons(close, h("button", { class: "button danger", type: "button", onclick: () => close(true) },
      t("signOut.action")))] });
  if (!isWanted) return;
  const isKnown = await (await app.people()).account.signOut();
  // The toasts of another page close.
  goToLanding();
  toast(t(isKnown ? "signOut.done" : "signOut.unknown"));
}

/** The content of the settings' page. */
export function settings() {
  const name = h("p", { class: "account-name" });
  const mark = h("p", { class: "actions" }, h("span", { class: "tag" }, t("account.professor")),
    h("a", { href: "/portal/classes/" }, t("account.classes")));
  const own = ways();
  const secret = password();
  const code = accessCode();
  const content = h("div", { class: "stack" }, h("p", { class: "secondary" }, t("account.text")), name, mark, own,
    secret, code, h("button", { class: "button danger", type: "button", onclick: signOut }, t("signOut.action")));
  const person = loaded("person", content, ({ account, display_name: displayName, professor, identities }) => {
    fill(name, h("bdi", null, account), displayName ? h("span", { class: "hint" }, h("bdi", null, displayName)) : null);
    mark.hidden = professor !== true;
    if (professor === true) hide(code);
    else code.hidden = false;
    secret.hidden = !identities.some(({ provider }) => provider === "password");
    own.show(identities);
  });
  return Object.assign(person, { className: "stack notices" });
}
