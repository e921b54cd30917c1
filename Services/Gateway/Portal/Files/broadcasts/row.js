import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t, tn } from "../lib/text.js";
import { formatAgo, formatExact, formatLength, formatMoment, formatSpan } from "../lib/time.js";
import { arePushed, audienceOf, effectOf, isSwitch, kindTag, languageName, languagesOf, listOf, stateOf,
  titleOf } from "./words.js";

const tones = { active: "good", scheduled: "", expired: "", withdrawn: "" };

/** A broadcast in the list. `act` has what can be done: `edit`, `withdraw` and `reuse`. */
export function broadcastRow(broadcast, { names, now, act }) {
  const { id, starts, expires, pushed, repeat, actiondata, cancellable = actiondata.cancellable } = broadcast;
  const state = stateOf(broadcast, now);
  const title = titleOf(broadcast);
  const isOver = state === "expired" || state === "withdrawn";
  const button = (name, sign, run) =>
    h("button", { class: "button small plain", type: "button", dataset: { act: name }, onclick: () => run(broadcast) },
    icon(sign, "small"), t(`broadcasts.${name}`), h("span", { class: "unseen" }, " ", title));
  const audience = broadcast.condition
    ? tn("broadcasts.audience.if", { condition: h("bdi", { class: "code", dir: "ltr" }, broadcast.condition) })
    : audienceOf(broadcast, names);
  const languages = languagesOf(broadcast);
  const detail = {
    active: () => t("broadcasts.ends", { time: formatAgo(expires, now) }),
    scheduled: () => t("broadcasts.starts", { time: formatAgo(starts, now) }),
    expired: () => formatAgo(expires, now), withdrawn: () => formatAgo(broadcast.withdrawn ?? broadcast.changed, now),
  }[state]();

  return h("li", { class: "broadcast", dataset: { id, state }, tabIndex: -1, "aria-labelledby": `b-${id}` },
    h("div", { class: "broadcast-what" },
      h("p", { class: "broadcast-title" },
        h("bdi", { id: `b-${id}`, class: isSwitch(broadcast) && actiondata.feature ? "code" : null,
            lang: isSwitch(broadcast) ? null : broadcast.language }, title), kindTag(broadcast)),
      isSwitch(broadcast) ? h("p", null, effectOf(actiondata)) : null,
      h("p", { class: "facts" }, h("span", null, audience),
        h("time", { dateTime: new Date(starts).toISOString(), title: formatExact(starts) },
          formatSpan(starts, expires, now)),
        languages.length > 1 ? h("span", null, listOf(languages.map(languageName))) : null, cancellable === false &&
          !isSwitch(broadcast) ? h("span", null, t("broadcasts.notClosable")) : null,
        actiondata.popup === false ? h("span", null, t("broadcasts.noPopup")) : null),
      h("p", { class: "facts hint" },
        pushed?.count
          ? h("span", null, t("broadcasts.pushed", { count: pushed.count, time: formatMoment(pushed.last, now) }))
          : arePushed() ? h("span", null, t("broadcasts.pushed.never")) : null,
        repeat && !isOver && arePushed()
          ? h("span", null, t("broadcasts.repeats", { length: formatLength(repeat * 60) })) : null,
        broadcast.version > 1 && state !== "withdrawn"
          ? h("span", null, t("broadcasts.version", { version: broadcast.version }))
          : null, h("span", null, t("broadcasts.by"), " ", h("bdi", null, broadcast.sender))),
      pushed?.failed ? h("p", { class: "below wrong" }, t("broadcasts.pushed.failed", { detail: pushed.failed }))
        : null),
    h("div", { class: "broadcast-state" }, h("span", { class: `tag ${tones[state]}` }, t(`broadcasts.state.${state}`)),
      h("span", { class: "hint" }, detail)),
    h("div", { class: "broadcast-actions" },
      isOver ? null : [button("edit", "edit", act.edit), button("withdraw.ask", "cross", act.withdraw)],
      button("reuse", "copy", act.reuse)));
}
