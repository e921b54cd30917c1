import { saveFile } from "./save-file.js";
import { t } from "./text.js";
import { toast } from "../elements/toast.js";

/** The answer of the phone's process, or `null` if it refuses. Then the page says why, except with `isQuiet`. */
async function answerOf(method, path, body, { isQuiet = false } = {}) {
  try {
    const response = await fetch(path, body === undefined ? { method }
      : { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    if (response.ok) return response;
    const { error } = await response.json().catch(() => ({}));
    if (!isQuiet) toast(error ? t("error.refused", { error }) : t("error.unknown"));
  } catch {
    if (!isQuiet) toast(t("error.unreachable"));
  }
  return null;
}

/** Sends a request to the phone's process. Returns whether it was accepted; see `answerOf`. */
export const send = async (...request) => (await answerOf(...request)) !== null;

/** Saves the answer of a path as a file, and then says `done`. */
export async function download(path, done) {
  const response = await answerOf("GET", path);
  const content = await response?.blob().catch(() => { toast(t("error.unreachable")); });
  if (!content) return;
  const [, name] = /filename="(.+)"/.exec(response.headers.get("Content-Disposition"));
  saveFile(content, name);
  toast(done);
}
