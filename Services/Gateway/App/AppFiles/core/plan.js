/**
 * Which subjects the app joins and leaves because of the cube. Pure.
 *
 * | the subject | the app |
 * |---|---|
 * | is new, and Forced or Recommended; or becomes so | joins |
 * | was left by the person | rejoins only if it becomes Forced |
 * | is Forced | cannot leave. If it no longer is Forced, an earlier choice to leave counts again |
 * | is deleted | leaves, and remembers the person's choice for the case that it returns |
 *
 * `subjects` are those of the cube, `known` the topics that the app knows. Returns the topics as they are to be
 * remembered.
 */
export function plan(subjects, known) {
  const before = new Map(known.map((topic) => [topic.topic_key, topic]));
  const present = new Map(subjects.map(({ topic_key, level }) => {
    const topic = { ...newTopic(topic_key), ...before.get(topic_key), level, present: true };
    return [topic_key, withSubscription(topic, isWanted(topic))];
  }));
  const gone = known.filter(({ topic_key }) => !present.has(topic_key))
    .map((topic) => withSubscription({ ...topic, present: false }, false));
  return [...present.values(), ...gone];
}

/** A topic of which the app knows nothing. `choice` is what the person has last decided: "joined" or "left". */
export const newTopic = (topic_key) => ({ topic_key, level: "", present: true, subscribed: false, choice: "",
  muted: false, week_pending: false });

/** A topic after it was joined or left. After it was joined, its messages of the week are to be fetched. */
export const withSubscription = (topic, subscribed) => ({ ...topic, subscribed,
  week_pending: subscribed && (topic.week_pending || !topic.subscribed) });

function isWanted({ level, choice, subscribed }) {
  if (level === "Forced") return true;
  if (level === "Recommended") return choice !== "left";
  // Who was subscribed by an earlier level stays so.
  return choice === "joined" || (subscribed && choice !== "left");
}
