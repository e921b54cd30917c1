import { explain, post } from "../lib/api.js";
import { shrunk } from "../lib/shrink.js";
import { t } from "../lib/text.js";

/** How long an upload may take, in milliseconds. */
const patience = 90_000;
/** What the hub tells apart by its sentence alone, which is in English. */
const many = /^\d+ pictures that you have published /;

/** Uploads a picture of this device for a message. Resolves to its `address`, or to the `problem` in words. */
export async function uploadPicture(file) {
  let small;
  try {
    small = await shrunk(file);
  } catch {
    return { problem: t("send.picture.unreadable") };
  }
  try {
    return { address: (await post("/pictures", small, { timeout: patience })).url };
  } catch (error) {
    if (error.status !== 409) return { problem: explain(error) };
    return { problem: t(many.test(error.message) ? "send.picture.many" : "send.picture.noAddress") };
  }
}
