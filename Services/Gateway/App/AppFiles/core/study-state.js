// What the pages show of the person's study sessions, of the app's state. Pure.

import { isSame } from "./presence.js";

/** The mean radius of the earth in metres: the hub computes with the same. */
const radius = 6_371_008.8;
const radians = (degrees) => (degrees / 180) * Math.PI;
/** How many ways there are to draw the sessions of a class. */
const tones = 4;

/** The distance of two places in metres. */
export function distanceOf(one, other) {
  const [south, north] = [radians(one.latitude), radians(other.latitude)];
  const height = Math.sin((north - south) / 2);
  const width = Math.sin(radians(other.longitude - one.longitude) / 2);
  return 2 * radius * Math.asin(Math.min(1, Math.hypot(height, width * Math.sqrt(Math.cos(south) * Math.cos(north)))));
}

/** The hub's time at a moment of this device, whose own clock may be wrong. */
export const hubTime = (study, now) => now + (study.ahead ?? 0);

/** The person's class; `undefined` for another one. */
export const classOf = (study, id) => study.classes?.find((each) => each.id === id);

/** What the person is in a class. */
export const roleIn = (study, id) => classOf(study, id)?.role ?? "student";

/** Which of the ways to draw its sessions a class has, from 1: the same one as long as the person's classes stay. */
export function toneOf(study, id) {
  const place = (study.classes ?? []).map((each) => each.id).sort().indexOf(id);
  return (Math.max(place, 0) % tones) + 1;
}

/** The session in which the person is, and those that they host from elsewhere, of the hub's answer `own`. */
export const ownSessions = (own) => [own?.current, ...(own?.hosted ?? [])].filter(Boolean);

/** The sessions of all answers, with when each was read, and whether that answer has all open ones. */
const readSessions = (study) => Object.entries(study).flatMap(([row, value]) => {
  if (!value?.read) return [];
  const { read, sessions = [], invites = [] } = value;
  const isList = !row.startsWith("session ");
  return [...sessions, ...ownSessions(value), ...invites.map(({ session }) => session)]
    .map((session) => ({ session, read, isList }));
});

/** The latest answer about each session, by its identifier, and whether it is in a list: others may have ended. */
function latestSessions(study) {
  const latest = new Map();
  for (const each of readSessions(study)) {
    const known = latest.get(each.session.id) ?? each;
    const { session, read } = known.read < each.read ? each : known;
    latest.set(session.id, { session, read, isList: known.isList || each.isList });
  }
  return latest;
}

/** Whether a session is open at a moment of this device. */
export const isOpen = (study, session, now) => session.ended === undefined && session.ends > hubTime(study, now);

/**
 * What a page shows of a session beside the session itself: the `tone` of its class, those of its people who are
 * `friends`, whether the person is there (`isThere`) or hosts it (`isHost`), who has invited them (`invitedBy`), and
 * the `distance` from a position in metres, if both are known.
 */
export function withFacts({ study, people }, session, position = null) {
  const isMine = (name) => isSame(name, people.account);
  const names = [...new Set([session.host, ...session.attendants].filter(Boolean))];
  const invite = study.own?.invites.find((each) => each.session.id === session.id);
  return { ...session, tone: toneOf(study, session.class), isHost: isMine(session.host),
    isThere: session.attendants.some(isMine),
    friends: names.filter((name) => people.friends?.some((each) => isSame(each, name))),
    invitedBy: invite?.by ?? null,
    distance: position && session.place ? Math.round(distanceOf(position, session.place)) : null };
}

/** A session as the app knows it, with its facts; `undefined` if it has no answer about it. */
export function findSession(state, id, position = null) {
  const known = latestSessions(state.study).get(id);
  return known && withFacts(state, known.session, position);
}

/** The first sessions of the list: the person's own, and those to which they are invited. */
const rankOf = ({ isThere, isHost, invitedBy }) => (isThere || isHost ? 0 : invitedBy ? 1 : 2);

/**
 * The sessions that the map and the list show: the open ones of the chosen classes, or of all if none is chosen. With a
 * position the near ones come first, and else those that began last.
 */
export function shownSessions(state, { now = state.now, position = null } = {}) {
  const { study } = state;
  const chosen = (study.chosen ?? []).filter((id) => classOf(study, id));
  return [...latestSessions(study).values()].filter(({ isList }) => isList).map(({ session }) => session)
    .filter((session) => isOpen(study, session, now) && classOf(study, session.class)
      && (!chosen.length || chosen.includes(session.class)))
    .map((session) => withFacts(state, session, position))
    .sort((one, other) => rankOf(one) - rankOf(other) || (one.distance ?? 0) - (other.distance ?? 0)
      || other.starts - one.starts || (one.id < other.id ? -1 : 1));
}
