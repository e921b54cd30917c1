// The classes of the person who is signed in, of the app's state.

import { app, state } from "../lib/state.js";

/** The classes in which the person is of the staff; `null` before the hub has told them. */
export const myClasses = () => state.study.classes?.filter(({ role }) => role !== "student") ?? null;

/** One of them; `undefined` for none. */
export const classOf = (id) => myClasses()?.find((each) => each.id === id);

/** Reads all of the person's classes from the hub; `undefined` for none. The page is told when they have changed. */
export async function readClasses() {
  const { study } = await app.people();
  return study.load("classes");
}

/** Reads them after a change. If that fails, the next look of the app's core brings it. */
export const readChanged = () => readClasses().catch(() => {});
