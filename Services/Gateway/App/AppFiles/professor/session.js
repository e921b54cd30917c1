// A session: who is there, and its posts. The class's staff writes and removes posts, and ends sessions.

import { fill, h } from "../lib/dom.js";
import { phoneNow, state } from "../lib/state.js";
import { formatNumber, t } from "../lib/text.js";
import { findSession, isOpen } from "../core/study-state.js";
import { leftText, listText, studyOfApp } from "../study/parts.js";
import { postsView } from "../study/posts.js";
import { pathOfClass } from "./frame.js";
import { classOf } from "./my-classes.js";
import { askAndDo, emptyPage, focusHeading, pageHead, remote } from "./parts.js";
import { formatMoment, formatTime } from "./times.js";

/** Whose sessions the staff of a class ends, by the host's role. */
const endable = { professor: ["student", "ta", "professor"], ta: ["student"] };

const fact = (name, ...content) => h("div", null, h("dt", null, t(`prof.session.${name}`)), h("dd", null, content));
const names = (accounts) => h("span", { class: "names" }, accounts.map((account) => h("span", { class: "tag" },
  h("bdi", null, account))));

/** The page of a session. `id` is its class. */
export function sessionPage({ id, session }) {
  const back = { href: pathOfClass(id), label: classOf(id)?.name ?? t("prof.session.back") };
  const end = h("button", { class: "button danger", type: "button", hidden: true, onclick: endIt },
    t("prof.session.end"));
  const head = pageHead({ heading: t("prof.session.heading"), back, action: end });
  const facts = h("dl", { class: "session-facts panel" });
  const change = h("p", { hidden: true }, h("a", { href: `/app/#study/session/${id}/${session}` },
    t("prof.session.app")));
  const place = h("section", { class: "panel stack" });
  const content = h("div", { class: "stack" }, facts, change, place);
  const nothing = emptyPage({ sign: "clock", heading: t("prof.session.nothing"),
    text: t("prof.session.nothing.text") });
  const element = h("div", { class: "stack" }, head, remote({ isStill: true, show: update,
    load: async () => (await studyOfApp()).load("session", [id, session]),
    content: h("div", null, content, nothing), printOf: () => phoneNow() }));
  let posts = null;
  let print = "";

  const found = () => (classOf(id) ? findSession(state, session) : undefined);

  /** Its host ends it by leaving it. */
  function endIt() {
    const action = found()?.isHost ? "leave" : "end";
    return askAndDo({ heading: t("prof.session.end.question"), text: t("prof.session.end.text"),
      action: t("prof.session.end.do"), done: t("prof.session.end.done"),
      work: async () => (await studyOfApp()).act(action, { class: id, session }) });
  }

  function showFacts(now) {
    const { starts, ends, ended, host, attendants, room, sponsored, place: where } = now;
    fill(facts,
      fact("time", `${formatMoment(starts)}–${formatTime(ends)}`, h("br"),
        ended === undefined ? leftText(now) : t(`prof.end.${ended}`)),
      fact("place", where?.name ? h("bdi", null, where.name) : t("prof.session.noPlace")),
      fact("host", host ? h("bdi", null, host) : t("prof.session.nobody"),
        sponsored ? [" ", h("span", { class: "tag" }, t("prof.session.sponsored"))] : null),
      ended === undefined ? fact("people", t("prof.session.room", { count: attendants.length,
        room: formatNumber(room) }), h("br"), names(attendants))
        : fact("people.ended", t("prof.past.people", { count: attendants.length }), h("br"), names(attendants)));
  }

  function update() {
    const now = found();
    content.hidden = !now;
    nothing.hidden = Boolean(now);
    if (!now) {
      end.hidden = true;
      return;
    }
    const { role } = classOf(id);
    const open = isOpen(state.study, now, phoneNow());
    if (print !== (print = JSON.stringify([now, leftText(now)]))) {
      head.say(listText(now.topics), now.description ? h("span", { dir: "auto" }, now.description) : "");
      showFacts(now);
    }
    const hadFocus = end === document.activeElement;
    end.hidden = !open || !(now.isHost || (endable[role] ?? []).includes(now.host_role));
    if (hadFocus && end.hidden) focusHeading();
    change.hidden = !open || !now.isHost;
    if (!posts) {
      posts = postsView({ session: now, role: () => classOf(id)?.role, removed: role === "professor" });
      fill(place, h("h2", null, t("prof.session.posts")), posts);
    }
    posts.update();
  }

  return Object.assign(element, { update });
}
