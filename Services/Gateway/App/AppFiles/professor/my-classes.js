// The classes of the person who is signed in, of the app's state.

import { app, state } from "../lib/state.js";

/** The classes in which the person is of the staff; `null` before the hub has told them. */
export const myClasses = () => state.study.classes?.filter(({ role }) => role !== "student") ?? null;

/** One of them; `undefined` for none. */
export const classOf = (id) => myClasses()?.find((each) => each.id === id);

/** Reads them from the hub. The page is told when they have changed. */
export async function readClasses() {
  const { study } = await app.people();
  await study.load("classes");
}
