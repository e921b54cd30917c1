// The hub's routes of classes and study sessions in memory, as a case gives them. Everybody has the same classes.

import { identifierOf, sessionIdentifier } from "./names.js";

const minute = 60_000;
/** The maximum number of attendants. */
const room = 3;
const rules = { radius: 150, accuracy: 200, grace: 300, max_minutes: 720, attendants: room, sponsored: 5,
  posts_per_minute: 10, invites: 50, classes: 30, members: 5_000, sessions: 500 };
const refused = (status, field) => ({ status, body: { detail: `no ${field ?? "such thing"}`, field } });
const done = (body, status = 200) => ({ status, body });

/** The classes of a hub. */
export function classesOfHub(clock) {
  let classes = [];
  let sessions = [];
  let friends = [];
  let ahead = 0;
  let losesAnswers = false;
  /** What was posted, by its key. */
  const posts = new Map();

  const now = () => clock.now() + ahead;

  const changes = {
    classes(list) {
      classes = list.map(({ name, role = "student", key = null }) => ({ name, role, key, id: identifierOf(name) }));
    },
    sessions(list) {
      sessions = list.map(({ topic, class: name, host = "eve", attendants = [host], starts = "2026-11-24T11:30:00Z",
        ends = "2026-11-24T13:00:00Z", ended, sponsored = false }) => ({ id: sessionIdentifier(topic),
        class: identifierOf(name), topics: [topic], place: { latitude: 45, longitude: -30 }, host, attendants,
        was: new Set(attendants), starts: Date.parse(starts), ends: Date.parse(ends), ended, sponsored }));
    },
    ends_session({ topic, reason }) { find(sessionIdentifier(topic)).ended = reason; },
    hands_over({ topic, to }) { find(sessionIdentifier(topic)).host = to; },
    friends(names) { friends = names; },
    /** The hub does what it is asked, and its answers do not arrive. */
    loses_answers(does) { losesAnswers = does; },
    study_ahead(seconds) { ahead = seconds * 1_000; },
  };

  const find = (id) => sessions.find((each) => each.id === id);
  const isOpen = ({ ended, ends }) => ended === undefined && ends > now();
  const joined = () => classes.filter(({ key }) => key === null);
  const currentOf = (account) => sessions.find((each) => isOpen(each) && each.attendants.includes(account));
  const sessionDocument = ({ was, ...session }) => ({ ...session, host_role: "student", room });
  const answerOf = (session, status) => done({ session: sessionDocument(session), now: now() }, status);
  const classDocument = ({ id, name, role }) => ({ id, name, identification_key: name, professor: "prof", role,
    new_sessions: false, created: 0, members: 1,
    sessions: sessions.filter((each) => each.class === id && isOpen(each)).length });

  function leave(session, account) {
    if (session.host === account) session.ended = "host";
    else session.attendants = session.attendants.filter((each) => each !== account);
  }

  /** Makes room for another session. Returns the refusal of a person who is in one and does not leave it. */
  function leaveCurrent(account, isLeaving) {
    const current = currentOf(account);
    if (!current) return null;
    if (!isLeaving) return refused(409, "session");
    leave(current, account);
    return null;
  }

  function start(id, account, { topics, minutes, place, leave: isLeaving }) {
    const problem = leaveCurrent(account, isLeaving);
    if (problem) return problem;
    const session = { id: sessionIdentifier(topics[0]), class: id, topics, place, host: account, attendants: [account],
      was: new Set([account]), starts: now(), ends: now() + minutes * minute, sponsored: false };
    sessions.push(session);
    return answerOf(session, 201);
  }

  function join(session, account, { leave: isLeaving }) {
    if (!isOpen(session)) return refused(409, "ended");
    if (session.attendants.includes(account)) return answerOf(session);
    if (session.attendants.length >= room) return refused(409, "attendants");
    const problem = leaveCurrent(account, isLeaving);
    if (problem) return problem;
    session.attendants.push(account);
    session.was.add(account);
    return answerOf(session);
  }

  function post(session, account, { text }, key) {
    if (!isOpen(session)) return refused(409, "ended");
    if (!posts.has(key)) {
      posts.set(key, { id: identifierOf(key), session: session.id, author: account, role: "student", text, at: now() });
    }
    return done(posts.get(key), 201);
  }

  function answerAboutSession({ method, body, headers }, account, id, session, part) {
    const found = find(session);
    if (!found || found.class !== id) return refused(404);
    switch (`${method} ${part ?? ""}`) {
      case "GET ": return isOpen(found) || found.was.has(account) ? answerOf(found) : refused(404);
      case "POST ": return join(found, account, body);
      case "DELETE ":
        if (isOpen(found)) leave(found, account);
        return done(undefined, 204);
      case "POST posts": return post(found, account, body, headers["Idempotency-Key"]);
      case "GET posts": {
        const list = [...posts.values()].filter((each) => each.session === session).reverse();
        return done({ posts: list, now: now() });
      }
      default: return refused(404);
    }
  }

  function answerAboutClasses({ method, path, body }, account) {
    const [place] = path.split("?");
    switch (`${method} ${place}`) {
      case "GET /study": return done({ rules, map: { plan: "/app/plan" } });
      case "GET /user/friends": return done({ friends });
      case "GET /user/classes": return done({ classes: joined().map(classDocument) });
      case "GET /user/sessions": {
        const current = currentOf(account);
        return done({ current: current && sessionDocument(current), hosted: [], invites: [], now: now() });
      }
      case "POST /user/classes": {
        const found = classes.find(({ key }) => key === body.key);
        if (!found || body.key === null) return refused(403, "key");
        found.key = null;
        return done(classDocument(found), 201);
      }
      default: return null;
    }
  }

  function answer(request, account) {
    const [place] = request.path.split("?");
    const [, first, id, kind, session, part] = place.split("/");
    const found = answerAboutClasses(request, account);
    if (found) return found;
    const isLeaving = first === "user" && request.method === "DELETE";
    const group = joined().find((each) => each.id === (isLeaving ? kind : id));
    if (!group) return refused(404);
    if (isLeaving) {
      group.key = `left ${group.name}`;
      for (const each of sessions) if (each.class === group.id && isOpen(each)) leave(each, account);
      return done(undefined, 204);
    }
    if (session) return answerAboutSession(request, account, id, session, part);
    if (request.method === "POST") return start(id, account, request.body);
    const open = sessions.filter((each) => each.class === id && isOpen(each));
    return done({ sessions: open.map(sessionDocument), now: now() });
  }

  return {
    changes,
    handles: ({ path }) => /^\/(classes\/|study$|user\/(classes|sessions|friends)(\/|$))/.test(path),
    /** The answer to a person. */
    answer(request, account) {
      const found = answer(request, account);
      if (losesAnswers && request.method !== "GET") throw new TypeError("the answer is lost");
      return found;
    },
  };
}
