// The session in which the person is, on every page of the app, and what has become of it. A session that the person
// hosts without being in it is shown once they have left its place.

import { fill, h } from "../lib/dom.js";
import { phoneIcon } from "../lib/phone-icons.js";
import { formatTime } from "../lib/phone-time.js";
import { phoneNow, state } from "../lib/state.js";
import { hasText, t } from "../lib/text.js";
import { presenceAt } from "../core/presence.js";
import { findSession, isOpen, ownSessions } from "../core/study-state.js";
import { toast } from "../elements/toast.js";
import { named } from "../people/parts.js";
import { leave } from "./card.js";
import { isMe, leftText, pathOf, topicsOf } from "./parts.js";
import { reporter } from "./reporting.js";

/** How often the time that is left is shown again, in milliseconds. */
const interval = 10_000;

/** The bar above the tabs. `update()` shows the state. */
export function sessionBar() {
  const title = h("bdi", { class: "session-bar-title" });
  const left = h("span", { class: "session-bar-left" });
  const open = h("a", { class: "session-bar-link" }, phoneIcon("pin", "small"), h("span", { class: "unseen" },
    t("study.current")), title, left);
  const posts = h("a", { class: "pill" }, t("study.posts"));
  const end = h("button", { class: "pill", type: "button", onclick: () => leave(shown) });
  const outside = h("p", { class: "session-bar-note", role: "status" });
  const element = h("section", { class: "session-bar", "aria-label": t("study.current"), hidden: true }, outside, open,
    posts, end);
  const reports = reporter();
  let shown = null;
  /** What was told last of a session that is over for the person. */
  let told = state.study.gone?.at ?? null;

  /** The session that the bar shows. */
  function sessionNow() {
    const current = state.study.own?.current;
    return ownSessions(state.study.own)
      .filter((each) => each === current || presenceAt(state.study, each).state === "outside")
      // A list that was read later may know more of it.
      .map((own) => findSession(state, own.id) ?? own).find((each) => isOpen(state.study, each, phoneNow())) ?? null;
  }

  /** The person hosts the session now, or has it no longer: something else than this page has done that. */
  function tell(current) {
    const { gone } = state.study;
    if (gone && told !== (told = gone.at)) {
      const { ended } = gone.session;
      toast(named(hasText(`ended.${ended}`) ? `ended.${ended}` : "ended.left.other", {
        topics: topicsOf(gone.session) }));
    }
    if (current && shown?.id === current.id && isMe(current.host) && !isMe(shown.host)) {
      toast(named("done.handedOver", { topics: topicsOf(current) }));
    }
  }

  function update() {
    const current = sessionNow();
    tell(current);
    reports.update();
    shown = current;
    element.hidden = !current;
    if (!current) return;
    title.textContent = topicsOf(current);
    left.textContent = leftText(current);
    open.href = pathOf(current);
    posts.href = pathOf(current, "posts");
    const isHost = isMe(current.host);
    if (end.dataset.host !== String(isHost)) {
      end.dataset.host = String(isHost);
      fill(end, t(isHost ? "do.end" : "do.leave"));
      end.classList.toggle("danger", isHost);
    }
    const { state: where, ends } = presenceAt(state.study, current);
    const text = where === "outside" && ends ? t("study.outside.until", { time: formatTime(ends) }) : "";
    if (outside.textContent !== text) outside.textContent = text;
  }

  setInterval(() => { if (state.people.account && state.study.own) update(); }, interval);
  return Object.assign(element, { update });
}
