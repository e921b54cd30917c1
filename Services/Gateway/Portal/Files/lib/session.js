import { ApiError, get } from "./api.js";
import { setOwner } from "./store.js";

/** Who is signed in, as `GET /session` says; the shell waits for it before it shows a page. */
export let session = null;

/** Where a tab keeps the answer to a sign-in for the next page, and for how long it counts, in milliseconds. */
const [fresh, freshness] = ["msi.session", 10_000];

/** Keeps the answer to a sign-in, so that the next page need not ask: the list of topics is long. */
export function passSession(document) {
  try { sessionStorage.setItem(fresh,
      JSON.stringify({ document, at: Date.now() })); } catch { /* a blocked storage: the page asks */ }
}

function passedSession() {
  try {
    const { document, at } = JSON.parse(sessionStorage.getItem(fresh));
    sessionStorage.removeItem(fresh);
    return Math.abs(Date.now() - at) < freshness ? document : null;
  } catch {
    return null;
  }
}

/** Reads the session again, such as after a sign-in. Returns `null` if nobody is signed in. */
export async function readSession() {
  try {
    session = passedSession() ?? await get("/session", { remedy: false });
    setOwner(session.account);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    session = null;
  }
  return session;
}

/** What people call the signed-in person. */
export const myName = () => session.display_name ?? session.account;

/** The letter that stands for somebody. */
export const initialOf = (name) => [...name][0];

/** Whether the signed-in person has a right: "read", "send" or "administer". */
export const may = (right) => session?.rights.includes(right) ?? false;

/** Whether the signed-in person may send to a subject. */
export const maySendTo = (topicKey) => may("send") &&
  (session.topics === undefined || session.topics.includes(topicKey));
