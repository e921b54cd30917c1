// What `then` says, compared with what the app shows.

import { shownSessions } from "/core/study-state.js";
import { identifierOf, withIdentifiers } from "./names.js";

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isMoment = (value) => typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/.test(value);
const sorted = (list) => [...list].sort();
const text = (value) => JSON.stringify(value);

/** The subjects of the state, with their paths. */
const subjectsOf = (state) => state.channels.flatMap((channel) => channel.areas.flatMap((area) =>
  area.subjects.map((subject) => ({ ...subject, path: [channel.name, area.name, subject.name].join("/") }))));

/** Whether a value has all that an expected one has. A time may be expected as a moment. */
export function agrees(expected, value) {
  if (isMoment(expected) && typeof value === "number") return Date.parse(expected) === value;
  if (Array.isArray(expected)) {
    return Array.isArray(value) && value.length === expected.length
      && expected.every((each, index) => agrees(each, value[index]));
  }
  if (!isObject(expected)) return expected === value;
  return isObject(value) && Object.keys(expected).every((name) => agrees(expected[name], value[name]));
}

/** Elements as they are expected: named by one of their members, or objects with it. */
const named = (expected, name) => expected.map((each) => (isObject(each) ? each : { [name]: each }));

const byPath = (list) => list.sort((a, b) => (a.path < b.path ? -1 : 1));

const questions = {
  after: ({ body }) => (body.after === undefined ? null : Number(body.after.split("-")[0])),
  tag: ({ headers }) => headers["If-None-Match"] !== undefined,
  token: ({ headers }) => Number(/^Bearer token-(\d+)$/.exec(headers.Authorization ?? "")?.[1]) || null,
  proof: ({ proof }) => proof ?? null,
  channels: ({ path }) => sorted(path.split("?channel=")[1]?.split(",") ?? []),
};

function agreesWithRequest(expected, request) {
  return Object.entries(expected).every(([name, value]) =>
    text(questions[name](request)) === text(name === "channels" ? sorted(value.map(identifierOf)) : value));
}

function askedProblem(expected, asked) {
  for (const [question, wanted] of Object.entries(expected)) {
    const found = asked.filter(({ method, path }) => `${method} ${path.split("?")[0]}` === question);
    const isRight = typeof wanted === "number" ? found.length === wanted
      : found.length === wanted.length && wanted.every((each, index) => agreesWithRequest(each, found[index]));
    if (!isRight) return found.map(({ path, body, headers }) => ({ path, body, headers }));
  }
  return undefined;
}

/** The different reports, in their order. */
const reportsOf = (asked) => [...new Set(asked.filter(({ path }) => path === "/receipt")
  .map(({ body }) => text(body)))].map((report) => JSON.parse(report));

function agreesWithReport(expected, report, before) {
  const found = { report: report.report, received: sorted(report.received), opened: sorted(report.opened),
    received_count: report.received.length, opened_count: report.opened.length,
    installation: report.installation === before ? "same" : "new" };
  return Object.entries(expected).every(([name, value]) =>
    text(found[name]) === text(Array.isArray(value) ? sorted(value) : value));
}

function reportsProblem(expected, asked, last) {
  const reports = reportsOf(asked);
  const isRight = reports.length === expected.length && reports.every((report, index) =>
    agreesWithReport(expected[index], report, reports[index - 1]?.installation ?? last));
  return isRight ? undefined : reports;
}

/** The members of `then`: each returns what there is instead, or `undefined` if it is right. */
const checks = {
  initialized: (expected, { state }) => unless(state.initialized === expected, state.initialized),
  messages: (expected, { state }) => {
    const found = state.messages.map((message) => ({ ...message, key: message.msi_key }));
    return unless(agrees(named(expected, "key"), found), found);
  },
  message_count: (expected, { state }) => unless(state.messages.length === expected, state.messages.length),
  subjects: (expected, { state }) => {
    const found = byPath(subjectsOf(state));
    return unless(agrees(byPath(named(expected, "path")), found), found);
  },
  subscribed: (expected, { state }) => pathsProblem(expected, subjectsOf(state).filter((each) => each.subscribed)),
  muted: (expected, { state }) => pathsProblem(expected, subjectsOf(state).filter((each) => each.muted)),
  channels_off: (expected, { state }) => {
    const found = state.channels.filter(({ broadcasts }) => !broadcasts).map(({ name }) => name);
    return unless(text(sorted(found)) === text(sorted(expected)), found);
  },
  badge: (expected, { state }) => unless(state.badge === expected, state.badge),
  cards: (expected, { state }) => unless(agrees(named(expected, "title"), state.broadcasts), state.broadcasts),
  features: (expected, { state }) => {
    const found = Object.fromEntries(state.features.map(({ name, on }) => [name, on]));
    return unless(agrees(expected, found) && state.features.length === Object.keys(expected).length, found);
  },
  data: (expected, { state }) => unless(agrees(named(expected, "data"), state.broadcast_data), state.broadcast_data),
  quiet_hours: (expected, { state }) => unless(agrees(expected, state.settings.quiet_hours), state.settings),
  receipts: (expected, { state }) => unless(state.settings.receipts === expected, state.settings),
  account: (expected, { state }) => unless(state.people.account === expected, state.people),
  signed_out: (expected, { state }) => unless(state.people.signed_out === expected, state.people),
  sessions: (expected, { state }) => {
    const found = shownSessions(state).map(factsOf);
    return unless(agrees(named(expected, "topic"), found), found);
  },
  current_session: (expected, { state }) => {
    const found = state.study.own?.current?.topics[0] ?? null;
    return unless(found === expected, state.study.own);
  },
  gone_session: (expected, { state }) => {
    const { session } = state.study.gone ?? {};
    return unless(text(session ? [session.topics[0], session.ended ?? null] : null) === text(expected), session);
  },
  classes: (expected, { state }) => {
    const found = (state.study.classes ?? []).map(({ name }) => name);
    return unless(text(found) === text(expected), found);
  },
  posts: (expected, { state }) => {
    const found = Object.entries(state.study).find(([name]) => name.startsWith("posts "))?.[1].list ?? [];
    return unless(text(found.map((post) => post.text)) === text(expected), found);
  },
  waiting: (expected, { state }) => {
    const found = state.study.waits.map(({ action }) => action);
    return unless(text(found) === text(expected), state.study.waits);
  },
  reports: (expected, { asked, installation }) => reportsProblem(expected, asked, installation),
  asked: (expected, { asked }) => askedProblem(expected, asked),
  file: (expected, { file }) => unless(agrees(expected, linesOf(file)), linesOf(file)),
  json: (expected, { file }) => {
    const found = JSON.parse(file.body);
    const isRight = found.length === expected.length && expected.every((each, index) => agrees(withIdentifiers(each),
      found[index]) && agrees(found[index], withIdentifiers(each)));
    return unless(isRight, found);
  },
  library: () => undefined,
};

/** A session by the names that a case has for what the page shows of it. */
const factsOf = ({ topics, friends, isThere, isHost, attendants }) => ({ topic: topics[0], friends, there: isThere,
  host: isHost, attendants });

const unless = (isRight, found) => (isRight ? undefined : found);

function pathsProblem(expected, subjects) {
  const found = sorted(subjects.map(({ path }) => path));
  return unless(text(found) === text(sorted(expected)), found);
}

/** The lines of a file. Those of a calendar have at most 75 bytes, and are unfolded. */
function linesOf({ body, type }) {
  if (!type.startsWith("text/calendar")) return body.replace(/\n$/, "").split("\n");
  const long = body.split("\r\n").find((line) => new TextEncoder().encode(line).length > 75);
  if (long) throw new Error(`a line of more than 75 bytes: ${long}`);
  return body.replaceAll("\r\n ", "").replace(/\r\n$/, "").split("\r\n");
}

/** The members that differ from `then`, each with its real value; `null` if none differs. */
export function differences(then, found) {
  const wrong = {};
  for (const [name, expected] of Object.entries(then)) {
    if (!checks[name]) throw new Error(`unknown: then ${name}`);
    const instead = checks[name](expected, found);
    if (instead !== undefined) wrong[name] = instead;
  }
  return Object.keys(wrong).length ? wrong : null;
}

/** The installation of the last report. */
export const lastInstallation = (asked) => reportsOf(asked).at(-1)?.installation;
