// A session is changed by its host: what it is about, its place, and how long it takes.

import { fill, h } from "../lib/dom.js";
import { state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { findSession, roleIn } from "../core/study-state.js";
import { switchRow } from "../elements/switch.js";
import { toast } from "../elements/toast.js";
import { form } from "../people/parts.js";
import { pathOf, sheet, studyOfApp } from "./parts.js";
import { middleOfMap } from "./map.js";
import { askForPosition, lastPosition } from "./position.js";
import { descriptionField, minutesField, placeField, topicsField } from "./session-fields.js";

const minute = 60_000;
const maxMinutes = 720;

/** What differs from the session as it was opened. */
function editOf(session, { topics, description, minutes }) {
  const planned = Math.round((session.ends - session.starts) / minute);
  return { ...(topics.join("\n") !== session.topics.join("\n") && { topics }),
    ...(description !== (session.description ?? "") && { description }), ...(minutes !== planned && { minutes }) };
}

function editForm(session, path) {
  const planned = Math.round((session.ends - session.starts) / minute);
  const max = state.study.rules?.rules.max_minutes ?? maxMinutes;
  const topics = topicsField(session.topics);
  const place = placeField(session.place?.name ?? "");
  const minutes = minutesField(planned, Math.max(max, planned), t("session.minutesInAll"));
  const description = descriptionField(session.description ?? "");
  const isFree = session.sponsored && roleIn(state.study, session.class) !== "student";
  const moves = switchRow({ label: t(isFree ? "session.moveToMap" : "session.moveHere"), hint: t("session.move.hint"),
    onchange: async (isOn) => {
      const at = isOn && (isFree ? middleOfMap() : await askForPosition());
      if (isOn && isFree && !at) toast(t("session.noMap"));
      moves.checked = isMoved = Boolean(at);
    } });
  let isMoved = false;

  /** The place of the edit, and the position that shows that the host is there; `null` if there is none. */
  function placeNow() {
    const at = isMoved ? (isFree ? middleOfMap() : lastPosition()) : session.place;
    const name = place.input.value.trim();
    if (!at || (!isMoved && name === (session.place?.name ?? ""))) return null;
    const { latitude, longitude } = at;
    const position = lastPosition();
    return { place: { latitude, longitude, ...(name && { name }) }, ...(position && { position }) };
  }

  const element = form({ fields: [topics, minutes, place, h("div", { class: "group" }, moves), description],
    action: t("session.save"), onsubmit: async () => {
      // Another name of the place needs the position, as another place does.
      const isRenamed = place.input.value.trim() !== (session.place?.name ?? "");
      if ((isRenamed || isMoved) && !isFree && !(await askForPosition())) return;
      const edit = { ...editOf(session, { topics: topics.topics(), description: description.input.value.trim(),
        minutes: Number(minutes.input.value) }), ...placeNow() };
      if (Object.keys(edit).length) {
        await (await studyOfApp()).act("change", { class: session.class, session: session.id, edit });
      }
      toast(t("done.change"));
      location.hash = path;
    } });
  return element;
}

/** The sheet on which a session is changed. */
export function editView(id, session) {
  const path = pathOf({ class: id, id: session });
  const place = h("div", null);
  const element = sheet(t("session.edit"), { back: path }, place);
  let made = null;
  // The address may be that of a session that is over.
  studyOfApp().then((study) => study.load("session", [id, session])).then((found) => {
    if (!made && !found) fill(place, h("p", { class: "notice", role: "status" }, t("study.gone")));
  }).catch(() => {});
  return Object.assign(element, { update: () => {
    const found = findSession(state, session);
    // Who may move it from afar is known with the classes.
    if (made || !found || !state.study.classes) return;
    fill(place, made = found.isHost ? editForm(found, path) : h("p", { class: "notice" }, t("session.notHost")));
  } });
}
