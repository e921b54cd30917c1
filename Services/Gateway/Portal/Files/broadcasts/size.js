// How much of FCM's limit a broadcast takes. The hub counts in the same way: the names and values of the data message,
// in UTF-8.

const encoder = new TextEncoder();
const bytes = (text) => encoder.encode(text).length;
const milliseconds = "1234567890123";
const epoch = "2026-11-25T06:00:00+0000";
/** The longest id: the hub chooses that of a new broadcast. */
const longestID = 2_147_483_647;

/** The bytes of the body of `POST /broadcast` or `PUT /broadcast/:id` as a data message, all languages together. */
export function broadcastBytes(body, { id = longestID, version = 1, language }) {
  const fields = {
    id: String(id), type: String(body.type), epoch: body.epoch ?? epoch, expiry: String(body.expiry),
    actiondata: JSON.stringify(body.actiondata), language,
    version: String(version), starts: milliseconds, expires: milliseconds,
    ...(body.channels ? { channels: body.channels.join(",") } : body.condition ? { condition: body.condition } : {}),
  };
  return Object.entries(fields).reduce((sum, [name, value]) => sum + bytes(name) + bytes(value), 0);
}
