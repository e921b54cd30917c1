// A new session: place and time are filled in, so that two taps are enough.

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { segments } from "../elements/segments.js";
import { switchRow } from "../elements/switch.js";
import { toast } from "../elements/toast.js";
import { field, form } from "../people/parts.js";
import { ask, pathOf, questionOfLeaving, sheet, studyOfApp } from "./parts.js";
import { middleOfMap } from "./map.js";
import { askForPosition, isPositionAllowed, lastPosition, locate, positionObstacle } from "./position.js";
import { descriptionField, minutesField, placeField, topicsField } from "./session-fields.js";

const plannedMinutes = 60;
/** If the hub has not said its limit yet. */
const maxMinutes = 720;

/**
 * The form of a new session in one of the `classes`. `sponsored` is for a class's staff: the session is theirs from the
 * beginning, and need not be where they are. `onplace(place)` is called with where it would be, or `null`, and
 * `started(session)` with the session that the hub has started. `update()` follows the map and the state.
 */
export function sessionForm({ classes, sponsored = false, onplace = () => {},
  started = (session) => { location.hash = pathOf(session); } }) {
  const { chosen = [], last = {} } = state.study;
  const first = classes.find(({ id }) => id === last.class && (!chosen.length || chosen.includes(id)))
    ?? classes.find(({ id }) => chosen.includes(id)) ?? classes[0];
  const group = field({ label: t("session.class"), tag: "select", required: true, onchange: () => update() });
  group.input.append(...classes.map(({ id, name }) => h("option", { value: id }, name)));
  group.input.value = first?.id ?? "";
  group.hidden = classes.length < 2;
  const topics = topicsField(last.topics ?? []);
  const place = placeField(last.place ?? "");
  const minutes = minutesField(plannedMinutes, state.study.rules?.rules.max_minutes ?? maxMinutes);
  const description = descriptionField("");
  const where = segments({ label: t("session.where"), value: "position", onchange: choose,
    options: ["position", "map"].map((value) => ({ value, label: t(`session.where.${value}`) })) });
  const said = h("p", { class: "hint", role: "status" });
  const askButton = h("button", { class: "button", type: "button", onclick: find }, t("session.usePosition"));
  const isTheirs = switchRow({ label: t("session.sponsor"), hint: t("session.sponsor.hint"), checked: sponsored,
    onchange: (isOn) => { isSponsored = isTheirs.checked = isOn; update(); } });
  const attends = switchRow({ label: t("session.attend"), hint: t("session.attend.hint"), checked: true,
    onchange: (isOn) => { doesAttend = attends.checked = isOn; } });
  const staffOnly = h("div", { class: "group" }, isTheirs, attends);
  const more = h("details", null, h("summary", null, icon("down", "small"), t("session.more")),
    h("div", { class: "stack" }, description));
  const element = form({ fields: [group, topics, place, h("div", { class: "field" }, h("span", { class: "label" },
    t("session.where")), where, said, askButton), minutes, staffOnly, more], action: t("session.start"),
    onsubmit: start });
  let isSponsored = sponsored;
  let doesAttend = true;
  /** Where the session would be: at the person's position, or in the middle of the map. */
  let source = "position";
  /** What was sent last, and its key: the hub starts one session of all attempts. */
  let sent = "";
  let key = null;

  function choose(value) {
    source = where.value = value;
    update();
  }

  async function find() {
    if (await askForPosition()) choose("position");
  }

  const isStaff = (id) => ["ta", "professor"].includes(classes.find((each) => each.id === id)?.role);
  const placeNow = () => (source === "map" ? middleOfMap() : lastPosition());
  const mustBeNear = () => !(isSponsored && isStaff(group.input.value));

  /** Why the session cannot be started as it is; "" if it can. */
  function obstacle() {
    if (mustBeNear() && !lastPosition()) return t("session.mustBeNear");
    return placeNow() ? "" : t(source === "map" ? "session.noMap" : "session.noPosition");
  }

  async function start() {
    const at = placeNow();
    const problem = obstacle();
    if (problem) return element.say(problem);
    const id = group.input.value;
    const { latitude, longitude } = at;
    const name = place.input.value.trim();
    const position = lastPosition();
    const draft = { topics: topics.topics(), place: { latitude, longitude, ...(name && { name }) },
      minutes: Number(minutes.input.value), ...(description.input.value.trim()
        && { description: description.input.value.trim() }), ...(position && { position }),
      ...(isSponsored && isStaff(id) && { sponsored: true, ...(doesAttend ? {} : { attends: false }) }) };
    const isJoining = !(draft.sponsored && !doesAttend);
    const question = isJoining ? questionOfLeaving() : null;
    if (question && !(await ask(question.heading, question.text, question.action))) return undefined;
    const about = { class: id, draft: { ...draft, ...(question && { leave: true }) } };
    const { position: unsaid, ...text } = about.draft;
    if (sent !== (sent = JSON.stringify([id, text]))) key = crypto.randomUUID();
    const { body } = await (await studyOfApp()).act("start", about, key);
    toast(t("done.start"));
    onplace(null);
    started(body.session);
    return undefined;
  }

  function update() {
    const id = group.input.value;
    staffOnly.hidden = !isStaff(id);
    attends.hidden = !isSponsored;
    isTheirs.hidden = sponsored;
    const problem = obstacle();
    const about = problem || t(source === "map" ? "session.atMap" : "session.atPosition");
    if (said.textContent !== about) said.textContent = about;
    askButton.hidden = Boolean(lastPosition()) || Boolean(positionObstacle());
    onplace(placeNow());
  }

  // Who has agreed before is not asked again. Without a position, the middle of the map is the next best.
  const isKnown = Boolean(lastPosition());
  isPositionAllowed().then(async (isAllowed) => {
    if (!isAllowed && !isKnown) throw new Error("not asked");
    await locate();
  }).catch(() => { if (!lastPosition() && middleOfMap()) source = where.value = "map"; })
    // The form may have gone while the browser was looking.
    .finally(() => { if (element.isConnected) update(); });
  return Object.assign(element, { update });
}

/** The sheet of a new session. `mark(place)` shows on the map where it would be. */
export function newSessionView({ mark }) {
  const open = () => (state.study.classes ?? []).filter(({ closed }) => !closed);
  const none = h("div", { class: "empty" }, h("h3", null, t("session.noClass")),
    h("p", null, t("session.noClass.text")), h("a", { class: "button main", href: "#study/join" }, t("join.heading")));
  const place = h("div", { class: "stack" });
  const element = sheet(t("session.new"), {}, none, place);
  let made = null;
  return Object.assign(element, { left: () => mark(null), moved: () => made?.update(), update: () => {
    const classes = open();
    none.hidden = classes.length > 0 || !state.study.classes;
    if (!made && classes.length) place.append(made = sessionForm({ classes, onplace: mark }));
    made?.update();
  } });
}
