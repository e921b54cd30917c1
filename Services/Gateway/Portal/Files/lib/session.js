import { ApiError, get } from "./api.js";
import { setOwner } from "./store.js";

/** Who is signed in, as `GET /session` says; the shell waits for it before it shows a page. */
export let session = null;

/** Reads the session again, such as after a sign-in. Returns `null` if nobody is signed in. */
export async function readSession() {
  try {
    session = await get("/session", { remedy: false });
    setOwner(session.account);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    session = null;
  }
  return session;
}

/** Whether the signed-in person has a right: "read", "send" or "administer". */
export const may = (right) => session?.rights.includes(right) ?? false;

/** Whether the signed-in person may send to a subject. */
export const maySendTo = (topicKey) => may("send") && (session.topics === undefined || session.topics.includes(topicKey));
