// The host of a session tells the hub where they are while the app is in front: when it begins, every minute, and when
// it comes to the front. The hub decides whether that is in the session's area, and keeps nothing else of it. Of a
// session that they host from afar it is told only once they have come near: before, it would change nothing.

import { presenceAt } from "../core/presence.js";
import { distanceOf, isOpen, ownSessions } from "../core/study-state.js";
import { phoneNow, state } from "../lib/state.js";
import { isMe, studyOfApp } from "./parts.js";
import { isPositionAllowed, locate } from "./position.js";

/** How often the position is told, in milliseconds. */
const interval = 60_000;

/** The open sessions that the person hosts: the one in which they are, and those that they host from afar. */
function hostedNow() {
  return ownSessions(state.study.own).filter((each) => isMe(each.host) && isOpen(state.study, each, phoneNow()));
}

/** Whether the hub would say that a position is in the area of a place. */
async function isNear(place, position, study) {
  const { rules } = state.study.rules ?? (await study.load("rules"));
  return Boolean(place) && position.accuracy <= rules.accuracy
    && distanceOf(place, position) <= rules.radius + position.accuracy;
}

/** Tells the position for a session, if that may change something. */
async function tell(session, position, study) {
  const { class: id, id: own, place } = session;
  const hasBeenThere = ["inside", "outside"].includes(presenceAt(state.study, session).state);
  const counts = state.study.own?.current?.id === own || hasBeenThere || (await isNear(place, position, study));
  if (counts) await study.act("report", { class: id, session: own, position });
}

/** Reports while the person hosts a session. `update()` follows the state. */
export function reporter() {
  let hosted = "";
  let timer = null;
  let isBusy = false;

  async function report() {
    // A browser that would have to ask has not been asked: the person has said nothing about this place.
    if (!hostedNow().length || document.hidden || isBusy || !(await isPositionAllowed())) return;
    isBusy = true;
    try {
      const [position, study] = [await locate(0), await studyOfApp()];
      const told = await Promise.allSettled(hostedNow().map((session) => tell(session, position, study)));
      for (const { reason } of told) if (reason) console.warn(reason.message);
    } catch (error) {
      // Silence is not absence. The next minute tries again.
      console.warn(error.message);
    }
    isBusy = false;
  }

  document.addEventListener("visibilitychange", () => { if (!document.hidden) report(); });
  return { update() {
    const ids = hostedNow().map(({ id }) => id).join(" ");
    if (ids === hosted) return;
    hosted = ids;
    clearInterval(timer);
    if (!ids) return;
    timer = setInterval(report, interval);
    report();
  } };
}
