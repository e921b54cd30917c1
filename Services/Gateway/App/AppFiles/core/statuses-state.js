// What the pages show of statuses, of the app's state. Pure.

/** A clock that was set back by less than this is one that was corrected, in milliseconds. */
const tolerance = 60_000;

const isSame = (one, other) => one.toLowerCase() === other.toLowerCase();

/**
 * The statuses at a moment of this device: `own`, which is `null` for none, and those of friends in `list`, with what
 * the person has not seen first and then the newest. A status ends by the hub's clock, `hub`, as far as the device
 * knows it: also without a network. If the device's clock was set back since, nobody can tell what has ended.
 */
export function shownStatuses({ direct, people }, now) {
  const { list = [], own = null, ahead = 0, at = 0 } = direct.statuses ?? {};
  const hub = now + ahead;
  const isThere = (status) => status.expires > hub && hub > at - tolerance;
  const isFriend = ({ account }) => people.friends?.some((name) => isSame(name, account)) ?? true;
  return { hub, own: own && isThere(own) ? own : null,
    list: list.filter((status) => isThere(status) && isFriend(status))
      .sort((one, other) => one.seen - other.seen || other.at - one.at || (one.id < other.id ? -1 : 1)) };
}
