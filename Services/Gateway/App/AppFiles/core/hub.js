// HTTP to the hub's gateway, without cookies.

import { within } from "./clock.js";

/** An answer that takes longer, in milliseconds, is given up, so that the app asks again. */
const limit = 30_000;

/** How long the hub asks to wait before the next try, in milliseconds; a proxy may say more than an hour. */
export const waitOf = (headers) => Math.min(headers.get("Retry-After") * 1_000 || 0, 3_600_000);

/**
 * The gateway of this page. `request` resolves to `{status, tag, wait, body}` with the validator and the document of
 * the answer, which is `undefined` if there is none. It rejects if there was no answer.
 */
export const gateway = {
  async request(method, path, body, headers, signal) {
    const json = body === undefined ? undefined : JSON.stringify(body);
    const response = await fetch(path, {
      method, signal, body: json, cache: "no-store", credentials: "omit", redirect: "error",
      headers: { Accept: "application/json", ...(json && { "Content-Type": "application/json" }), ...headers },
    });
    const text = await response.text();
    let document;
    try { document = JSON.parse(text); } catch { /* it is no document */ }
    const { status, headers: said } = response;
    return { status, tag: said.get("ETag"), wait: waitOf(said), body: document };
  },

  /** The answer to GET as the browser has it, such as a stream or a file. It has a `status` and a `body`. */
  open: (path, headers, signal) => fetch(path, { signal, headers, cache: "no-store", credentials: "omit",
    redirect: "error" }),
};

/** The hub, and in `state` whether its last answer came: "unknown", "reachable" or "unreachable". */
export function connectionTo(hub, clock) {
  const connection = {
    state: "unknown",
    /**
     * The hub's answer, of any status. `tag` is the validator of the document that the app has, `secret` is that of the
     * subscription to pushes or the token of the device, and `key` tells the hub that a request is a repeated one.
     */
    async answer(method, path, { body, tag, secret, key, signal }) {
      const headers = { ...(tag && { "If-None-Match": tag }), ...(secret && { Authorization: `Bearer ${secret}` }),
        ...(key && { "Idempotency-Key": key }) };
      try {
        const answer = await within(clock, limit, (both) => hub.request(method, path, body, headers, both), signal);
        connection.state = answer.status < 500 ? "reachable" : "unreachable";
        return answer;
      } catch (error) {
        if (!signal.aborted) connection.state = "unreachable";
        throw error;
      }
    },
  };
  return connection;
}
