// What the pages about study sessions are made of.

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { app, phoneNow, state } from "../lib/state.js";
import { charactersOf, hasText, language, t } from "../lib/text.js";
import { classOf, hubTime, isOpen, roleIn, withFacts } from "../core/study-state.js";
import { dialogButtons, showDialog } from "../elements/dialog.js";
import { toast } from "../elements/toast.js";
import { waitingList } from "../people/actions.js";
import { isSame, named } from "../people/parts.js";
import { reasonOf } from "../people/reasons.js";

const minute = 60_000;
const lists = new Intl.ListFormat(language, { type: "conjunction" });

/** The study sessions of the app's core. */
export const studyOfApp = async () => (await app.people()).study;

/**
 * A sheet over the map, with its heading and the way back to the map. `back` is another place that it leads to. Pages
 * of their own have the same form: see people/parts.js.
 */
export const sheet = (heading, { back = "#study", dir = null } = {}, ...content) => h("div", { class: "view sheet" },
  h("header", { class: "head" }, h("div", { class: "head-line" }, h("h2", { tabIndex: -1, dir }, heading),
    h("a", { class: "round", href: back, title: t("study.close"), "aria-label": t("study.close") }, icon("cross")))),
  content);

/** The address of a sheet about a session: its `card`, or another one by its name. */
export const pathOf = ({ class: id, id: session }, name = "session") => `#study/${name}/${id}/${session}`;

/** The session with what the page knows of it. */
export const known = (session) => (session.tone ? session : withFacts(state, session));

/** Some names or topics in a sentence. */
export const listText = (texts) => lists.format(texts);

/** The same as the content of an element, in which each of them keeps its own direction. */
export function listOf(items) {
  let place = 0;
  return lists.formatToParts(items.map(() => "-")).map(({ type, value }) => (type === "element"
    ? h("bdi", null, items[place++]) : value));
}

/** Some facts in a line; those that are empty are left out. */
export const partsText = (parts) => parts.filter(Boolean).join(" · ");

/** The same as the content of an element, in which each of them keeps its own direction. */
export const partsOf = (parts) => parts.filter(Boolean).map((part, place) => [place ? " · " : null,
  h("bdi", null, part)]);

export const topicsOf = ({ topics }) => listText(topics);

/** The name of a class; "" for one that the app does not know. */
export const className = (id) => classOf(state.study, id)?.name ?? "";

export const isMe = (name) => isSame(name ?? "", state.people.account ?? "");

/** Whether the person is of the staff of a class. */
export const isStaff = (id) => ["ta", "professor"].includes(roleIn(state.study, id));

/** A length in minutes: 1 h 20 min. */
export function durationText(minutes) {
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return hours && rest ? t("study.hoursMinutes", { hours, minutes: rest }) : hours ? t("study.hours", { hours })
    : t("study.minutes", { minutes: rest });
}

/** The minutes until a session ends, by the hub's clock. */
export const minutesLeft = ({ ends }) => Math.max(0, Math.ceil((ends - hubTime(state.study, phoneNow())) / minute));

/** How long a session still takes, or that it is over. */
export function leftText(session) {
  const minutes = minutesLeft(session);
  if (session.ended !== undefined || !minutes) return t("study.over");
  return t("study.left", { time: durationText(minutes) });
}

/** A distance in metres: 80 m, 1.2 km. */
export const distanceText = (metres) => (metres < 1_000 ? t("study.metres", { metres: Math.round(metres / 10) * 10 })
  : t("study.kilometres", { kilometres: Math.round(metres / 100) / 10 }));

/** What a session is for the person, and whose it is: the kinds of tags with their words, on the map and in lists. */
export const tagsOf = ({ isThere, isHost, invitedBy, sponsored }) => [isThere ? ["good", t("study.here")] : null,
  isHost && !isThere ? ["good", t("study.hosting")] : null, invitedBy ? ["busy", t("study.invited")] : null,
  sponsored ? ["", t("study.sponsored")] : null].filter(Boolean);

/** A picture in the place of a person's one, with a ring for a friend. */
export const portrait = (name, isFriend = false) => h("span", { class: `portrait ${isFriend ? "is-friend" : ""}`,
  "aria-hidden": "true" }, charactersOf(name)[0].toUpperCase());

/** The sign of a class, as its pins have it. */
export const classSign = (tone) => h("span", { class: "class-sign", dataset: { tone }, "aria-hidden": "true" });

/** Does something by `work`, and says `done` or what came of it. Resolves to the outcome; `null` if the hub refuses. */
export async function tell(work, done = "") {
  try {
    const found = await work(await studyOfApp());
    if (found.outcome === "waits") toast(t("people.waits"));
    else if (done) toast(done);
    return found;
  } catch (error) {
    toast(reasonOf(error));
    return null;
  }
}

/** What the person has done about classes and sessions, and the hub has not answered, or has refused later. */
export const waitingStudy = () => waitingList({ waits: () => state.study.waits, of: studyOfApp });

/** The person does something: see the actions of the core's study.js. */
export const act = (action, about, done = hasText(`done.${action}`) ? t(`done.${action}`) : "") =>
  tell((study) => study.act(action, about), done);

/** Asks a question that names the thing. Resolves to whether the person wants it. */
export const ask = (heading, text, action) => showDialog({ heading, role: "alertdialog", make: (close) => [
  h("p", { class: "secondary" }, text), dialogButtons(close, h("button", { class: "button danger", type: "button",
    onclick: () => close(true) }, action))] });

/** The session that the person is in, as a question about what ends with joining another one. */
export function questionOfLeaving() {
  const current = state.study.own?.current;
  if (!current || !isOpen(state.study, current, phoneNow())) return null;
  const topics = topicsOf(current);
  const isEnd = isMe(current.host);
  return { heading: named(isEnd ? "question.switch.host" : "question.switch", { topics }),
    text: t(isEnd ? "question.switch.host.text" : "question.switch.text"), action: t("do.switch") };
}
