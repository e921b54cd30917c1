import { withQuery } from "../lib/api.js";
import { session } from "../lib/session.js";

const names = ["q", "view", "channel", "area", "subject", "sender", "period", "from", "to"];
const days = { today: 0, week: 6, month: 29 };

/**
 * What is shown, as the address of the page says it. `view` is "", "mine", "scheduled", "held", "rejected", "failed" or
 * "expired".
 */
export function filtersFrom(search) {
  const query = new URLSearchParams(search);
  return Object.fromEntries(names.map((name) => [name, query.get(name) ?? ""]));
}

/** The page's address for filters. */
export const pathFor = (filters) => withQuery("/portal/messages/", filters);

export const isUnfiltered = (filters) => names.every((name) => !filters[name]);

/**
 * The last word may be its beginning: people look while they type. A prefix needs two letters, and an ideograph is a
 * word.
 */
const beginnings = (q) => q.trim()
  .replace(/[\p{L}\p{N}]{2,}$/u, (word) => (/\p{Ideographic}/u.test(word) ? word : `${word}*`));

const midnight = (date) => new Date(`${date}T00:00`).getTime();

/** The parameters of `GET /message`. */
export function parametersFor(filters) {
  const { q, view, channel, area, subject, period } = filters;
  let { sender, from, to } = filters;
  const parameters = { q: beginnings(q), channel, area, subject };
  if (view === "mine") sender = session.account;
  if (view === "scheduled") parameters.state = "pending";
  if (["held", "rejected", "failed", "expired"].includes(view)) parameters.state = view;
  if (period in days) {
    const day = new Date();
    day.setHours(0, 0, 0, 0);
    day.setDate(day.getDate() - days[period]);
    parameters.from = day.getTime();
  } else if (period === "dates") {
    if (from) parameters.from = midnight(from);
    if (to) {
      const end = new Date(midnight(to));
      end.setDate(end.getDate() + 1);
      parameters.to = end.getTime();
    }
  }
  return { ...parameters, sender };
}
