import { learnTime } from "./clock.js";
import { hasText, t } from "./text.js";

/** A request that failed: the gateway's problem document (RFC 9457), or no answer at all. */
export class ApiError extends Error {
  constructor(status, problem, retryAfter) {
    super(problem.detail ?? problem.title ?? `HTTP ${status}`);
    this.status = status;
    /** The last part of the problem's type: "invalid-field"; "offline" or "timeout" without an answer. */
    this.kind = (problem.type ?? "").replace("/problems/", "") || "unknown";
    this.field = problem.field;
    this.requestID = problem.request_id;
    /** Seconds. */
    this.retryAfter = retryAfter;
  }

  /** Whether the gateway gave no answer, so that it may have done the work. */
  get isUnanswered() { return this.status === 0 || this.kind === "service-timeout"; }
  /** Whether the same request may succeed in a while. */
  get isTemporary() { return this.isUnanswered || this.status === 503 || this.status === 429; }
}

/** What happened, in words for people, and what to do. */
export function explain(error) {
  const key = `problem.${error.kind}`;
  if (!(error instanceof ApiError)) return t("problem.unknown", { detail: String(error?.message ?? error) });
  return hasText(key) ? t(key, { detail: error.message, count: error.retryAfter ?? 2 }) : t("problem.unknown",
    { detail: error.message });
}

// What a page does about a sign-in that has ended, and about a password that must be confirmed. Each returns whether
// the request should be tried again. The shell sets them.
const remedies = { unauthenticated: null, "confirmation-required": null };

export function setRemedy(kind, remedy) {
  remedies[kind] = remedy;
}

/**
 * Makes a request to the gateway and returns the document of its answer, or `null` if it has none.
 *
 * `options`: `body` (JSON), `headers`, `signal`, `timeout` in milliseconds, `remedy: false` to let a lost sign-in fail,
 * `whole: true` for `{document, headers, status}`.
 */
export async function request(method, path, options = {}) {
  try {
    return await once(method, path, options);
  } catch (error) {
    const isWrongPassword = error.field === "password" || error.field === "code" || error.field === "current_password";
    const remedy = options.remedy === false || isWrongPassword ? null : remedies[error.kind];
    if (!remedy || !(await remedy())) throw error;
    return once(method, path, options);
  }
}

async function once(method, path, { body, headers, signal, timeout = 20_000, whole = false }) {
  const limit = AbortSignal.timeout(timeout);
  let response;
  let document = null;
  try {
    response = await fetch(path, {
      method, signal: signal ? AbortSignal.any([signal, limit]) : limit,
      headers: { Accept: "application/json", ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    learnTime(response.headers.get("Date"));
    if (response.status !== 204 && response.status !== 304 && response.headers.get("Content-Type")?.includes("json")) {
      document = await response.json();
    }
  } catch (error) {
    if (signal?.aborted) throw error;
    // The health pill asks whether the hub is there at all.
    window.dispatchEvent(new Event("hub-unanswered"));
    throw new ApiError(0, { type: error.name === "TimeoutError" ? "timeout" : "offline",
        detail: t("problem.offline") });
  }
  // Only who sends an If-None-Match gets a 304.
  if (!response.ok && response.status !== 304) {
    throw new ApiError(response.status, document ?? {}, Number(response.headers.get("Retry-After")) || undefined);
  }
  return whole ? { document, headers: response.headers, status: response.status } : document;
}

export const get = (path, options) => request("GET", path, options);
export const post = (path, body, options) => request("POST", path, { ...options, body });
export const put = (path, body, options) => request("PUT", path, { ...options, body });
export const remove = (path, options) => request("DELETE", path, options);

/** All items of a list that comes in pages. */
export async function getAll(path, name) {
  const items = [];
  for (let next = path; next;) {
    const page = await get(next);
    items.push(...page[name]);
    next = page.next;
  }
  return items;
}

/** A path with the given parameters; empty ones are left out. */
export function withQuery(path, parameters) {
  const query = new URLSearchParams(Object.entries(parameters)
    .filter(([, value]) => value !== undefined && value !== null && value !== ""));
  return query.size ? `${path}?${query}` : path;
}

/**
 * A key for the header `Idempotency-Key`. `crypto.randomUUID` needs a secure connection, which a test machine's address
 * may lack.
 */
export const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16)
  .padStart(2, "0")).join("");
