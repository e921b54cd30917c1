// Whether the host of a study session is there, as the hub has said it. Pure. It is apart from study-state.js, which
// pages without sessions do not load.

/** Whether two texts are names of the same account. */
export const isSame = (one, other) => one?.toLowerCase() === other?.toLowerCase();

/**
 * What the hub made of the host's last report about a session: `{}` without one, and after a change of the place or the
 * host, which the hub counts from the beginning.
 */
export function presenceAt({ presence = {} }, { id, host, place }) {
  const known = presence[id];
  const isSamePlace = ["latitude", "longitude"].every((part) => known?.place?.[part] === place?.[part]);
  return known && isSamePlace && isSame(known.host, host) ? known : {};
}
