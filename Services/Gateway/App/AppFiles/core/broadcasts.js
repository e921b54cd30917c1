// Broadcasts at the app's start, and the features that they switch. The app asks the hub for them.

import { byBeginning, cardOf, dataOf, featuresOf, isBroadcast, isFor, isWithdrawal } from "./broadcast.js";
import { isListOf, isObject } from "./checks.js";
import { refused, unreadable } from "./errors.js";
import { subscribedChannels, subscribedTopics } from "./subscriptions.js";

const path = "/broadcast/active";
/** The maximum number of channels in a request. */
const maxChannels = 200;
/** What has expired is remembered for as long as old versions may come, in milliseconds. */
const memory = 35 * 86_400_000;
const any = () => true;

/** The paths of the requests for channels; one if there are none. */
function questionsAbout(channels) {
  const questions = [];
  for (let begin = 0; begin < channels.length; begin += maxChannels) {
    questions.push(`${path}?channel=${channels.slice(begin, begin + maxChannels)}`);
  }
  return questions.length ? questions : [path];
}

/** Stores a version. Returns whether it is later than the one that the app knew. */
async function add(tx, { id, version, expires, ...document }) {
  const known = await tx.get("broadcasts", id);
  if (known && known.version >= version) return false;
  // An expired one is stored as well: it replaces an earlier one that lasts longer, and the clock may be ahead.
  await tx.put("broadcasts", { id, version, expires, document, closed: false });
  return true;
}

/** Removes every version up to the named one. Returns whether the app could have shown one of them. */
async function withdraw(tx, { id, version, expires }) {
  const known = await tx.get("broadcasts", id);
  if (known && (known.version > version || (known.version === version && !known.document))) return false;
  await tx.put("broadcasts", { id, version, expires, document: null, closed: false });
  return Boolean(known?.document);
}

/** The broadcasts that have not expired at a time. */
const current = async (tx, time) => (await tx.all("broadcasts"))
  .filter(({ document, expires }) => document && expires > time)
  .map(({ document, ...rest }) => ({ ...document, ...rest }));

/** The channels whose broadcasts the person has switched off. */
export const channelsOff = async (tx) => (await tx.memory("broadcasts off")) ?? [];

/** The channels about which the app asks the hub. */
export async function askedChannels(tx) {
  const off = await channelsOff(tx);
  return (await subscribedChannels(tx)).filter((channel) => !off.includes(channel));
}

/** The broadcasts. `arrived` is called when there is another one. */
export function broadcastsOf({ database, clock, hub, language, failed, arrived }) {
  /** Takes over what an answer has, without what cannot be read. Returns whether all of it could be read. */
  async function take({ broadcasts, withdrawn }) {
    const [known, over] = [broadcasts.filter(isBroadcast), withdrawn.filter(isWithdrawal)];
    const changes = await database.write(async (tx) => {
      const made = [];
      for (const broadcast of known) made.push(await add(tx, broadcast));
      for (const withdrawal of over) made.push(await withdraw(tx, withdrawal));
      return made;
    });
    if (changes.includes(true)) arrived();
    return changes.length === broadcasts.length + withdrawn.length;
  }

  /** The broadcasts for this person that have begun and not expired. */
  async function active(tx) {
    const off = await channelsOff(tx);
    const topics = new Set([...(await subscribedTopics(tx)), ...(await subscribedChannels(tx))]
      .filter((topic) => !off.includes(topic))).add("general");
    return (await current(tx, clock.now())).filter((each) => each.starts <= clock.now() && isFor(each, topics));
  }

  return {
    /** The app is started. */
    started: () => database.write(async (tx) => {
      const old = (await tx.all("broadcasts")).filter(({ expires }) => expires < clock.now() - memory);
      for (const { id } of old) await tx.remove("broadcasts", id);
      // The clock may be wrong: the hub is to send again what it still has.
      if (old.length) await tx.keep("broadcast tags", undefined);
    }),

    /** Asks the hub for what is active. */
    async refresh(channels, signal) {
      const known = (await database.read((tx) => tx.memory("broadcast tags"))) ?? {};
      const tags = {};
      for (const question of questionsAbout(channels)) {
        const { status, body, tag } = await hub.answer("GET", question, { tag: known[question], signal });
        if (status === 304) tags[question] = known[question];
        else if (status !== 200) throw refused(path, status);
        else if (!isObject(body) || !isListOf(body.broadcasts, any) || !isListOf(body.withdrawn, any)) {
          throw unreadable(path);
        } else if (await take(body)) tags[question] = tag;
        // A later version of the app may read what this one cannot: without the tag the hub sends it again.
        else failed(unreadable(path));
      }
      await database.write((tx) => tx.keep("broadcast tags", tags));
    },

    /** The cards that the app shows now: those that cannot be closed come first, then the latest ones. */
    async cards(tx) {
      const open = (await active(tx)).filter(({ closed }) => !closed);
      return open.sort((a, b) => b.starts - a.starts || a.id - b.id).map((each) => cardOf(each, language()))
        .filter(Boolean).sort((a, b) => a.cancellable - b.cancellable);
    },

    features: async (tx) => featuresOf(await active(tx), await tx.memory("installation")),

    /** The data for the app without the name of a feature: what began last first. */
    data: async (tx) => (await active(tx)).sort(byBeginning).reverse().map(dataOf).filter(Boolean),

    /** Closes a card for good. A later version is shown. */
    close: ({ id, version }) => database.write(async (tx) => {
      const known = await tx.get("broadcasts", Number(id.replace("hub-", "")));
      if (known?.version === version) await tx.put("broadcasts", { ...known, closed: true });
    }),

    /** Switches the broadcasts of a channel on or off. Those for everyone always come. */
    set: (channel, areOn) => database.write(async (tx) => {
      const others = (await channelsOff(tx)).filter((each) => each !== channel);
      await tx.keep("broadcasts off", areOn ? others : [...others, channel]);
    }),

    /** The moments after a time at which broadcasts begin or end. */
    moments: async (tx, time) => (await current(tx, time)).flatMap(({ starts, expires }) => [starts, expires])
      .filter((moment) => moment > time),
  };
}
