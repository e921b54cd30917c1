// Documents of the hub that belong to the person who is signed in, in a store of the app's data.

import { refusal, unreadable } from "./errors.js";

/**
 * Reads a document of the hub into the row `name` of a store. `read` makes the row's value of the document, or returns
 * `undefined` for one that is not as expected. With a status of `gone` there is nothing for this person, and no row.
 * Resolves to the value, or to `undefined` without one.
 */
export async function readDocument({ account, database, store, name, path, read, gone = [403], signal }) {
  const own = await account.device();
  if (!own) return undefined;
  const found = await account.authorized("GET", path, { signal });
  const isGone = gone.includes(found.status);
  if (found.status >= 400 && !isGone) throw refusal(path, found);
  const value = isGone ? undefined : read(found.body);
  if (value === undefined && !isGone) throw unreadable(path);
  await database.write(async (tx) => {
    // The person may have signed out.
    if ((await tx.get("account", "device"))?.id !== own.id) return;
    if (isGone) await tx.remove(store, name);
    else await tx.put(store, { name, value });
  });
  return value;
}
