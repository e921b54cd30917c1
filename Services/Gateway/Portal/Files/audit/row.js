import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { formatNumber, t } from "../lib/text.js";
import { formatExact, formatTime } from "../lib/time.js";
import { pathOf } from "../elements/tags.js";
import { differenceOf } from "./difference.js";
import { namesAround } from "./names.js";
import { actorOf, sentenceOf } from "./sentence.js";

const icons = { message: "messages", channel: "cube", area: "cube", subject: "cube", cube: "cube", template: "template",
  broadcast: "broadcast", account: "account", token: "key", access_code: "key", token_key: "key" };

/** An entry of the log: a sentence, which opens its details. `only` shows all changes of an object. */
export function entryRow({ number, hash, entry }, { only }) {
  const { object, at, address } = entry;
  const details = h("div", { class: "details" });
  const around = ["area", "subject"].includes(object.kind) ? namesAround(object.id) : null;
  const row = h("details",
    { dataset: { number }, ontoggle: () => { if (row.open && !details.children.length) fill(details, detailsOf()); } },
    h("summary", null,
      h("time", { dateTime: new Date(at).toISOString(), title: formatExact(at) }, formatTime(at)),
      icon(entry.action.startsWith("sign_in") ? "lock" : icons[object.kind] ?? "audit", "small"),
      h("span", { class: "what" }, h("span", null, sentenceOf(entry)),
        around ? h("span", { class: "hint" }, pathOf(around)) : null),
      address ? h("bdi", { class: "hint address" }, address === "local" ? t("audit.local") : address) : null,
      icon("down", "small")),
    details);

  const detailsOf = () => [
    differenceOf(entry),
    h("dl", null, [
      [t("audit.time"), formatExact(at)],
      [t("audit.objectID"), h("span", { class: "code", dir: "ltr" }, object.id)],
      [t("audit.number"), [formatNumber(number), " · ",
          h("span", { class: "code", dir: "ltr", title: hash }, `${hash.slice(0, 16)}…`)]],
    ].map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value)))),
    h("div", { class: "actions" },
      object.kind === "message" && entry.action !== "audit.substitute"
        ? h("a", { class: "button small", href: `/portal/message/?key=${encodeURIComponent(object.id)}` },
            icon("messages", "small"), t("audit.openMessage")) : null,
      h("button", { class: "button small", type: "button", onclick: () => only(object.id) }, icon("search", "small"),
        t(`audit.only.${object.kind in icons ? object.kind : "other"}`)),
      entry.actor ? h("button", { class: "button small", type: "button", onclick: () => only(null, entry.actor) },
        icon("account", "small"), h("bdi", null, t("audit.onlyActor", { name: actorOf(entry.actor) }))) : null),
  ];
  return h("li", null, row);
}
