import { hubNow } from "../lib/clock.js";
import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { initialOf, session } from "../lib/session.js";
import { language, t } from "../lib/text.js";
import { formatDate, formatExact, formatMoment } from "../lib/time.js";

/**
 * An account as a row of the table. `columns` are those between the name and the button; `tokens` is how many it has,
 * or `null` if that is unknown.
 */
export function accountRow(account, { columns, tokens, isOpen, toggle }) {
  const name = account.account;
  const cells = { role: roleOf, factor, tokens: () => tokensOf(name, tokens),
    lastSignIn: () => dayElement(account.last_sign_in) };
  return h("tr", { class: "thing", dataset: { account: name } },
    h("th", { scope: "row" }, h("div", { class: "person" },
      h("span", { class: "avatar", "aria-hidden": "true" }, initialOf(account.display_name ?? name)),
      h("div", null, h("span", { class: "person-name" }, h("bdi", null, account.display_name ?? name),
        name === session.account ? h("span", { class: "tag busy" }, t("people.you")) : null,
        account.disabled ? h("span", { class: "tag" }, icon("lock", "small"), t("people.disabled")) : null),
      account.display_name ? h("small", null, h("bdi", null, name)) : null, belowName(account)))),
    columns.map((column) => h("td", { "data-label": t(`people.column.${column}`) }, cells[column](account))),
    h("td", { class: "end" },
      h("button", { class: "button small", type: "button", "aria-expanded": String(isOpen), onclick: toggle },
      icon(isOpen ? "up" : "edit", "small"),
      h("span", null, t(isOpen ? "close" : "people.edit"), h("span", { class: "unseen" }, ` ${name}`)))));
}

const roleOf = ({ role, professor }) => [t(`role.${role}`),
  professor ? [" ", h("span", { class: "tag busy" }, t("people.professor"))] : null];

const tokensOf = (name, count) => (count
  ? h("a", { href: `/portal/tokens/?account=${encodeURIComponent(name)}` }, t("people.tokens", { count }))
  : h("span", { class: "hint" }, count === null ? "–" : t("people.tokens.none")));

function belowName(account) {
  if (account.oidc) return h("small", null, t("people.university"), " ", h("bdi", { class: "code" }, account.oidc));
  if (account.invitation) {
    return h("small", null, t(account.invitation.expires > hubNow() ? "people.invited" : "people.invitedLate",
        { time: formatMoment(account.invitation.expires) }));
  }
  // A student may sign in at other providers.
  const hasWay = account.has_password || account.role === "student";
  return hasWay ? null : h("small", null, t("people.noPassword"));
}

/** A time as its day, such as "yesterday": some are stored an hour or a day late. */
export function dayElement(time) {
  if (!time) return h("span", { class: "hint" }, t("people.neverSignedIn"));
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
