import { h } from "../lib/dom.js";
import { send } from "../lib/requests.js";
import { pathText } from "../lib/subjects.js";
import { tn } from "../lib/text.js";
import { toast } from "../elements/toast.js";

/** Mutes or unmutes a subject, and says what that means. */
export async function mute(subject) {
  const muted = !subject.muted;
  if (await send("PUT", `/subscriptions/${subject.topic_key}/mute`, { muted })) {
    toast(tn(muted ? "mute.begun" : "mute.ended", { subject: h("bdi", null, pathText(subject)) }), { seconds: 8 });
  }
}
