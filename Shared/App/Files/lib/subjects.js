import { hasPopUps, state } from "./state.js";
import { t } from "./text.js";

let channels = null;
let subjects = new Map();

/**
 * What the phone knows of a topic's subject, with its `names` from the outside in; `undefined` for one that is not in
 * the cube.
 */
export function subjectOf(topicKey) {
  if (channels !== state.channels) {
    channels = state.channels;
    subjects = new Map(channels.flatMap((channel) => channel.areas.flatMap((area) => area.subjects.map((subject) =>
      [subject.topic_key, { ...subject, channel: channel.id, names: [channel.name, area.name, subject.name] }]))));
  }
  return subjects.get(topicKey);
}

/** A subject's path in a sentence. */
export const pathText = ({ topic_key: topicKey }) => subjectOf(topicKey).names.join(" › ");

/** Whether a subject has pop-ups that the student may do without. */
export const isMutable = (subject) => hasPopUps && subject.subscribed && subject.dist === "Alert" &&
  subject.level !== "Forced";

/** The names of a message's subject, as far as they are known. */
export const namesOf = (message) => (message.known ? message.names : [t("message.unknown")]);

/** The channel of messages whose subject is not known. */
export const unknownChannel = "unknown";

/** The identifier of a message's channel. The topic of a deleted subject begins with it. */
export const channelOf = ({ topic_key: topicKey }) => subjectOf(topicKey)?.channel
  ?? state.channels.find(({ id }) => topicKey.startsWith(id))?.id ?? unknownChannel;
