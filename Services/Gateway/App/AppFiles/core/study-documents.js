// What the hub says about classes and study sessions, checked before the app uses it.

import { isIdentifier, isListOf, isMaybe, isMoment, isName, isObject, isText } from "./checks.js";

const isNumber = Number.isFinite;
const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
const isFlag = (value) => typeof value === "boolean";

const isPlace = (value) => isObject(value) && isNumber(value.latitude) && Math.abs(value.latitude) <= 90
  && isNumber(value.longitude) && Math.abs(value.longitude) <= 180 && isMaybe(value.name, isText);

export const isClass = (value) => isObject(value) && isIdentifier(value.id) && isText(value.name)
  && isMaybe(value.description, isText) && isText(value.identification_key) && isMaybe(value.professor, isName)
  && isText(value.role) && isFlag(value.new_sessions) && isMaybe(value.closed, isMoment) && isCount(value.members)
  && isCount(value.sessions);

export const isSession = (value) => isObject(value) && isIdentifier(value.id) && isIdentifier(value.class)
  && isListOf(value.topics, isText) && isMaybe(value.description, isText) && isMaybe(value.place, isPlace)
  && isMoment(value.starts) && isMoment(value.ends) && isFlag(value.sponsored) && isMaybe(value.host, isName)
  && isText(value.host_role) && isListOf(value.attendants, isName) && isCount(value.room)
  && isMaybe(value.ended, isText);

const isInvite = (value) => isObject(value) && isSession(value.session) && isName(value.by) && isMoment(value.at);

const isRemoval = (value) => isObject(value) && isMoment(value.at) && isMaybe(value.by, isName)
  && isMaybe(value.number, isCount);
const isPost = (value) => isObject(value) && isIdentifier(value.id) && isMaybe(value.author, isName)
  && isMaybe(value.number, isCount) && isText(value.role) && isText(value.text) && isMoment(value.at)
  && isMaybe(value.removed, isRemoval);

const isPastSession = (value) => isObject(value) && isIdentifier(value.id) && isIdentifier(value.class)
  && isListOf(value.topics, isText) && isMoment(value.joined) && isCount(value.minutes) && isFlag(value.hosted);

const isPerson = (value) => isObject(value) && isName(value.account) && isText(value.relation)
  && ["first_name", "last_name"].every((field) => isMaybe(value[field], isText));

const rules = ["radius", "accuracy", "grace", "max_minutes", "attendants", "invites"];
const isRules = (value) => isObject(value) && rules.every((name) => isCount(value[name]));
/** A path of this hub. */
const isPath = (value) => isText(value) && /^\/(?![/\\])/.test(value);
const isTiles = (value) => isText(value) && value.startsWith("https://")
  && ["{z}", "{x}", "{y}"].every((part) => value.includes(part));
const isMap = (value) => isObject(value) && isMaybe(value.tiles, isTiles) && isMaybe(value.attribution, isText)
  && isMaybe(value.leaflet, isPath) && isPath(value.plan);

/** A page of a list, with where the next one begins. */
const pageOf = (body, name, isRight) => (isListOf(body?.[name], isRight) && isMaybe(body.next, isText)
  ? { list: body[name], next: body.next ?? null } : undefined);

export const rulesOf = (body) => (isRules(body?.rules) && isMap(body.map) ? { rules: body.rules, map: body.map }
  : undefined);
export const classesOf = (body) => (isListOf(body?.classes, isClass) ? body.classes : undefined);
export const sessionsOf = (body) => (isListOf(body?.sessions, isSession) && isMoment(body.now)
  ? { sessions: body.sessions, now: body.now } : undefined);
export const sessionOf = (body) => (isSession(body?.session) && isMoment(body.now)
  ? { sessions: [body.session], now: body.now } : undefined);
export const ownOf = (body) => (isMaybe(body?.current, isSession) && isListOf(body?.hosted, isSession)
  && isListOf(body.invites, isInvite) && isMoment(body.now)
  ? { current: body.current ?? null, hosted: body.hosted, invites: body.invites, now: body.now } : undefined);
export const postsOf = (body) => pageOf(body, "posts", isPost);
export const pastOf = (body) => pageOf(body, "sessions", isPastSession);
export const matesOf = (body) => pageOf(body, "people", isPerson);
export const presenceOf = (body) => (isText(body?.state) && isMaybe(body.ends, isMoment) ? { state: body.state,
  ends: body.ends ?? null, inaccurate: body.inaccurate === true } : undefined);
