// Conversations as the app shows them: what the hub says of them, with what this device has. Pure.

/** The length of a text in the list of conversations. */
const previewLength = 120;

/** The form of an account's name in which names of the same account are equal. */
export const keyOf = (account) => account.toLowerCase();
const isSame = (one, other) => keyOf(one) === keyOf(other);
const row = "with ";
/** The row of a conversation. */
export const rowOf = (account) => row + keyOf(account);

/** A message as this device keeps it: `account` is the key of the other person, and `name` their name. */
export function letterOf({ id, from, to, number, at, text, picture }, own) {
  const isOwn = isSame(from, own);
  const name = isOwn ? to : from;
  return { id, account: keyOf(name), name, isOwn, number, at, text: text ?? null, picture: picture ?? null };
}

/**
 * A conversation of which nothing is known. `last` to `expired` are numbers of messages, as the hub's document has
 * them. `got` is the last message of the other person that this device has, `newest` the last one of both, and `gaps`
 * are the numbers up to which messages were removed before this device got them. Of the person's messages behind the
 * first and up to the second number of each pair in `lost`, none was delivered.
 */
export const noConversation = (account) => ({ account, last: 0, seen: 0, removed: 0, delivered: 0, read: 0, expired: 0,
  unread: 0, got: null, newest: null, gaps: [], lost: [] });

/** A conversation with further messages. */
export function withLetters(conversation, letters) {
  const next = { ...conversation };
  for (const { id, isOwn, number, at, text, picture } of letters) {
    next.last = Math.max(next.last, number);
    if (number > (next.newest?.number ?? 0)) {
      const preview = text === null ? null : [...text].slice(0, previewLength).join("");
      next.newest = { number, isOwn, at, text: preview, isPicture: picture !== null };
    }
    if (isOwn) continue;
    if (number > (next.got?.number ?? 0)) next.got = { id, number };
    if (number > next.seen) next.unread += 1;
  }
  return next;
}

/** Whether the hub has removed further messages of the other person. */
export const hasRemovedMore = (conversation, { removed }) => (removed ?? 0) > conversation.removed;

/**
 * A conversation with what the hub says of it, after the messages that came with that. Nothing goes back. `isMissed`:
 * this device does not have the last of the messages that were removed since, so it did not get what was before it.
 */
export function withMarks(conversation, marks, isMissed) {
  const max = (field) => Math.max(conversation[field], marks[field] ?? 0);
  const got = conversation.got?.number ?? 0;
  const removed = max("removed");
  const gaps = isMissed ? [...conversation.gaps.filter((each) => each < got), removed] : conversation.gaps;
  const [delivered, expired] = [max("delivered"), max("expired")];
  // A later message that is delivered moves that mark past those that have waited for too long.
  const before = Math.max(conversation.expired, delivered);
  const lost = expired > before ? [...conversation.lost, [before, expired]] : conversation.lost;
  // Who switches read marks off shows none any more.
  return { ...conversation, account: marks.account, last: max("last"), seen: max("seen"), removed, delivered, expired,
    read: marks.read ?? 0, gaps, lost };
}

/** What has become of a message of the person. */
export function markOf({ read, delivered, lost }, number) {
  if (lost.some(([before, last]) => number > before && number <= last)) return "expired";
  if (number <= read) return "read";
  return number <= delivered ? "delivered" : "sent";
}

/** Whether a message was removed before this device got it: the hub's last one is none that it has, and none waits. */
export const lacksLast = ({ last, newest, removed }, waits) => waits.length === 0
  && last > Math.max(newest?.number ?? 0, removed);

/**
 * What waits to be sent to a person, in its order, each with its `mark`: "sending", "waits", "waits.server" if the hub
 * has answered that it does not take it now, "waits.full" if it has no room, or "refused" if it does not take it. One
 * that waits holds the later ones.
 */
export function waitingFor(direct, account) {
  let held = null;
  return direct.waits.filter(({ action, about }) => action === "message" && isSame(about.to, account)).map((each) => {
    if (each.error !== null && !each.refusal) held ??= each;
    return { ...each, mark: each.refusal ? "refused" : held ? `waits${answerOf(held)}` : "sending" };
  });
}

const answerOf = ({ status }) => (status === 507 ? ".full" : status ? ".server" : "");

/** The conversation with a person, as far as the app knows it. */
export const conversationWith = ({ direct }, account) => direct[rowOf(account)] ?? noConversation(account);

/** The conversations of the list, with what `waits` in each: those first, and then those that are the newest. */
export function conversationsOf({ direct, people }) {
  const known = Object.entries(direct).filter(([name]) => name.startsWith(row)).map(([, value]) => value);
  const begun = direct.waits.filter(({ action, about }) => action === "message" && !direct[rowOf(about.to)])
    .map(({ about }) => noConversation(about.to));
  const unique = new Map([...known, ...begun].map((each) => [keyOf(each.account), each]));
  const isBlocked = ({ account }) => people.blocked?.some((each) => isSame(each, account));
  return [...unique.values()].filter((each) => !isBlocked(each))
    .map((each) => ({ ...each, waits: waitingFor(direct, each.account) }))
    .sort((one, other) => (other.waits.length > 0) - (one.waits.length > 0) || other.last - one.last);
}

/** Whether the person may write to another one, as far as the app knows: a friend, or perhaps a classmate. */
export const mayWrite = ({ people }, account) => !people.friends || people.messaging?.classmates === true
  || people.friends.some((each) => isSame(each, account));
