import { readCube } from "../lib/cube.js";
import { t } from "../lib/text.js";

// The names of what is in the cube now, by every identifier that the log has for it.
const names = new Map();

/** Reads the names. Without them, the log shows identifiers. */
export async function readNames() {
  try {
    const { channels } = await readCube();
    for (const channel of channels) {
      names.set(channel._id, [channel.name]);
      for (const area of channel.areas) {
        for (const id of [area.id, `${channel._id}-${area.id}`]) names.set(id, [channel.name, area.name]);
        for (const subject of area.subjects) {
          for (const id of [subject.id, subject.topic_key]) {
            names.set(id, [channel.name, area.name, subject.name]);
          }
        }
      }
    }
  } catch {
    // The log can be read without them.
  }
}

/** The names of a channel, area or subject with those of what it is in, or `null`. */
export const namesOf = (id) => names.get(id) ?? null;

/** The names of what a thing is in, such as Campus › Weather for a subject. Parts that were deleted are left out. */
export function namesAround(id) {
  // A subject that was moved is not where its identifier says.
  if (names.has(id)) return names.get(id).slice(0, -1);
  const parts = id.split("-");
  for (let count = parts.length - 1; count > 0; count -= 1) {
    const found = names.get(parts.slice(0, count).join("-"));
    if (found) return found;
  }
  return null;
}

/** The account of a person of a class, whose identifier begins with that of the class: 24 digits and a hyphen. */
export const memberOf = (id) => id.slice(25);

/** The name of the thing that an entry is about, as it was then. */
export function nameOf({ action, object, before, after }) {
  if (object.kind === "account" || action.startsWith("sign_in.")) return object.id;
  if (object.kind === "cube") return t("audit.thing.cube");
  if (object.kind === "broadcast") return titleOf(after ?? before) ?? object.id;
  const known = namesOf(object.kind === "message" ? (after ?? before)?.topic_key : object.id);
  if (object.kind === "message") return known ? known.join(" › ") : t("audit.thing.deletedSubject");
  if (object.kind === "access_code") return (after ?? before)?.note ?? object.id;
  if (object.kind === "class_member") return memberOf(object.id);
  if (object.kind === "study_session") return before?.host || object.id;
  if (object.kind === "study_post") return before?.author ?? object.id;
  return after?.name ?? before?.name ?? known?.at(-1) ?? t("audit.thing.deleted");
}

/** A broadcast's title in its default language, or the feature that it switches. */
function titleOf(broadcast) {
  const action = broadcast?.actiondata;
  return action?.translations?.[broadcast.language]?.title ?? action?.feature;
}
