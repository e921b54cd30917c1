// What the app does for the person who is signed in: the people that they know, study sessions, messages and statuses.
// All of it follows one stream of events, in one of the tabs.

import { peopleOf } from "./people.js";
import { personEventsOf } from "./person-events.js";
import { studyOf } from "./study.js";
import { tabsOf } from "./tabs.js";

/**
 * The parts of the app for a person, which from then on are kept in step with the hub: see `people()` of app.js.
 *
 * - `given` has the `name` of the data, the `database`, the `clock`, `tell` and `failed`, which all parts have.
 * - `wakes` is a set of functions that are called after each change of the app's state.
 * - `isInFront` says whether the app is in front, and the `signal` ends it.
 * - `writes` says whether the page has messages between persons, and statuses. Otherwise they are not loaded.
 */
export async function personOf({ given, hub, language, wakes, signal, isInFront, writes }) {
  const [messages, lasting] = writes ? await Promise.all([import("./direct.js"), import("./statuses.js")]) : [];
  const people = peopleOf({ ...given, hub, language });
  const own = { ...given, account: people.account };
  const study = studyOf(own);
  const direct = messages?.directOf({ ...own, isCutOff: () => events.isCutOff() });
  const statuses = lasting?.statusesOf(own);
  const parts = [people, study, ...(direct ? [direct] : [])];
  const changed = (...event) => Promise.all(parts.map((each) => each.happened(...event)));
  const events = personEventsOf({ ...own, changed, classes: study.followed, inClass: study.changed,
    opened: direct?.retry });
  const all = [...parts, ...(statuses ? [statuses] : []), events];
  const lead = tabsOf(`${given.name} people`, () => {});
  wakes.add(() => { for (const each of all) each.wake(); });
  signal.addEventListener("abort", lead.close);
  events.show(isInFront);
  lead.lead(signal, (turn) => Promise.all(all.map((each) => each.run(turn)))).catch(() => {});
  // Of two windows beside each other, the one in which something is looked at follows it.
  const watched = (part) => part && { ...part, watch(what) { if (what) lead.take(); part.watch(what); } };
  return { ...people, direct, study: watched(study), statuses: watched(statuses), show(isShown) {
    if (isShown) lead.take();
    events.show(isShown);
  } };
}
