// What the history of a class says: how many sessions there were in each week, and how long people studied each topic.
// Pure, and in the zone of this device.

/** The beginning of the week of a moment: a Monday. */
export function weekOf(milliseconds) {
  const day = new Date(milliseconds);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() - ((day.getDay() + 6) % 7)).getTime();
}

/** The beginning of the next week. Weeks differ in length when clocks are changed. */
function weekAfter(milliseconds) {
  const day = new Date(milliseconds);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + 7).getTime();
}

/** The minutes of all persons at a session. */
export const minutesOf = ({ attendants }) => attendants.reduce((sum, { minutes }) => sum + minutes, 0);

/**
 * The weeks from that of the first session to that of the last one, by when they ended: `{start, sessions, sponsored}`
 * with the numbers of those that students have started and of the sponsored ones. At most `max`, the latest ones.
 */
export function weeksOf(sessions, max = 53) {
  if (!sessions.length) return [];
  const weeks = new Map();
  const moments = sessions.map(({ ended }) => ended);
  const last = weekOf(Math.max(...moments));
  for (let start = weekOf(Math.min(...moments)); start <= last; start = weekAfter(start)) {
    weeks.set(start, { start, sessions: 0, sponsored: 0 });
  }
  for (const { ended, sponsored } of sessions) weeks.get(weekOf(ended))[sponsored ? "sponsored" : "sessions"] += 1;
  return [...weeks.values()].slice(-max);
}

/**
 * The topics, of which people studied the longest first: `{topic, minutes, sessions}`. `minutes` are those of all
 * persons together, and a session counts in full for each of its topics. Upper and lower case make no difference; the
 * latest spelling is shown.
 */
export function topicsOf(sessions) {
  const topics = new Map();
  for (const session of [...sessions].sort((one, other) => other.ended - one.ended)) {
    // Earlier sessions may have a topic in two spellings.
    for (const [key, topic] of new Map(session.topics.map((each) => [each.toLowerCase(), each]))) {
      const known = topics.get(key) ?? { topic, minutes: 0, sessions: 0 };
      known.minutes += minutesOf(session);
      known.sessions += 1;
      topics.set(key, known);
    }
  }
  return [...topics.values()].sort((one, other) => other.minutes - one.minutes || other.sessions - one.sessions
    || (one.topic < other.topic ? -1 : 1));
}

/** Whether a session has a topic, of any case. Every session has no topic. */
export const hasTopic = ({ topics }, topic) => !topic
  || topics.some((each) => each.toLowerCase() === topic.toLowerCase());

/** The orders of the history. Of equal ones the latest comes first. */
export const orders = {
  date: (one, other) => other.ended - one.ended,
  topic: (one, other) => (one.topics[0] ?? "").localeCompare(other.topics[0] ?? "") || other.ended - one.ended,
  attendance: (one, other) => other.attendants.length - one.attendants.length || other.ended - one.ended,
};
