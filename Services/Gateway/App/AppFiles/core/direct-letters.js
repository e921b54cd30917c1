// The messages between persons that this device keeps, in its data.

import { hasRemovedMore, keyOf, noConversation, rowOf, withLetters, withMarks } from "./direct-state.js";

/** Visits the messages of a conversation between two numbers, until `visit` returns `false`. */
const visitLetters = (tx, key, [after, before], direction, visit) => new Promise((resolve, reject) => {
  const range = IDBKeyRange.bound([key, after], [key, before], true, true);
  const request = tx.store("letters").index("place").openCursor(range, direction);
  request.onerror = () => reject(request.error);
  request.onsuccess = () => {
    const cursor = request.result;
    if (!cursor || visit(cursor.value) === false) resolve();
    else cursor.continue();
  };
});

async function countUnread(tx, key, seen) {
  let count = 0;
  await visitLetters(tx, key, [seen, Infinity], "next", ({ isOwn }) => { if (!isOwn) count += 1; });
  return count;
}

/** Whether a message is here. Others may have come behind it. */
async function hasLetter(tx, key, number) {
  let isHere = false;
  await visitLetters(tx, key, [number - 1, number + 1], "next", () => { isHere = true; });
  return isHere;
}

/** Stores messages, and what the hub says of conversations. What is there already stays as it is. */
export async function takeLetters(tx, letters, conversations) {
  const changed = new Map(conversations.map((marks) => [keyOf(marks.account),
    { marks, name: marks.account, added: [] }]));
  for (const { name, ...letter } of letters) {
    if (await tx.get("letters", letter.id)) continue;
    await tx.put("letters", letter);
    if (!changed.has(letter.account)) changed.set(letter.account, { marks: null, name, added: [] });
    changed.get(letter.account).added.push(letter);
  }
  for (const [key, { marks, name, added }] of changed) {
    const known = (await tx.get("direct", rowOf(key)))?.value ?? noConversation(name);
    const seen = Math.max(known.seen, marks?.seen ?? 0);
    let value = withLetters({ ...known, seen }, added);
    // Another device has read them. To count is only needed then: there may be thousands.
    if (seen > known.seen) value = { ...value, unread: await countUnread(tx, key, seen) };
    if (marks) {
      const isMissed = hasRemovedMore(known, marks) && !(await hasLetter(tx, key, marks.removed));
      value = withMarks(value, marks, isMissed);
    }
    await tx.put("direct", { name: rowOf(key), value });
  }
}

/** The last messages of a conversation before a number, in their order, and whether there are earlier ones. */
export async function lettersBefore(tx, account, limit, before) {
  const found = [];
  await visitLetters(tx, keyOf(account), [0, before], "prev", (letter) => found.push(letter) <= limit);
  return { letters: found.slice(0, limit).reverse(), hasEarlier: found.length > limit };
}
