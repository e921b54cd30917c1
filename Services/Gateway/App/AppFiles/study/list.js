// The list of study sessions: the same as the map, for those who do not use maps.

import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { place } from "../lib/place.js";
import { state } from "../lib/state.js";
import { t, tn } from "../lib/text.js";
import { className, classSign, distanceText, known, leftText, listOf, partsOf, tagsOf, topicsOf } from "./parts.js";

/** What is said of a session below its topics. */
const detailOf = ({ class: id, place: where, attendants, distance }) => partsOf([className(id), where?.name,
  t("study.people", { count: attendants.length }), distance !== null && distanceText(distance)]);

function rowOf(session, onopen) {
  const { id, tone, friends } = session;
  return h("button", { type: "button", class: "row session-row", dataset: { session: id }, onclick: () => onopen(id) },
    classSign(tone), h("span", { class: "row-text" },
      h("span", { class: "row-label" }, h("bdi", null, topicsOf(session)),
        tagsOf(session).map(([kind, text]) => h("span", { class: `tag ${kind}` }, text))),
      h("span", { class: "hint" }, detailOf(session)),
      friends.length ? h("span", { class: "hint friends-there" }, icon("people", "small"),
        h("span", null, tn("study.withFriends", { names: h("span", null, listOf(friends)) }))) : null),
    h("span", { class: "session-left" }, leftText(session)), icon("next", "small"));
}

/**
 * A list. `onopen(id)` opens a session. `show(sessions)` shows those of the same array as a map's, and `focusRow(id)`
 * returns whether the row of one took the focus.
 */
export function sessionList({ onopen }) {
  const rows = new Map();
  const list = h("ul", { class: "plain group session-list", hidden: true });
  const hint = h("p", null);
  const none = h("div", { class: "empty", hidden: true }, icon("clock"), h("h2", null, t("study.none")), hint);
  const element = h("div", { class: "sessions" }, list, none);

  /** A session's row. It is filled again when what it says has changed. */
  function itemOf(session) {
    const item = rows.get(session.id) ?? h("li", null);
    rows.set(session.id, item);
    const next = rowOf(session, onopen);
    if (item.firstChild?.textContent === next.textContent) return item;
    const hadFocus = item.contains(document.activeElement);
    fill(item, next);
    if (hadFocus) next.focus({ preventScroll: true });
    return item;
  }

  return Object.assign(element, {
    show(sessions) {
      const shown = sessions.map(known);
      const ids = new Set(shown.map(({ id }) => id));
      place(list, shown.map(itemOf));
      for (const id of rows.keys()) if (!ids.has(id)) rows.delete(id);
      list.hidden = !shown.length;
      none.hidden = shown.length > 0;
      // Who is in no class cannot start one.
      hint.textContent = t(state.study.classes?.every(({ closed }) => closed) ? "session.noClass.text"
        : "study.none.text");
    },
    focusRow(id) {
      const row = rows.get(id)?.firstChild;
      row?.focus();
      return Boolean(row?.isConnected);
    },
  });
}
