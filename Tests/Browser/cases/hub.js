import { classesOfHub } from "./classes.js";
import { counted, identifierOf, topicOf, withIdentifiers } from "./names.js";
import { personsOfHub } from "./persons.js";

const pageSize = 2;
const maxChannels = 200;
const positionOf = (number) => `${number}-000000000000000000000000`;

/** The hub in memory, which a case drives. */
export function caseHub(clock) {
  let subjects = [];
  let cubeVersion = 0;
  let accepted = [];
  let waiting = [];
  const recalled = [];
  let broadcasts = [];
  let withdrawn = [];
  let isAway = false;
  let hangs = false;
  let pages = null;
  let receiptStatus = 204;
  /** Requests that have no answer. */
  let open = 0;
  let asked = [];
  const persons = personsOfHub(clock);
  const classes = classesOfHub(clock);

  const keyOf = ({ path, moved_from: movedFrom }) => topicOf(movedFrom ?? path);
  const subjectAt = (path) => subjects.find((subject) => subject.path === path);

  function messageOf({ unreadable, key, subject, at, dist, title, desc = "", message = "A text.", corrects, link }) {
    const place = subject === undefined ? subjects[0] : subjectAt(subject) ?? { path: subject };
    if (unreadable) return { topic_key: keyOf(place), timestamp: "later" };
    return { msi_key: key, topic_key: keyOf(place), dist: dist ?? place.dist ?? "Information",
      title: title ?? `Title ${key}`, desc, message, timestamp: at ? Date.parse(at) : clock.now(), corrects, link };
  }

  function broadcastOf({ id, version = 1, type = 2, title = "Hello", starts = "2026-11-24T11:00:00Z",
    expires = "2026-11-24T13:00:00Z", channels, condition, action }) {
    const translations = { en: { title, msg: "m" }, ar: { title: `ع ${title}`, msg: "m" } };
    return { id, version, type, epoch: "2026-11-24T11:00:00+0000", expiry: 120, language: "en",
      starts: Date.parse(starts), expires: Date.parse(expires), channels: channels?.map(identifierOf),
      condition: condition && withIdentifiers(condition), actiondata: action ?? { translations } };
  }

  const changes = {
    cube(next) {
      subjects = counted(next);
      cubeVersion += 1;
    },
    accepts(messages) { accepted.push(...counted(messages).map(messageOf)); },
    waits(messages) { waiting.push(...counted(messages).map((each) => messageOf({ dist: "Alert", ...each }))); },
    delivers(keys) {
      accepted.push(...waiting.filter(({ msi_key }) => keys.includes(msi_key)));
      waiting = waiting.filter(({ msi_key }) => !keys.includes(msi_key));
    },
    recalls(keys) {
      recalled.push(...keys);
      waiting = waiting.filter(({ msi_key }) => !keys.includes(msi_key));
    },
    recalls_stale(keys) { recalled.push(...keys); },
    broadcasts(next) { broadcasts = next.map(broadcastOf); },
    withdrawn(next) {
      withdrawn = next.map((each) => ({ ...each, expires: Date.parse(each.expires ?? "2026-11-24T13:00:00Z") }));
    },
    away(is) { isAway = is; },
    hangs(is) { hangs = is; },
    pages(count) { pages = count; },
    receipt_status(status) { receiptStatus = status; },
    ...persons.changes,
    ...classes.changes,
  };

  /** A document with its validator, or 304 for one that is known. */
  const tagged = (body, tag, headers) => (headers["If-None-Match"] === tag ? { status: 304, tag }
    : { status: 200, tag, body });

  function cube() {
    const parts = subjects.map((subject) => ({ subject, names: subject.path.split("/") }));
    const channels = [...new Set(parts.map(({ names }) => names[0]))];
    return channels.map((channel) => {
      const inside = parts.filter(({ names }) => names[0] === channel);
      return { _id: identifierOf(channel), name: channel, desc: "", access: [],
        areas: [...new Set(inside.map(({ names }) => names[1]))].map((area) => ({
          id: identifierOf(`${channel}/${area}`), name: area, desc: "", access: [],
          subjects: inside.filter(({ names }) => names[1] === area).map(({ subject, names }) => ({
            id: identifierOf(subject.path), name: names[2], desc: "", access: [], tags: [], topic_key: keyOf(subject),
            opt: { level: subject.level ?? "", distribution: subject.dist ?? "Information" } })) })) };
    });
  }

  function page({ topics, after }) {
    if (pages === 0) throw new TypeError("the hub is away");
    if (pages !== null) pages -= 1;
    const begin = after ? Number(after.split("-")[0]) : 0;
    const rest = accepted.map((message, index) => ({ message, index })).slice(begin)
      .filter(({ message }) => topics.includes(message.topic_key));
    const found = rest.slice(0, pageSize);
    const isLast = found.length === rest.length;
    const beside = waiting.filter(({ topic_key }) => topics.includes(topic_key));
    const ifAny = (list) => (isLast && list.length ? list : undefined);
    return { messages: found.map(({ message }) => message), waiting: ifAny(beside), recalled: ifAny(recalled),
      next: positionOf(isLast ? accepted.length : found.at(-1).index + 1) };
  }

  function answer(method, path, body, headers) {
    const [place, query] = path.split("?");
    switch (`${method} ${place}`) {
      case "GET /channel": return tagged(cube(), `"${cubeVersion}"`, headers);
      case "POST /message/since": return { status: 200, body: page(body) };
      case "POST /receipt": return { status: receiptStatus };
      case "GET /broadcast/active": {
        if (query && query.split(",").length > maxChannels) return { status: 400 };
        const active = { broadcasts, withdrawn };
        return tagged(active, `"${identifierOf(JSON.stringify(active))}"`, headers);
      }
      default: return { status: 404 };
    }
  }

  /** What a person may ask; `null` for the path of something else. */
  async function answerToPerson(request) {
    if (!classes.handles(request)) return persons.answer(request);
    const who = await persons.answer({ ...request, method: "GET", path: "/user" });
    return who.status === 200 ? classes.answer(request, who.body.account) : who;
  }

  return {
    get isHanging() { return open > 0; },
    /** What it was asked since the last call. */
    takeAsked: () => asked.splice(0),
    get asked() { return asked; },
    change(members) {
      for (const [name, value] of Object.entries(members)) {
        if (!changes[name]) throw new Error(`unknown: hub ${name}`);
        changes[name](value);
      }
    },
    /** Answers as the gateway does. */
    async request(method, path, body, headers = {}, signal) {
      if (hangs) {
        open += 1;
        await new Promise((resolve, reject) => { signal.addEventListener("abort", () => reject(signal.reason)); })
          .finally(() => { open -= 1; });
      }
      if (isAway) throw new TypeError("the hub is away");
      const request = { method, path, body, headers };
      asked.push(request);
      // As over a network, nothing of the answer is shared with the hub.
      return JSON.parse(JSON.stringify(await answerToPerson(request) ?? answer(method, path, body, headers)));
    },
  };
}
