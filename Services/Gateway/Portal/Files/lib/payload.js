// How much of FCM's limit a message takes. The relay counts in the same way (Shared/FCM/FCMPayload.swift): the keys and
// values of each component.

import { charactersOf } from "./text.js";

/** FCM's limit, in bytes. */
export const payloadLimit = 4_096;

const encoder = new TextEncoder();
const bytes = (text) => encoder.encode(text).length;
const key = "msi_key".length + 24;
const place = "topic_key".length + 74 + "dist".length;
const time = "timestamp".length + 13;

/**
 * The bytes of `{title, desc, message, distribution, image, link, drill}`: `data`, and `popup`, which is 0 for
 * Information.
 */
export function payloadBytes({ title, desc, message, distribution, image, link, drill }) {
  const titleBytes = "title".length + bytes(drill ? `[DRILL] ${title}` : title);
  const data = key + place + bytes(distribution) + titleBytes + "desc".length + bytes(desc) + "message".length +
    bytes(message) + time + (link ? "link".length + bytes(link) : 0);
  if (distribution !== "Alert") return { data, popup: 0 };
  return { data, popup: key + titleBytes + "body".length + bytes(desc) + (image ? "image".length + bytes(image) : 0) };
}

/**
 * What a pop-up shows of a message without a text for the pop-up: its first line, cut between words where phones cut
 * it.
 */
export function beginningOf(message, most = 140) {
  const line = message.split("\n", 1)[0].trim();
  if ([...line].length <= most) return line;
  let cut = "";
  for (const character of charactersOf(line)) {
    if ([...cut, ...character].length >= most) break;
    cut += character;
  }
  return `${cut.replace(/\s+\S*$/, "") || cut}…`;
}
