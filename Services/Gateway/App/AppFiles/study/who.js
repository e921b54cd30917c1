// Who is at a session. Only the session that somebody joined says where they are.

import { h } from "../lib/dom.js";
import { phoneNow, state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { findSession, isOpen } from "../core/study-state.js";
import { refill } from "../people/parts.js";
import { isMe, pathOf, portrait, sheet } from "./parts.js";

const tag = (text, kind = "") => h("span", { class: `tag ${kind}` }, text);

function row(name, { host, friends }) {
  const isFriend = friends.includes(name);
  const link = isMe(name) ? h("span", { class: "row-text" }, h("bdi", null, name))
    : h("a", { class: "row-text", href: `#people/person?account=${encodeURIComponent(name)}` }, h("bdi", null, name));
  return h("li", { class: "row person" }, portrait(name, isFriend), link, h("span", { class: "actions" },
    isMe(name) ? tag(t("study.you")) : null, isFriend ? tag(t("study.friend"), "good") : null,
    host === name ? tag(t("study.isHost")) : null));
}

/** The sheet with the attendants of a session. */
export function whoView(id, session) {
  const list = h("ul", { class: "plain group" });
  const none = h("p", { class: "hint" }, t("study.nobody"));
  const element = sheet(t("who.heading"), { back: pathOf({ class: id, id: session }) },
    h("p", { class: "secondary" }, t("who.text")), list, none);
  let print = "";
  return Object.assign(element, { update: () => {
    const found = findSession(state, session);
    // Nobody is where a session was.
    const names = found && isOpen(state.study, found, phoneNow()) ? found.attendants : [];
    list.hidden = !names.length;
    none.hidden = names.length > 0;
    if (print === (print = JSON.stringify([names, found?.friends, found?.host]))) return;
    refill(list, () => element.querySelector("h2"), names.map((name) => row(name, found)));
  } });
}
