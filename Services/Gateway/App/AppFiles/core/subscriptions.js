// The information cube, and the subjects that the person has joined.

import { isIdentifier, isListOf, isObject, isText, isTopicKey } from "./checks.js";
import { denied, refused, unreadable } from "./errors.js";
import { newTopic, plan, withSubscription } from "./plan.js";

const path = "/channel";
const levels = ["Forced", "Recommended"];

const isSubject = (subject) => isObject(subject) && isTopicKey(subject.topic_key) && isText(subject.name)
  && isText(subject.desc) && isObject(subject.opt) && isText(subject.opt.level) && isText(subject.opt.distribution);
const isArea = (area) => isObject(area) && isIdentifier(area.id) && isText(area.name)
  && isListOf(area.subjects, isSubject);
const isChannel = (channel) => isObject(channel) && isIdentifier(channel._id) && isText(channel.name)
  && isListOf(channel.areas, isArea);

/**
 * Reads the answer of `GET /channel`; `null` if it is no cube. A level that this version of the app does not know
 * leaves the subscription to the person. Channels and areas without subjects are left out.
 */
function cubeOf(document) {
  if (!isListOf(document, isChannel)) return null;
  const subjectOf = ({ topic_key, name, desc, opt }) => ({ topic_key, name, desc,
    level: levels.includes(opt.level) ? opt.level : "",
    dist: opt.distribution === "Alert" ? "Alert" : "Information" });
  const areasOf = (areas) => areas.filter(({ subjects }) => subjects.length)
    .map(({ id, name, subjects }) => ({ id, name, subjects: subjects.map(subjectOf) }));
  return document.map(({ _id, name, areas }) => ({ id: _id, name, areas: areasOf(areas) }))
    .filter(({ areas }) => areas.length);
}

/** The subjects of a cube, each with the `channel` that it is in, and with its `names` from the outside in. */
export const subjectsOf = (cube) => cube.flatMap((channel) => channel.areas.flatMap((area) => area.subjects
  .map((subject) => ({ ...subject, channel: channel.id, names: [channel.name, area.name, subject.name] }))));

/** The cube of the last look: channels with their areas and subjects. Empty before the first look. */
export const knownCube = async (tx) => (await tx.memory("cube")) ?? [];

const isSubscribed = (topic) => Boolean(topic?.present && topic.subscribed);

/** The topics that the person is subscribed to. */
export const subscribedTopics = async (tx) => new Set((await tx.all("subscriptions")).filter(isSubscribed)
  .map(({ topic_key }) => topic_key));

/** The topics that were joined and whose messages of the week are to be fetched. */
export const joinedTopics = async (tx) => (await tx.all("subscriptions")).filter(({ week_pending }) => week_pending)
  .map(({ topic_key }) => topic_key);

/**
 * The channels in which the person is subscribed to a subject, sorted, so that apps with the same channels ask the
 * same. The cube knows them: a subject that was moved keeps the topic key of the channel in which it was added.
 */
export async function subscribedChannels(tx) {
  const subscribed = await subscribedTopics(tx);
  const subjects = subjectsOf(await knownCube(tx)).filter(({ topic_key }) => subscribed.has(topic_key));
  return [...new Set(subjects.map(({ channel }) => channel))].sort();
}

/** The cube with the person's subscriptions. */
export async function subjectTree(tx) {
  const topics = new Map((await tx.all("subscriptions")).map((topic) => [topic.topic_key, topic]));
  const merged = (subject) => {
    const topic = topics.get(subject.topic_key);
    const subscribed = isSubscribed(topic);
    return { ...subject, subscribed, muted: subscribed && subject.level !== "Forced" && topic.muted };
  };
  return (await knownCube(tx)).map((channel) => ({ ...channel, areas: channel.areas
    .map((area) => ({ ...area, subjects: area.subjects.map(merged) })) }));
}

/** What the person and the cube decide about subscriptions. */
export function subscriptionsOf({ database, hub }) {
  /** Reads the cube from the hub, unless it is the one that the app has. */
  async function readCube(signal) {
    const [known, tag] = await database.read((tx) => Promise.all([tx.memory("cube"), tx.memory("cube tag")]));
    const { status, body, tag: newTag } = await hub.answer("GET", path, { tag: known && tag, signal });
    if (status === 304 && known) return known;
    if (status !== 200) throw refused(path, status);
    const cube = cubeOf(body);
    if (!cube) throw unreadable(path);
    await database.write((tx) => Promise.all([tx.keep("cube", cube), tx.keep("cube tag", newTag ?? undefined)]));
    return cube;
  }

  const change = (key, changed) => database.write(async (tx) => {
    await tx.put("subscriptions", changed((await tx.get("subscriptions", key)) ?? newTopic(key)));
  });

  const isForced = ({ level, present }) => present && level === "Forced";

  return {
    /** Reads the cube, and joins and leaves subjects accordingly. */
    async follow(signal) {
      const subjects = subjectsOf(await readCube(signal));
      await database.write(async (tx) => {
        for (const topic of plan(subjects, await tx.all("subscriptions"))) await tx.put("subscriptions", topic);
      });
    },

    /** Joins a subject, or leaves it. That ends what was muted. */
    choose: (key, subscribed) => change(key, (topic) => {
      if (!subscribed && isForced(topic)) throw denied(409, "a required subject cannot be left");
      return withSubscription({ ...topic, choice: subscribed ? "joined" : "left", muted: false }, subscribed);
    }),

    /** Mutes a subject, or ends that. Its messages come as before. */
    mute: (key, muted) => change(key, (topic) => {
      if (isForced(topic)) throw denied(409, "a required subject cannot be muted");
      if (!isSubscribed(topic)) throw denied(409, "only a subject with a subscription can be muted");
      return { ...topic, choice: "joined", muted };
    }),

    /** The week's messages of topics were fetched. */
    weekFetched: (keys) => database.write(async (tx) => {
      for (const topic of await tx.all("subscriptions")) {
        if (keys.includes(topic.topic_key)) await tx.put("subscriptions", { ...topic, week_pending: false });
      }
    }),
  };
}
