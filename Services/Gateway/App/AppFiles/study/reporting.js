// The host of a session tells the hub where they are while the app is in front: when it begins, every minute, and when
// it comes to the front. The hub decides whether that is in the session's area, and keeps nothing else of it.

import { state } from "../lib/state.js";
import { isMe, studyOfApp } from "./parts.js";
import { isPositionAllowed, locate } from "./position.js";

/** How often the position is told, in milliseconds. */
const interval = 60_000;

/** Reports while the person hosts the session in which they are. `update()` follows the state. */
export function reporter() {
  let hosted = null;
  let timer = null;
  let isBusy = false;

  const sessionNow = () => {
    const current = state.study.own?.current;
    return current && isMe(current.host) ? current : null;
  };

  async function report() {
    const session = sessionNow();
    // A browser that would have to ask has not been asked: the person has said nothing about this place.
    if (!session || document.hidden || isBusy || !(await isPositionAllowed())) return;
    isBusy = true;
    try {
      const position = await locate(0);
      await (await studyOfApp()).act("report", { class: session.class, session: session.id, position });
    } catch (error) {
      // Silence is not absence. The next minute tries again.
      console.warn(error.message);
    }
    isBusy = false;
  }

  document.addEventListener("visibilitychange", () => { if (!document.hidden) report(); });
  return { update() {
    const id = sessionNow()?.id ?? null;
    if (id === hosted) return;
    hosted = id;
    clearInterval(timer);
    if (id) timer = setInterval(report, interval);
    if (id) report();
  } };
}
