// The pins of study sessions on the map. Colours differ in lightness, and so do the forms; a friend has a ring.

import { h, svg } from "../lib/dom.js";
import { formatNumber, t } from "../lib/text.js";
import { className, leftText, listText, partsText, tagsOf, topicsOf } from "./parts.js";

/** The outlines on a grid of 32 by 40 units, with the tip at the bottom: of odd and of even tones, and of a group. */
const outlines = {
  drop: "M16 2C8.3 2 2 8.3 2 16c0 8.5 14 22 14 22s14-13.5 14-22C30 8.3 23.7 2 16 2Z",
  flag: "M5 2h22a3 3 0 0 1 3 3v20a3 3 0 0 1-3 3h-6l-5 10-5-10H5a3 3 0 0 1-3-3V5a3 3 0 0 1 3-3Z",
  group: "M16 2a14 14 0 1 1 0 28a14 14 0 1 1 0-28Z",
};

/** The same as in the list. How far away it is, the map shows. */
function sessionLabel(session) {
  const { class: id, place, attendants, friends } = session;
  const { length: count } = attendants;
  return partsText([topicsOf(session), className(id), place?.name, t("study.people", { count }), leftText(session),
    ...tagsOf(session).map(([, text]) => text),
    friends.length > 0 && t("study.withFriends", { names: listText(friends) })]);
}

/** What readers hear of a pin, and others see under the pointer. */
export const labelOf = (sessions) => (sessions.length === 1 ? sessionLabel(sessions[0])
  : partsText([t("study.group", { count: sessions.length }), hasFriend(sessions) && t("study.friend")]));

const hasFriend = (sessions) => sessions.some(({ friends }) => friends.length);

/** A pin of one session, or of several that are at the same place at this zoom. `onclick` gets the event. */
export function pin(sessions, onclick) {
  const [first] = sessions;
  const isOne = sessions.length === 1;
  const tones = new Set(sessions.map(({ tone }) => tone));
  const isRinged = hasFriend(sessions);
  const form = isOne ? (first.tone % 2 ? "drop" : "flag") : "group";
  const shape = (kind) => svg("path", { d: outlines[form], class: kind });
  return h("button", { type: "button", class: `pin ${isOne ? "" : "is-group"}`, onclick,
    dataset: { tone: tones.size === 1 ? first.tone : "mixed", sessions: sessions.map(({ id }) => id).join(" ") } },
  svg("svg", { viewBox: "-4 -4 40 48", "aria-hidden": "true" }, isRinged ? shape("pin-ring") : null,
    shape("pin-edge"), shape("pin-body")),
  h("span", { "aria-hidden": "true" }, formatNumber(isOne ? first.attendants.length : sessions.length)));
}
