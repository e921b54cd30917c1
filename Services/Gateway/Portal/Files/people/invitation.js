import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t, tn } from "../lib/text.js";
import { formatMoment } from "../lib/time.js";
import { copyBox } from "../elements/copy.js";
import { showDialog } from "../elements/dialogs.js";

/**
 * Shows the link of a new invitation, which no later answer has. Only its button closes the dialog. `account` is the
 * answer that made it.
 */
export const showInvitation = (account) => showDialog((close) => h("div", { class: "stack" },
  h("h2", null, t("people.invited.heading", { name: account.display_name ?? account.account })),
  h("p", { class: "secondary" },
    tn("people.invited.text",
      { name: h("bdi", null, account.account), time: formatMoment(account.invitation.expires) })),
  copyBox({ label: t("people.invited.link"), text: location.origin + account.invitation.link_path }),
  h("p", { class: "notice" }, icon("key"), h("span", null, t("people.invited.once"))),
  h("div", { class: "actions" }, h("button", { class: "button main", type: "button", onclick: () => close(true) },
      t("people.invited.done")))), { isFirm: true });
