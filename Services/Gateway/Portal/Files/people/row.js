import { hubNow } from "../lib/clock.js";
import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { initialOf, session } from "../lib/session.js";
import { language, t } from "../lib/text.js";
import { formatDate, formatExact, formatMoment } from "../lib/time.js";

/** An account as a row of the table. `tokens` is how many it has, or `null` if that is unknown. */
export function accountRow(account, { tokens, isOpen, toggle }) {
  const name = account.account;
  const label = (column) => ({ "data-label": t(`people.column.${column}`) });
  return h("tr", { class: "thing", dataset: { account: name } },
    h("th", { scope: "row" }, h("div", { class: "person" },
      h("span", { class: "avatar", "aria-hidden": "true" }, initialOf(account.display_name ?? name)),
      h("div", null, h("span", { class: "person-name" }, h("bdi", null, account.display_name ?? name),
        name === session.account ? h("span", { class: "tag busy" }, t("people.you")) : null,
        account.disabled ? h("span", { class: "tag" }, icon("lock", "small"), t("people.disabled")) : null),
      account.display_name ? h("small", null, h("bdi", null, name)) : null, belowName(account)))),
    h("td", label("role"), t(`role.${account.role}`)),
    h("td", label("factor"), factor(account)),
    h("td", label("tokens"), tokens
      ? h("a", { href: `/portal/tokens/?account=${encodeURIComponent(name)}` }, t("people.tokens", { count: tokens }))
      : h("span", { class: "hint" }, tokens === null ? "–" : t("people.tokens.none"))),
    h("td", label("lastSignIn"), lastSignIn(account.last_sign_in)),
    h("td", { class: "end" },
      h("button", { class: "button small", type: "button", "aria-expanded": String(isOpen), onclick: toggle },
      icon(isOpen ? "up" : "edit", "small"),
      h("span", null, t(isOpen ? "close" : "people.edit"), h("span", { class: "unseen" }, ` ${name}`)))));
}

function belowName(account) {
  if (account.oidc) return h("small", null, t("people.university"), " ", h("bdi", { class: "code" }, account.oidc));
  if (account.invitation) {
    return h("small", null, t(account.invitation.expires > hubNow() ? "people.invited" : "people.invitedLate",
        { time: formatMoment(account.invitation.expires) }));
  }
  return account.has_password ? null : h("small", null, t("people.noPassword"));
}

function lastSignIn(time) {
  if (!time) return h("span", { class: "hint" }, t("people.neverSignedIn"));
  // It is stored at most once an hour, so the day is what is certain.
  const [then, today] = [time, hubNow()].map((each) => new Date(each).setHours(0, 0, 0, 0));
  const days = Math.round((today - then) / 86_400_000);
  const text = days > 30 ? formatDate(time) : new Intl.RelativeTimeFormat(language, { numeric: "auto" })
    .format(-days, "day");
  return h("time", { class: "hint", dateTime: new Date(time).toISOString(), title: formatExact(time) }, text);
}

function factor(account) {
  if (account.second_factor === "set") {
    return h("span", { class: "tag good" }, icon("check", "small"), t("people.factor.set"));
  }
  if (account.second_factor_required) {
    return h("span", { class: "tag" }, icon("clock", "small"), t("people.factor.required"));
  }
  return h("span", { class: "hint" }, t("people.factor.none"));
}
