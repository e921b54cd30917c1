// One broadcast: how it is read, and what it shows or switches.

import { isIdentifier, isListOf, isMaybe, isMoment, isObject, isText } from "./checks.js";
import { isFulfilled } from "./condition.js";
import { textsIn } from "./languages.js";

const kinds = { 1: "downtime", 2: "others", 3: "greetings" };
/** What shows nothing: a feature switch, or data for the app. */
const nonDisplay = 4;
const usualTypes = { 1: "downtime", 2: "others", 3: "festive", 4: "enable-feature" };
const notificationTypes = [...Object.values(usualTypes), "general", "disable-feature"];

const isCount = (value) => Number.isSafeInteger(value) && value > 0;
const isTexts = (value) => isObject(value) && isText(value.title) && isText(value.msg);

const isAction = (action) => isObject(action)
  && isMaybe(action.translations, (value) => isObject(value) && Object.values(value).every(isTexts))
  && isMaybe(action.cancellable, (value) => typeof value === "boolean")
  && isMaybe(action.poster, isText) && isMaybe(action.data, isText) && isMaybe(action.feature, isText)
  && isMaybe(action.share, isCount) && isMaybe(action.group, (value) => value === "A" || value === "B")
  && isMaybe(action.notificationtype, (value) => notificationTypes.includes(value));

/** Whether a document says that every version of a broadcast up to the named one is over. */
export const isWithdrawal = (document) => isObject(document) && isCount(document.id) && isCount(document.version)
  && isMoment(document.expires);

/** Whether a document is a broadcast that this version of the app can read. */
export const isBroadcast = (document) => isWithdrawal(document) && isCount(document.type) && document.type in usualTypes
  && isAction(document.actiondata) && isMoment(document.starts) && isText(document.language)
  && isMaybe(document.channels, (value) => isListOf(value, isIdentifier)) && isMaybe(document.condition, isText);

/** Whether a broadcast is for someone with these topics. */
export const isFor = ({ channels, condition }, topics) => (channels ? channels.some((channel) => topics.has(channel))
  : !isText(condition) || isFulfilled(condition, topics));

const typeOf = ({ type, actiondata }) => actiondata.notificationtype ?? usualTypes[type];

/** The card of a broadcast; `null` if it shows nothing. */
export function cardOf(broadcast, inLanguage) {
  const { id, version, type, expires, language, actiondata } = broadcast;
  const { translations, poster, data, cancellable } = actiondata;
  if (type === nonDisplay || !Object.keys(translations ?? {}).length) return null;
  const { title, msg } = textsIn(inLanguage, language, translations);
  return { id: `hub-${id}`, version, origin: "hub", kind: kinds[type], title, message: msg,
    poster: poster?.startsWith("https://") ? poster : null, notificationtype: typeOf(broadcast), data: data ?? null,
    cancellable: cancellable ?? true, expires };
}

/** Data for the app; `null` if the broadcast is another one. */
export function dataOf(broadcast) {
  const { id, type, actiondata: { feature, data }, expires } = broadcast;
  if (type !== nonDisplay || isText(feature) || !isText(data)) return null;
  return { id, notificationtype: typeOf(broadcast), data, expires };
}

/** The features that broadcasts switch for this installation. Of several about one, the one that began last decides. */
export function featuresOf(broadcasts, installation) {
  const features = new Map();
  for (const { type, actiondata, expires } of broadcasts.toSorted(byBeginning)) {
    const { feature, share, group, notificationtype, data } = actiondata;
    if (type !== nonDisplay || !isText(feature)) continue;
    const bucket = share && bucketOf(installation, feature);
    if (share && (group === "B" ? bucket < 100 - share : bucket >= share)) continue;
    features.set(feature, { name: feature, on: notificationtype === "enable-feature", data: data ?? null, expires });
  }
  return [...features.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Sorts what began first first. */
export const byBeginning = (a, b) => a.starts - b.starts || a.id - b.id;

/**
 * The bucket of an installation for a feature, 0 to 99: FNV-1a of 64 bits with the finalizer of MurmurHash3, which
 * every app must compute in the same way.
 */
function bucketOf(installation, feature) {
  const bits = (value) => BigInt.asUintN(64, value);
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(`${feature}/${installation}`)) {
    hash = bits((hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  for (const factor of [0xff51afd7ed558ccdn, 0xc4ceb9fe1a85ec53n]) hash = bits((hash ^ (hash >> 33n)) * factor);
  return Number((hash ^ (hash >> 33n)) % 100n);
}
