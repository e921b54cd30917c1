// What the hub brings of messages between persons: it is stored page by page, then the pictures, and then the hub hears
// that this device has all of it.

import { isIdentifier } from "./checks.js";
import { backoff, wakeUps } from "./clock.js";
import { conversationOf, newsOf } from "./direct-documents.js";
import { takeLetters } from "./direct-letters.js";
import { letterOf } from "./direct-state.js";
import { refusal, unreadable } from "./errors.js";
import { patience } from "./kept.js";
import { pathOfMessage } from "./pictures.js";

const store = "direct";
/** How many messages the hub is asked for at once, and how many of a conversation that is opened on a new device. */
const pageSize = 200;
const firstSize = 50;
/** The pause between polls in seconds, if the hub has not said yet which one it wants, and how they differ. */
const defaultPoll = 30;
const variation = 0.2;
/** How long the app waits at its start for the stream of events, before it polls, in milliseconds. */
const startTime = 5_000;
/** The longest pause after failures, in milliseconds. */
const maxPause = 60_000;
/** Whether another attempt brings nothing: the hub refuses a picture, or has one of a type that this version lacks. */
const isFinal = ({ kind, status }) => kind === "unreadable"
  || (kind === "refused" && status < 500 && ![408, 429].includes(status));
/** The position of a device that has fetched nothing. */
const start = { after: 0, isComplete: false, due: 0, confirmed: 0, missing: [] };

/**
 * The inbox of the person of an `account`. The parameters are those of `directOf`, and its `pictures`.
 *
 * The row `position` of the store `direct` has what the hub has told this device (`after`), whether that was all
 * (`isComplete`), up to where there were messages to the person (`due`), up to where the hub knows that they are stored
 * here (`confirmed`), and the messages whose pictures are `missing`.
 */
export function inboxOf({ name, database, account, pictures, clock, tell, failed, isCutOff }) {
  const fetches = wakeUps(clock);
  /** Whether something is new, and the message that an event has named. */
  let isDue = false;
  let prompt;
  /** It was too soon for a poll. For a while only what an event names is fetched. */
  let isResting = false;

  const positionNow = async () => (await database.read((tx) => tx.get(store, "position")))?.value ?? start;

  /** Writes if the person of a device is still signed in. */
  const writeFor = (own, work) => database.write(async (tx) => {
    if ((await tx.get("account", "device"))?.id === own.id) await work(tx);
  });

  async function changePosition(tx, change) {
    const value = (await tx.get(store, "position"))?.value ?? start;
    await tx.put(store, { name: "position", value: { ...value, ...change(value) } });
  }

  async function readPage(path, own, read, signal) {
    const found = await account.authorized("GET", path, { signal });
    // The staff have no messages here, and neither has a hub of an earlier version.
    if ([403, 404].includes(found.status)) return null;
    if (found.status >= 400) throw refusal(path, found);
    const page = read(found.body);
    if (!page) throw unreadable(path);
    return { ...page, letters: page.messages.map((message) => letterOf(message, own.account)) };
  }

  /** Stores the next page of what is new. Resolves to whether there is more. */
  async function fetchPage(own, asked, signal) {
    const { after, isComplete } = await positionNow();
    const query = new URLSearchParams({ after, limit: pageSize, ...(asked && { prompt: asked }) });
    const news = await readPage(`/user/messages?${query}`, own, newsOf, signal);
    if (!news) return false;
    const pictured = news.letters.filter(({ picture }) => picture).map(({ id }) => id);
    const isToPerson = news.letters.some(({ isOwn }) => !isOwn);
    await writeFor(own, async (tx) => {
      await takeLetters(tx, news.letters, news.conversations);
      await changePosition(tx, ({ due, missing }) => ({ after: news.after, isComplete: !news.more,
        due: isToPerson ? news.after : due, missing: [...new Set([...missing, ...pictured])] }));
    });
    // A page may wait for all of it to say that there is nothing.
    if (news.letters.length || news.conversations.length || isComplete === news.more) tell();
    return news.more && news.after > after;
  }

  /** Fetches the pictures of what is stored, and tells the hub that this device has everything. */
  async function complete(own, signal) {
    const { after, due, confirmed, missing } = await positionNow();
    for (const id of missing) {
      await pictures.pictureOf(pathOfMessage(id), { signal })
        .catch((error) => { if (!isFinal(error)) throw error; });
      await writeFor(own, (tx) => changePosition(tx,
        (position) => ({ missing: position.missing.filter((each) => each !== id) })));
    }
    if (due <= confirmed) return;
    const path = "/user/messages/received";
    const found = await account.authorized("PUT", path, { body: { after }, signal });
    if (found.status >= 400) throw refusal(path, found);
    await writeFor(own, (tx) => changePosition(tx, () => ({ confirmed: after })));
  }

  async function fetchAll(asked, signal) {
    const own = await account.device();
    let early = null;
    for (let isMore = Boolean(own); isMore;) {
      isMore = await fetchPage(own, asked, signal).catch((error) => {
        if (error.status !== 429) throw error;
        early = error;
        return false;
      });
      await complete(own, signal);
    }
    if (early) throw early;
  }

  /**
   * Fetches what is new, whichever tab or worker does it. `asked` is the message that an event or a push has named.
   * Throws an AppError; with the status 429 if it was too soon for a poll.
   */
  async function fetch(asked, signal = AbortSignal.timeout(patience)) {
    // Without a secure connection there are no locks, and no accounts.
    if (await account.device()) await navigator.locks.request(`${name} messages`, () => fetchAll(asked, signal));
  }

  function rest(time, signal) {
    isResting = true;
    clock.sleep(time, signal).then(() => {
      isResting = false;
      fetches.add();
    }, () => {});
  }

  /** The pause between polls, in milliseconds. */
  async function pollTime() {
    const { value } = (await database.read((tx) => tx.get("people", "messaging"))) ?? {};
    return (value?.rules.poll ?? defaultPoll) * 1_000 * (1 + variation * Math.random());
  }

  return {
    fetch,

    /** A conversation is opened: a device that does not have everything yet gets its newest messages at once. */
    async open(other, signal = AbortSignal.timeout(patience)) {
      const own = await account.device();
      if (!own || (await positionNow()).isComplete) return;
      const path = `/user/conversations/${encodeURIComponent(other)}?limit=${firstSize}`;
      const page = await readPage(path, own, conversationOf, signal);
      if (!page) return;
      await writeFor(own, (tx) => takeLetters(tx, page.letters, page.conversations));
      tell();
    },

    /** Something has happened to the person: see people.js. `id` is the message that the event names. */
    happened(kind, signal, service, id) {
      if ((service && service !== "messaging") || (kind !== null && kind !== "messages")) return;
      isDue = true;
      if (isIdentifier(id)) prompt = id;
      fetches.add();
    },

    /** Fetches what events are about; without a stream of them, from time to time. */
    async run(signal) {
      const pauses = backoff(maxPause);
      isResting = false;
      await fetches.next(signal, startTime);
      for (let pause; ; await fetches.next(signal, pause)) {
        fetches.clear();
        pause = maxPause;
        if (isResting && !prompt) continue;
        const [isWanted, asked] = [isDue || isCutOff(), prompt];
        [isDue, prompt] = [false, undefined];
        try {
          pause = await pollTime();
          if (isWanted) await fetch(asked, signal);
          pauses.succeeded();
        } catch (error) {
          signal.throwIfAborted();
          isDue = error.kind !== "signed out";
          if (error.status === 429) rest(Math.max(error.wait ?? 0, pause), signal);
          else if (isDue) {
            failed(error);
            prompt ??= asked;
            pause = (error.wait ?? 0) + pauses.failed();
          }
        }
      }
    },
  };
}
