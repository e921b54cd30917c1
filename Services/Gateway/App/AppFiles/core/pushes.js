// Pushes reach this browser while the app is closed (Web Push). The browser gets a subscription from the push service
// of its maker, and the hub a copy of it with the topics whose messages it is to get.

import { backoff, deviceClock, wakeUps, within } from "./clock.js";
import { AppError } from "./errors.js";
import { connectionTo } from "./hub.js";
import { knownCube, subjectsOf, subscribedTopics } from "./subscriptions.js";

const path = "/app/push";
const page = "/app/";
/** The end of the address of the service worker that takes pushes. Older browsers have another one. */
const worker = "/push-worker.js";
/** The maximum number of topics: as many as fit into a request's body. */
const maxTopics = 800;
/** How many pushes are remembered, so that a second copy of one makes no sound. */
const maxShown = 200;
/** Changes within this time are told together, in milliseconds. */
const settling = 2_000;
/** How often the hub is told that the subscription is in use, in milliseconds. */
const interval = 86_400_000;
/** After how long the hub is asked again for its key while the app is open, in milliseconds. */
const keyInterval = 3_600_000;
/** When the hub has ended a subscription that has not proven itself, in milliseconds. */
const trial = 3_600_000;
/** The longest pause after failures, in milliseconds. */
const maxPause = 3_600_000;
/** How long a new service worker may take to fetch the app's files, in milliseconds. */
const patience = 60_000;

/** The service worker's registration in this browser: from a page, or from the worker itself. */
const thisBrowser = {
  registration: async () => globalThis.registration ?? navigator.serviceWorker?.getRegistration(page),
  ready: () => navigator.serviceWorker.ready,
};

/** A key as the hub writes it: URL-safe Base64. */
const textOf = (key) => btoa(String.fromCharCode(...new Uint8Array(key))).replaceAll("+", "-").replaceAll("/", "_")
  .replace(/=+$/, "");

/**
 * The pushes to this browser. `hub` is as `gateway`, and `language` returns the person's language, or is absent in the
 * worker, which has the one that a page has told. `tell` is called after changes of what the app's state says about
 * pushes.
 *
 * The app's data have a row for the subscription, `push`: the `id` at the hub and the `secret` that changes it there,
 * the `endpoint` and the `key` at the browser, what the hub was `told` and when (`at`), the `code` of the first push
 * until the hub has it, and whether it is `proven` that pushes arrive. `isOff` says that the hub sends none any more.
 * Without the row pushes are off.
 */
export function pushesOf({ name, database, hub, clock = deviceClock, language, tell, browser = thisBrowser }) {
  const connection = connectionTo(hub, clock);
  const changes = wakeUps(clock);

  /** Does one thing after another, whichever tab or worker does it. */
  const alone = (work) => navigator.locks.request(`${name} pushes`, work);
  const known = () => database.read((tx) => tx.memory("push"));

  async function keep(row) {
    await database.write((tx) => tx.keep("push", row));
    tell();
  }

  async function change(members) {
    await database.write(async (tx) => {
      const row = await tx.memory("push");
      if (row) await tx.keep("push", { ...row, ...members });
    });
    tell();
  }

  /** The hub's answer. Other statuses than those that are expected are errors. */
  async function ask(method, place, expected, { body, secret, signal }) {
    const answer = await connection.answer(method, place, { body, secret, signal });
    if (expected.includes(answer.status)) return answer;
    const { detail = `the hub refused ${place}: status ${answer.status}`, field } = answer.body ?? {};
    throw Object.assign(new AppError("refused", detail, answer.status), { field });
  }

  /** The row's subscription at the hub: its answer has one of these statuses. */
  const askAbout = ({ id, secret }, method, more, expected, body, signal) =>
    ask(method, `${path}/subscriptions/${id}${more}`, expected, { body, secret, signal });

  /** What the hub is to know: the topics whose Alerts come, those whose Information comes too, and the language. */
  const wanted = (row) => database.read(async (tx) => {
    const [topics, chosen] = [await subscribedTopics(tx), (await tx.memory("push subjects")) ?? []];
    const subjects = subjectsOf(await knownCube(tx)).filter(({ topic_key }) => topics.has(topic_key));
    const keysOf = (isListed) => subjects.filter(isListed).map(({ topic_key }) => topic_key).sort();
    // A subject of Information may become one of Alerts. If there are too many, those of today's Alerts are first.
    const alerts = [...keysOf(({ dist }) => dist === "Alert"), ...keysOf(({ dist }) => dist !== "Alert")]
      .slice(0, maxTopics);
    const information = keysOf(({ topic_key }) => chosen.includes(topic_key)).slice(0, maxTopics - alerts.length);
    return { alerts, information, language: language?.() ?? row?.language };
  });

  /** The hub's key. Throws an AppError, "off", if the hub sends no pushes, which the row says from then on. */
  async function hubKey(signal) {
    const { status, body } = await ask("GET", path, [200, 404], { signal });
    const isOff = status === 404;
    if (Boolean((await known())?.isOff) !== isOff) await change({ isOff });
    if (isOff) throw new AppError("off", "the hub sends no pushes");
    return body.key;
  }

  /** Has the hub add the browser's subscription, or a new one. If the hub refuses it, another one is tried, once. */
  async function add(pushManager, key, topics, signal, isAgain = false) {
    const subscription = await pushManager.getSubscription()
      ?? await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
    const { endpoint, keys: { p256dh, auth } } = subscription.toJSON();
    try {
      const { body } = await ask("POST", `${path}/subscriptions`, [201], { signal,
        body: { endpoint, keys: { p256dh, auth }, ...topics } });
      return { id: body.id, secret: body.secret, endpoint };
    } catch (error) {
      // With 409 the first push to it may still come.
      if (error.status !== 400 || error.field !== "endpoint") throw error;
      // The push service may have ended it, and the browser does not know. None is left that would be refused again.
      await subscription.unsubscribe();
      if (isAgain) {
        if (await known()) await change({ proven: false });
        throw error;
      }
      return add(pushManager, key, topics, signal, true);
    }
  }

  /**
   * Subscribes at the browser, if it has no subscription with the hub's key, and tells the hub. With `isGone` the
   * browser's one is replaced: its push service may be why the hub has ended it.
   */
  async function subscribe({ pushManager }, row, signal, isGone = false) {
    const key = await hubKey(signal);
    const subscription = await pushManager.getSubscription();
    // A browser keeps a subscription with the key that it was made with. The hub's may be a new one.
    if (subscription && (isGone || textOf(subscription.options.applicationServerKey ?? []) !== key)) {
      await subscription.unsubscribe();
    }
    const topics = await wanted(row);
    const added = await add(pushManager, key, topics, signal);
    await keep({ ...added, key, language: topics.language, told: JSON.stringify(topics), at: clock.now(),
      proven: false });
  }

  /** Returns the code of the first push to the hub, if there is one. Resolves to whether the subscription is there. */
  async function prove(signal) {
    const row = await known();
    if (!row?.code) return true;
    const { status } = await askAbout(row, "POST", "/proof", [204, 400, 404], { code: row.code }, signal);
    // A wrong code is that of an earlier subscription. One that has ended is renewed by the next refresh.
    const changed = { 204: { proven: true }, 400: {}, 404: { told: "" } };
    await change({ code: undefined, ...changed[status] });
    return status !== 404;
  }

  /**
   * Tells the hub what has changed. Subscribes again if the browser or the hub has ended the subscription, and if the
   * hub has another key: `looks` says whether to ask for it.
   */
  async function refresh(signal, looks = false) {
    const registration = await browser.registration();
    const [row, subscription] = [await known(), await registration?.pushManager.getSubscription()];
    // After the browser has evicted the app's data, its subscription says that pushes are on.
    if (!registration || (!row && !subscription)) return;
    if (subscription?.endpoint !== row?.endpoint) {
      // The person may have withdrawn the permission, and may give it again.
      const permission = await registration.pushManager.permissionState({ userVisibleOnly: true });
      if (permission === "granted") await subscribe(registration, row, signal);
      return;
    }
    const topics = await wanted(row);
    const told = JSON.stringify(topics);
    const isDue = clock.now() - row.at > (row.proven ? interval : trial);
    if ((looks || isDue) && (await hubKey(signal)) !== row.key) {
      await subscribe(registration, row, signal);
    } else if (isDue || told !== row.told) {
      const { status } = await askAbout(row, "PUT", "", [204, 404], topics, signal);
      if (status === 404) await subscribe(registration, row, signal, true);
      else await change({ told, language: topics.language, at: clock.now() });
    }
    await prove(signal);
  }

  /** Whether the person has read or deleted a message, or it was recalled. */
  async function isOver(tx, key) {
    const message = await tx.message(key);
    return message ? message.read : Boolean(await tx.get("removed", key));
  }

  /**
   * Takes away the notifications of messages that are over. With `leavesOne` the last one stays: if none is to be seen
   * at the end of a push, browsers take it for one that has shown nothing.
   */
  async function tidy(leavesOne = false) {
    const shown = await (await browser.registration())?.getNotifications() ?? [];
    let left = shown.length;
    for (const notification of shown) {
      if (leavesOne && left === 1) return;
      const key = notification.data?.msi_key;
      if (key && (await database.read((tx) => isOver(tx, key)))) {
        notification.close();
        left -= 1;
      }
    }
  }

  return {
    /** Something of the app's state has changed. */
    wake: changes.add,
    tidy,

    /**
     * Switches pushes on. The person has given the permission. Throws an AppError: "off" if the hub sends none,
     * "unsupported" if the browser is too old, "later" if the worker that takes them comes with the next start; or what
     * the browser says.
     */
    begin: (signal = AbortSignal.timeout(2 * patience)) => alone(async () => {
      const registration = await within(clock, patience, browser.ready, signal);
      const takesPushes = (each) => each?.scriptURL.endsWith(worker);
      if (!takesPushes(registration.active)) {
        const isComing = takesPushes(registration.waiting) || takesPushes(registration.installing);
        throw isComing ? new AppError("later", "the next start of the app has another service worker")
          : new AppError("unsupported", "an older browser");
      }
      await subscribe(registration, null, signal);
    }),

    /** Switches pushes off. */
    end: (signal = AbortSignal.timeout(patience)) => alone(async () => {
      const row = await known();
      // First at the browser: with a subscription there, the next start would switch them on again.
      await (await (await browser.registration())?.pushManager.getSubscription())?.unsubscribe();
      await keep(undefined);
      // If the hub cannot be reached, it learns of the end from the push service, at its next push.
      if (row) await askAbout(row, "DELETE", "", [204, 404], undefined, signal).catch(() => {});
    }),

    /** Whether Information of a subject is pushed as well. */
    async choose(topic, isOn) {
      await database.write(async (tx) => {
        const others = ((await tx.memory("push subjects")) ?? []).filter((each) => each !== topic);
        const chosen = isOn ? [...others, topic] : others;
        await tx.keep("push subjects", chosen.length ? chosen : undefined);
      });
      tell();
    },

    /** The first push has come, with this code. */
    prove: (code, signal = AbortSignal.timeout(patience)) => alone(async () => {
      await change({ code });
      if (!(await prove(signal))) await refresh(signal);
    }),

    /** The browser has ended the subscription, or has replaced it. */
    renew: (signal = AbortSignal.timeout(patience)) => alone(() => refresh(signal)),

    /**
     * A push of a message is shown. Returns whether it is to make no sound: one of it was shown before, or the person
     * has read or deleted the message.
     */
    note: (key) => database.write(async (tx) => {
      const shown = (await tx.memory("pushed")) ?? [];
      const isKnown = shown.includes(key) || (await isOver(tx, key));
      await tx.keep("pushed", [...shown.filter((each) => each !== key), key].slice(-maxShown));
      return isKnown;
    }),

    /** The language of the person, as a page has told it to the hub last. */
    language: async () => (await known())?.language,

    /** Keeps the hub's copy in step with the app until the signal is aborted. */
    async run(signal, failed) {
      const pauses = backoff(maxPause);
      // The hub is asked for its key at the start, and then at most once an hour: each look at the hub wakes this loop,
      // also that of an app that comes to the front.
      for (let looked = -Infinity; ;) {
        try {
          changes.clear();
          const looks = clock.now() - looked > keyInterval;
          await alone(() => refresh(signal, looks));
          if (looks) looked = clock.now();
          await tidy();
          pauses.succeeded();
          await changes.next(signal, interval);
          await clock.sleep(settling, signal);
        } catch (error) {
          signal.throwIfAborted();
          failed(error);
          if (error.kind === "off") {
            // The person may switch them on again.
            looked = clock.now();
            await changes.next(signal, keyInterval);
          } else await clock.sleep(pauses.failed(), signal);
        }
      }
    },
  };
}
