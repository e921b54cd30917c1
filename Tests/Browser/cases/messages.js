// The hub's routes of messages between persons in memory, as a case gives them. One person asks; the others write.

import { counted, identifierOf } from "./names.js";

const pageSize = 2;
/** The time between polls that find nothing, in milliseconds. */
const poll = 30_000;
const info = { type: "jpeg", width: 4, height: 3, bytes: 9 };
const refused = (status, field) => ({ status, body: { detail: `no ${field ?? "such thing"}`, field } });
const done = (body, status = 200) => ({ status, body });

/** The messages of a hub. */
export function messagesOfHub(clock) {
  const messages = [];
  /** What was sent, by its key. */
  const sent = new Map();
  const conversations = new Map();
  let last = 0;
  let polled = -Infinity;
  let strangers = [];
  let hidesReading = false;

  /** The counters of the hub: of a conversation and of a person. They never go back. */
  const next = () => { last = Math.max(last + 1, clock.now()); return last; };
  const withPerson = (name) => {
    if (!conversations.has(name)) conversations.set(name, { account: name, last: 0 });
    return conversations.get(name);
  };
  const change = (name, members) => Object.assign(withPerson(name), members, { changed: next() });
  const lastOf = (name, isOwn) => messages.filter((each) => each.name === name && each.isOwn === isOwn).at(-1)?.number;

  function add(name, isOwn, { text, picture }, at = clock.now()) {
    const number = next();
    const content = picture ? { picture: info } : { text };
    messages.push({ id: identifierOf(`message ${number}`), name, isOwn, content, number, at, position: next() });
    change(name, { last: number });
    return messages.at(-1);
  }

  function remove(name, isOwn) {
    for (const each of messages) if (each.name === name && each.isOwn === isOwn) each.isRemoved = true;
  }

  const changes = {
    writes(list) {
      for (const { from, at, ...content } of counted(list)) add(from, false, content, at && Date.parse(at));
    },
    /** Another device of the person has sent something. */
    sends_elsewhere(list) { for (const { to, ...content } of list) add(to, true, content); },
    /** The person has read everything of these people on another device. */
    read_elsewhere(names) { for (const name of names) change(name, { seen: lastOf(name, false) }); },
    /** Everything of these people is removed. */
    removes(names) {
      for (const name of names) {
        remove(name, false);
        change(name, { removed: lastOf(name, false) });
      }
    },
    /** These people have what the person has sent on a device, or have read it, or it has waited for too long. */
    gets(names) { for (const name of names) change(name, { delivered: lastOf(name, true) }); },
    reads(names) {
      for (const name of names) change(name, { delivered: lastOf(name, true), read: lastOf(name, true) });
    },
    expires(names) {
      for (const name of names) {
        remove(name, true);
        change(name, { expired: lastOf(name, true) });
      }
    },
    strangers(names) { strangers = names; },
    hides_reading(does) {
      hidesReading = does;
      for (const name of conversations.keys()) change(name, {});
    },
  };

  const messageDocument = ({ id, name, isOwn, content, number, at, isRemoved }, account) => ({ id, number, at,
    from: isOwn ? account : name, to: isOwn ? name : account, ...(isRemoved ? { removed: true } : content) });
  const isUnread = ({ account, seen = 0 }) => ({ name, isOwn, number }) => name === account && !isOwn
    && number > seen;
  const conversationDocument = ({ changed, read, ...marks }) => ({ ...marks,
    unread: messages.filter(isUnread(marks)).length, ...(hidesReading ? {} : { read }) });

  function news(query, account) {
    const after = Number(query.get("after"));
    const isNew = ({ position, isRemoved }) => position > after && !isRemoved;
    const all = messages.filter(isNew);
    const found = all.slice(0, pageSize);
    const hasMore = found.length < all.length;
    const changed = [...conversations.values()].filter((each) => !hasMore && each.changed > after);
    if (!found.length && !changed.length && !messages.some(({ id }) => id === query.get("prompt"))) {
      if (clock.now() - polled < poll) return refused(429, "poll");
      polled = clock.now();
    }
    return done({ messages: found.map((each) => messageDocument(each, account)),
      conversations: changed.map(conversationDocument), ...(hasMore && { more: true }), now: clock.now(),
      after: Math.max(after, ...[...found.map(({ position }) => position), ...changed.map((each) => each.changed)]) });
  }

  function page(name, account) {
    if (strangers.includes(name)) return refused(404);
    const found = messages.filter((each) => each.name === name && !each.isRemoved).reverse();
    return done({ messages: found.map((each) => messageDocument(each, account)), now: clock.now(),
      conversation: conversationDocument(withPerson(name)) });
  }

  function send({ body: { to, ...content }, headers }, account) {
    const key = headers["Idempotency-Key"];
    if (!sent.has(key) && strangers.includes(to)) return refused(404, "to");
    if (!sent.has(key)) sent.set(key, add(to, true, content));
    return done(messageDocument(sent.get(key), account), 201);
  }

  return {
    changes,
    handles: ({ path }) => /^\/user\/(messages|conversations)([/?]|$)/.test(path),
    /** The id of a message by its text. */
    find: (text) => messages.find((each) => each.content.text === text)?.id,
    /** The answer to a person. */
    answer(request, account) {
      const [place, query] = request.path.split("?");
      const [, , kind, id] = place.split("/");
      if (kind === "conversations") return page(decodeURIComponent(id), account);
      switch (`${request.method} ${id ?? ""}`) {
        case "GET ": return news(new URLSearchParams(query), account);
        case "POST ": return send(request, account);
        case "PUT received": return done(undefined, 204);
        default: {
          const found = messages.find((each) => each.id === id);
          if (found) change(found.name, { seen: Math.max(withPerson(found.name).seen ?? 0, found.number) });
          return done(undefined, 204);
        }
      }
    },
  };
}
