// What the professor's page asks the hub. Nothing of it is kept in the browser: the page is for people at a desk, who
// see when the hub is away, and try again.

import { app } from "../lib/state.js";
import { refusal, unreadable } from "../core/errors.js";

/** The maximum number of elements of a page of a list. */
const pageLimit = 100;
/** The hub collects the sessions of a term, in milliseconds. */
const patience = 120_000;

/** The path of something of a class. */
export const classPath = (id, rest = "") => `/classes/${id}${rest}`;
/** The path of something of a session. */
export const sessionPath = (group, id, rest = "") => classPath(group, `/sessions/${id}${rest}`);

/** The document of the hub's answer. A refusal throws an AppError. */
export const ask = async (method, path, body, key) => (await app.people()).ask(method, path, body, key);

/** A path with the given parameters; empty ones are left out. */
export function withQuery(path, parameters) {
  const query = new URLSearchParams(Object.entries(parameters)
    .filter(([, value]) => value !== undefined && value !== null && value !== ""));
  return query.size ? `${path}?${query}` : path;
}

/** The list of a name in the hub's answer. */
export async function askList(path, name) {
  const body = await ask("GET", path);
  if (!Array.isArray(body?.[name])) throw unreadable(path);
  return body[name];
}

/**
 * The elements of a list that comes in pages, at most about `max`: `{items, isCut}`. `parameters` choose among them.
 */
export async function askAll(path, name, parameters = {}, max = 1_000) {
  const items = [];
  // Where the next page begins.
  let after;
  do {
    const body = await ask("GET", withQuery(path, { ...parameters, limit: pageLimit, after }));
    if (!Array.isArray(body?.[name])) throw unreadable(path);
    items.push(...body[name]);
    after = body.next;
  } while (after && items.length < max);
  return { items, isCut: Boolean(after) };
}

/** A file of the hub, of a media type, as the browser has it. */
export async function askFile(path, type) {
  const { account } = await app.people();
  const answer = await account.open(path, { Accept: type }, AbortSignal.timeout(patience));
  if (answer.status === 200) return answer.blob();
  throw refusal(path, { status: answer.status, body: await answer.json().catch(() => null) });
}

/**
 * Sends the same request with the same key until it was answered, so that the hub does it once. Call it with what is
 * sent; another content is another request.
 */
export function keyed() {
  let sent = "";
  let key = null;
  return async (method, path, body) => {
    const text = JSON.stringify([method, path, body]);
    if (sent !== text) [sent, key] = [text, crypto.randomUUID()];
    const answer = await ask(method, path, body, key);
    sent = "";
    return answer;
  };
}
