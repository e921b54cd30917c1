// Messages as a file that outlives the app's data.

/** A moment by the device's clock: 2026-11-24 13:00 */
const timeOf = (moment, clock) => new Date(moment + clock.offset(moment)).toISOString().slice(0, 16).replace("T", " ");

/** The messages as a text, whose words `text(key)` has. `subjects` are those of the cube by their topic keys. */
export function textFile(messages, subjects, text, clock) {
  const all = messages.map((message) => {
    const { names } = subjects.get(message.topic_key) ?? { names: [text("message.unknown")] };
    const facts = [names.join(" › "), timeOf(message.timestamp, clock)];
    if (message.dist === "Alert") facts.unshift(text("message.alert"));
    const missing = message.omitted.length ? `[${text("export.missing")}]` : "";
    const lines = [message.desc, message.message, missing, message.link].filter(Boolean);
    return [...(message.title ? [message.title] : []), facts.join(" · "), "", ...lines].join("\n");
  });
  return `${all.join("\n\n\n")}\n`;
}

/** The messages as JSON: the seed's fields, and the link and the missing texts if there are any. */
export const jsonFile = (messages) => JSON.stringify(messages
  .map(({ msi_key, topic_key, dist, title, desc, message, timestamp, link, omitted }) => ({ msi_key, topic_key, dist,
    title, desc, message, timestamp, link: link ?? undefined, omitted: omitted.length ? omitted : undefined })));
