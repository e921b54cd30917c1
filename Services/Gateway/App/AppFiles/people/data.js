// What the hub has of the person: to take along, and to erase.

import { h } from "../lib/dom.js";
import { saveFile } from "../lib/save-file.js";
import { app, state } from "../lib/state.js";
import { formatNumber, language, t } from "../lib/text.js";
import { showDialog } from "../elements/dialog.js";
import { toast } from "../elements/toast.js";
import { field, form, goToLanding, isSame } from "./parts.js";
import { refusal } from "../core/errors.js";

/** The hub collects from all of its services, in milliseconds. */
const patience = 120_000;

async function save() {
  const { account } = await app.people();
  const answer = await account.open("/user/export", { "Accept-Language": language }, AbortSignal.timeout(patience));
  if (answer.status !== 200) throw refusal("/user/export", { status: answer.status, body: await answer.json() });
  saveFile(await answer.blob(), "my-data.zip");
  toast(t("mine.done"));
}

/** The kinds of data that have a word of their own. */
const kinds = ["accounts", "devices", "identities", "used_tokens", "queued_pushes", "friendships", "profile",
  "push_preferences", "pushes", "memberships", "attendances", "hosted_sessions", "invites", "posts"];
const wordOf = (kind) => (kinds.includes(kind) ? t(`erased.${kind}`)
  : h("bdi", { lang: "en" }, kind.replaceAll("_", " ")));

/** What came of the erasure: what was removed, and what stays, which the hub tells in English. */
const reportOf = ({ services, waiting }) => [
  waiting.length ? h("p", { class: "secondary" }, t("erased.waiting")) : null,
  h("section", { class: "stack" }, h("h3", null, t("erased.removed")), h("ul", null,
    services.flatMap(({ removed }) => removed).filter(({ count }) => count)
      .map(({ what, count }) => h("li", null, wordOf(what), `: ${formatNumber(count)}`)))),
  h("section", { class: "stack" }, h("h3", null, t("erased.stays")), h("ul", null,
    services.flatMap(({ stays }) => stays).map((text) => h("li", null, h("bdi", { lang: "en" }, text))))),
];

const showReport = (report) => showDialog({ heading: t("erased.heading"), make: (close) => [reportOf(report),
  h("button", { class: "button main", type: "button", onclick: () => close() }, t("erased.close"))] });

/** Asks once more: who types the account's name means it. */
function askToErase() {
  const name = field({ label: t("erase.name", { account: state.people.account }), autocomplete: "off", required: true,
    autocapitalize: "none", spellcheck: false, dir: "ltr" });
  return showDialog({ heading: t("erase.question"), make: (close) => {
    const asked = form({ fields: [h("p", { class: "secondary" }, t("erase.question.text")), name],
      action: t("erase.confirm"), isDangerous: true,
      extra: [h("button", { class: "button", type: "button", onclick: () => close() }, t("cancel"))],
      onsubmit: async () => {
        if (!isSame(name.input.value.trim(), state.people.account ?? "")) return asked.say(t("erase.wrong"));
        const report = await (await app.people()).account.erase();
        close();
        goToLanding();
        return showReport(report);
      } });
    return asked;
  } });
}

/** The content of the settings' page. */
export function settings() {
  return Object.assign(h("div", { class: "stack" },
    h("section", { class: "stack" }, h("h2", { class: "day" }, t("mine.heading")),
      form({ fields: [h("p", { class: "secondary" }, t("mine.text"))], action: t("mine.action"), onsubmit: save })),
    h("section", { class: "stack" }, h("h2", { class: "day" }, t("erase.heading")),
      h("p", { class: "secondary" }, t("erase.text")),
      h("ul", null, ["profile", "devices", "friends", "study", "pushes"].map((what) => h("li", null,
        t(`erase.${what}`)))),
      ["erase.later", "erase.stays"].map((key) => h("p", { class: "secondary" }, t(key))),
      h("button", { class: "button danger", type: "button", onclick: askToErase }, t("erase.action")))),
  { update: () => {} });
}
