import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { language, t } from "../lib/text.js";
import { formatAgo, formatDate, formatExact } from "../lib/time.js";
import { scopeWords } from "./places.js";

const list = new Intl.ListFormat(language, { type: "unit" });
const listOf = (words) => list.format(words);
const soon = 7 * 86_400_000;

/** A token as a row of the table. `showsAccount`: the table has tokens of several accounts. */
export function tokenRow(token, { places, showsAccount, revoke }) {
  const label = (column) => ({ "data-label": t(`tokens.column.${column}`) });
  const hasEnded = token.expires !== undefined && token.expires <= Date.now();
  return h("tr", { class: `thing ${hasEnded ? "ended" : ""}`, dataset: { token: token.id } },
    h("th", { scope: "row" }, h("span", { class: "token-name" }, h("bdi", null, token.name),
        token.operator ? h("span", { class: "tag" }, t("tokens.operator")) : null),
      showsAccount ? h("small", null, h("bdi", null, token.account)) : null),
    h("td", label("may"),
      h("div", null, h("p", { class: "may" }, listOf(token.rights.map((right) => t(`tokens.right.${right}`)))),
        scopeWords(token.scope, places))),
    h("td", label("used"), lastUse(token)),
    h("td", label("expires"), end(token.expires)),
    h("td", { class: "end" }, h("button", { class: "button small", type: "button", onclick: revoke },
        h("span", null, t("tokens.revoke"), h("span", { class: "unseen" }, ` ${token.name}`)))));
}

function lastUse({ last_used: used, last_address: address }) {
  if (!used) return h("span", { class: "hint" }, t("tokens.unused"));
  return h("span", null,
    h("time", { dateTime: new Date(used).toISOString(), title: formatExact(used) }, formatAgo(used)),
    address ? h("small", null, h("bdi", null, address)) : null);
}

function end(expires) {
  if (expires === undefined) return h("span", { class: "hint" }, t("tokens.never"));
  const time = h("time", { dateTime: new Date(expires).toISOString(), title: formatExact(expires) },
    formatDate(expires));
  const left = expires - Date.now();
  if (left <= 0) {
    return h("span", null, h("span", { class: "tag" }, icon("cross", "small"), t("tokens.expired")),
      h("small", null, time));
  }
  return left < soon ? h("span", null,
    h("span", { class: "tag busy" }, icon("clock", "small"), t("tokens.soon", { time: formatAgo(expires) })),
    h("small", null, time)) : time;
}
