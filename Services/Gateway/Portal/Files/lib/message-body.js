/** The title as its author has written it. */
export const bareTitle = ({ title, drill }) => (drill ? title.replace(/^\[DRILL\] /, "") : title);

const sent = ["desc", "message", "topic_key", "distribution", "ttl", "send_at", "drill", "follows", "correction",
  "options"];

/**
 * The body with which a stored message can be posted again, or put in its own place. The text of a template is written
 * out.
 */
export const bodyOf = (message) =>
  ({ title: bareTitle(message), ...Object.fromEntries(sent.filter((name) => message[name] !== undefined)
        .map((name) => [name, message[name]])) });
