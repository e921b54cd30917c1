// The card of a session: what it is about, who is there, and what the person can do.

import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { phoneIcon } from "../lib/phone-icons.js";
import { phoneNow, state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { presenceAt } from "../core/presence.js";
import { classOf, findSession, isOpen, roleIn } from "../core/study-state.js";
import { reasonOf } from "../people/reasons.js";
import { hide, named } from "../people/parts.js";
import { act, ask, className, distanceText, isMe, leftText, listOf, partsOf, pathOf, portrait, questionOfLeaving, sheet,
  studyOfApp, topicsOf, waitingStudy } from "./parts.js";
import { lastPosition } from "./position.js";

/** How many people the card shows by themselves. */
const maxPortraits = 3;

/** Joins a session, after a question if that ends or leaves another one. Resolves to whether the person is there. */
export async function join({ class: id, id: session, topics }) {
  const question = state.study.own?.current?.id === session ? null : questionOfLeaving();
  if (question && !(await ask(question.heading, question.text, question.action))) return false;
  return (await act("join", { class: id, session, leave: Boolean(question) }, named("done.join", {
    topics: topicsOf({ topics }) }))) !== null;
}

/** Leaves a session, or ends it: the person's own one, or as the class's staff that of somebody else. */
export async function leave(session) {
  const topics = topicsOf(session);
  const about = { class: session.class, session: session.id };
  if (isMe(session.host)) {
    const isWanted = await ask(named("question.end", { topics }), t("question.end.text"), t("question.end.do"));
    return isWanted ? act("leave", about, named("done.end", { topics })) : null;
  }
  return act("leave", about, named("done.leave", { topics }));
}

async function endAsStaff(session) {
  const topics = topicsOf(session);
  const isWanted = await ask(named("question.end", { topics }), t("question.end.staff"), t("question.end.do"));
  if (isWanted) await act("end", { class: session.class, session: session.id }, named("done.end", { topics }));
}

/** Whether the staff of a class ends the session of a host: teaching assistants those of students. */
const mayEnd = ({ class: id, host_role: role }) => ({ professor: true, ta: role === "student" }[
  roleIn(state.study, id)] ?? false);

/** Those who are there: the person, friends, and then the others in the order of their coming. */
function inOrder({ attendants, friends }) {
  const rankOf = (name) => (isMe(name) ? 0 : friends.includes(name) ? 1 : 2);
  return [...attendants].sort((one, other) => rankOf(one) - rankOf(other));
}

/** Who is there, in words, and the rest as a number: the content of an element. */
function peopleText(found) {
  const names = inOrder(found);
  if (!names.length) return t("study.nobody");
  const shown = names.slice(0, names.length > maxPortraits ? maxPortraits - 1 : maxPortraits);
  const texts = shown.map((name) => (isMe(name) ? t("study.you")
    : found.friends.includes(name) ? named("study.nameOfFriend", { name }) : name));
  const rest = names.length - shown.length;
  return listOf([...texts, ...(rest ? [t("study.others", { count: rest })] : [])]);
}

function hostText({ host, host_role: role, sponsored, isHost }) {
  const name = isHost ? t("study.you") : host;
  if (!name) return "";
  if (!sponsored) return named("study.host", { name });
  return named(role === "professor" ? "study.host.professor" : "study.host.ta", { name });
}

/** The sheet of a session. `update()` shows what the app knows of it now. */
export function sessionCard(id, session) {
  const said = h("p", { class: "notice", role: "status" });
  const again = h("button", { class: "button", type: "button", hidden: true, onclick: load }, t("people.again"));
  const where = h("p", { class: "secondary session-where" });
  const time = h("span", { class: "tag good session-time" });
  const description = h("p", { class: "text", dir: "auto" });
  const people = h("a", { class: "session-people" });
  const host = h("p", { class: "hint" });
  const presence = h("p", { class: "notice", role: "status" });
  const buttons = h("div", { class: "actions" });
  const waiting = waitingStudy();
  // Who was there can read what was written.
  const posts = h("a", { class: "button", href: pathOf({ class: id, id: session }, "posts"), hidden: true },
    phoneIcon("bubble", "small"), t("study.posts"));
  const content = h("div", { class: "stack", hidden: true }, h("div", { class: "session-line" }, where, time),
    description, people, host, presence, buttons);
  const element = sheet("", { dir: "auto" }, h("div", { class: "stack" }, said, again, posts, waiting, content));
  const heading = element.querySelector("h2");
  let print = "";
  let isLoaded = false;

  const link = (found, name, label, sign = null) => h("a", { class: "button", href: pathOf(found, name) }, sign, label);
  const button = (label, kind, onclick) => h("button", { class: `button ${kind}`, type: "button", onclick }, label);

  /** What the person can do, the main action first. */
  function actionsOf(found) {
    const isThere = found.isThere || found.isHost;
    const isFull = found.attendants.length >= found.room;
    return [
      found.isThere ? null : isFull ? h("p", { class: "notice" }, t("study.full"))
        : button(t("do.join"), "main", () => join(found)),
      link(found, "posts", t("study.posts"), phoneIcon("bubble", "small")),
      isThere ? link(found, "invite", t("do.invite"), icon("plus", "small")) : null,
      found.isHost ? [link(found, "edit", t("do.edit"), icon("edit", "small")), link(found, "host", t("do.handOver"))]
        : null,
      isThere ? button(t(found.isHost ? "do.end" : "do.leave"), found.isHost ? "danger" : "", () => leave(found))
        : mayEnd(found) ? button(t("do.end"), "danger", () => endAsStaff(found)) : null,
      found.isThere || isFull ? null : h("p", { class: "hint" }, t("study.joinShows")),
    ];
  }

  function show(found) {
    const { class: group, place, distance, friends } = found;
    const far = distance !== null && distanceText(distance);
    heading.textContent = topicsOf(found);
    fill(where, partsOf([className(group), place?.name, far]));
    description.textContent = found.description ?? "";
    description.hidden = !found.description;
    people.href = pathOf(found, "who");
    fill(people, inOrder(found).slice(0, maxPortraits).map((name) => portrait(name, friends.includes(name))),
      h("span", { class: "row-text" }, h("span", null, peopleText(found))), icon("next", "small"));
    fill(host, hostText(found));
    const hadFocus = buttons.contains(document.activeElement);
    fill(buttons, actionsOf(found));
    if (hadFocus) heading.focus({ preventScroll: true });
  }

  /** Whether the host is in the area, as the hub says after a report. */
  function presenceText(found) {
    return found.isHost && presenceAt(state.study, found).state === "outside" ? t("study.outside") : "";
  }

  async function load() {
    hide(again);
    try {
      await (await studyOfApp()).load("session", [id, session]);
      isLoaded = true;
    } catch (error) {
      if (error.kind === "signed out" || findSession(state, session)) return;
      say(reasonOf(error));
      again.hidden = false;
    }
  }

  function say(text) {
    if (said.textContent !== text) said.textContent = text;
  }

  load();
  return Object.assign(element, { update: () => {
    waiting.update();
    const found = findSession(state, session, lastPosition());
    const isKnown = Boolean(found && classOf(state.study, found.class));
    const isNow = isKnown && isOpen(state.study, found, phoneNow());
    // The hub tells of the end only those who may read the posts.
    const isOver = isKnown && found.ended !== undefined;
    content.hidden = !isNow;
    posts.hidden = !isOver;
    if (isOver) heading.textContent = topicsOf(found);
    if (!isNow) {
      if (isOver || (isLoaded && state.study.classes)) say(t(isOver ? "study.409.ended" : "study.gone"));
      if (!heading.textContent) heading.textContent = t("study.session");
      return;
    }
    say("");
    time.textContent = leftText(found);
    presence.textContent = presenceText(found);
    if (print === (print = JSON.stringify([found, className(found.class)]))) return;
    show(found);
  } });
}
