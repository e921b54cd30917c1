// The statuses of the app's core, over the people of people.js: ann is signed in, and ben and cleo are her friends.

import { deviceClock } from "/core/clock.js";
import { statusesOf } from "/core/statuses.js";
import { shownStatuses } from "/core/statuses-state.js";
import { identifierOf } from "./names.js";
import { peopleWith } from "./people.js";

const day = 86_400_000;
const picture = { type: "jpeg", width: 4, height: 3, bytes: 9 };

/**
 * Statuses with a hub whose clock is `ahead` by milliseconds, which has those of `friends` by account and the person's
 * `own` one, wants `poll` seconds between two looks, and was told which were `seen`. `told` counts the changes.
 */
export async function statusesWith() {
  const it = Object.assign(await peopleWith(), { friends: {}, own: null, ahead: 0, poll: 30, seen: [], told: 0 });
  const { hub, database, people } = it;
  const clock = { ...deviceClock, now: () => Date.now() + it.skipped,
    sleep: (milliseconds, signal) => deviceClock.sleep(milliseconds / it.pace, signal) };
  const now = () => clock.now() + it.ahead;
  let asked = -Infinity;

  /** The app's state has changed. */
  const tell = () => {
    it.told += 1;
    it.tell();
    it.statuses.wake();
  };
  it.statuses = statusesOf({ database, account: people.account, clock, tell,
    failed: (error) => it.failures.push(error.message) });
  const statusOf = (name, content) => ({ id: identifierOf(name), at: now(), expires: now() + day, ...content });
  /** Somebody has a status from now on. */
  it.show = (account, text) => {
    it.friends[account] = { account, seen: false, ...statusOf(`${account} ${text}`, { text }) };
  };
  const isThere = (status) => status && status.expires > now();

  Object.assign(hub.answers, {
    "GET /user/statuses": () => {
      if (clock.now() - asked < it.poll * 1_000) return { status: 429, body: {} };
      asked = clock.now();
      return { status: 200, body: { statuses: Object.values(it.friends).filter(isThere),
        own: isThere(it.own) ? it.own : undefined, now: now() } };
    },
    "POST /user/status": ({ text, picture: id }) => {
      it.own = { seen: 0, ...statusOf(text ?? id, { text, picture: id && picture }) };
      return { status: 201, body: it.own };
    },
    "GET /user/status": () => ({ status: 200, body: { status: it.own ?? undefined, now: now() } }),
    "DELETE /user/status": () => {
      it.own = null;
      return { status: 204, body: null };
    },
    "PUT /user/statuses/seen": ({ statuses: ids }) => {
      it.seen.push(...ids);
      for (const friend of Object.values(it.friends)) friend.seen ||= ids.includes(friend.id);
      return { status: 204, body: null };
    },
  });

  /** What a page shows when so many milliseconds have passed. */
  it.shown = async (later = 0) => {
    const { own, list } = shownStatuses(await it.whole(), clock.now() + later);
    return { own: own?.text ?? null,
      friends: list.map(({ account, text, seen }) => `${account}: ${text}${seen ? " (seen)" : ""}`) };
  };
  /** The loop of the core, until the function that it returns is called. */
  it.follow = () => {
    const end = new AbortController();
    const running = it.statuses.run(end.signal).catch(() => {});
    return async () => { end.abort(); await running; };
  };
  /** How often the hub was asked for a path since the last call. */
  it.asked = (path) => hub.takeAsked().filter((request) => `${request.method} ${request.path}` === path).length;
  await database.write((tx) => tx.put("people", { name: "friends", value: ["ben", "cleo"] }));
  return it;
}
