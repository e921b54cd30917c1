// The messages of the app's core, over the people of people.js: ann is signed in, and others write to her.

import { deviceClock } from "/core/clock.js";
import { directOf } from "/core/direct.js";
import { conversationWith, waitingFor } from "/core/direct-state.js";
import { messagesOfHub } from "./messages.js";
import { identifierOf } from "./names.js";
import { peopleWith } from "./people.js";

/**
 * Messages with a hub that `change` drives as a case does. `refuses` has the answers that it gives instead, by "METHOD
 * /path" without the query; `pictures(path)` is the answer to a path of a picture, and `uploads` are the bytes that it
 * has got. `isCutOff` says whether the app hears of no events.
 */
export async function directWith() {
  const it = Object.assign(await peopleWith(), { refuses: {}, uploads: [], isCutOff: false });
  const { hub, database, people } = it;
  const clock = { ...deviceClock, now: () => Date.now() + it.skipped,
    sleep: (milliseconds, signal) => deviceClock.sleep(milliseconds / it.pace, signal) };
  const messages = messagesOfHub(clock);
  const asked = [];
  it.pictures = async () => new Response(new Blob(["bytes"], { type: "image/png" }));

  const { request } = hub;
  hub.request = async (method, path, body, headers) => {
    const question = { method, path, body, headers, at: performance.now() };
    const isUpload = path.startsWith("/user/pictures");
    if (!isUpload && path !== "/user/reports" && !messages.handles(question)) {
      return request(method, path, body, headers);
    }
    if (hub.isAway) throw new TypeError("the hub is away");
    asked.push(question);
    const refusal = it.refuses[`${method} ${path.split("?")[0]}`];
    if (refusal) return typeof refusal === "function" ? refusal(question) : refusal;
    if (!isUpload) return JSON.parse(JSON.stringify(messages.answer(question, "ann")));
    it.uploads.push(await body.text());
    return { status: 201, body: { id: identifierOf(`upload ${it.uploads.length}`) } };
  };
  const { open } = hub;
  hub.open = (path, ...more) => {
    if (!path.endsWith("/picture")) return open(path, ...more);
    asked.push({ method: "GET", path });
    return it.pictures(path);
  };

  it.direct = directOf({ name: "people", database, account: people.account, clock,
    tell: () => { it.tell(); it.direct.wake(); }, failed: (error) => it.failures.push(error.message),
    isCutOff: () => it.isCutOff });
  it.change = (members) => { for (const [name, value] of Object.entries(members)) messages.changes[name](value); };
  it.find = messages.find;
  /** What the hub was asked about messages and pictures since the last call. */
  it.asked = () => asked.splice(0).map(({ method, path }) => `${method} ${path.split("?")[0]}`);
  it.questions = () => asked.splice(0);
  it.rows = (store) => database.read((tx) => tx.all(store));
  it.position = async () => (await database.read((tx) => tx.get("direct", "position")))?.value;
  it.texts = async (name) => (await it.direct.letters(name, 100)).letters.map(({ text }) => text);
  it.conversation = async (name) => conversationWith(await it.whole(), name);
  it.waits = async (name) => waitingFor((await it.whole()).direct, name).map(({ about, mark }) => [about.text, mark]);
  /** The loops of the messages, until the function that it returns is called. */
  it.follow = () => {
    const end = new AbortController();
    const running = it.direct.run(end.signal).catch(() => {});
    return async () => { end.abort(); await running; };
  };
  return it;
}
