import { saveFile } from "./save-file.js";
import { app } from "./state.js";
import { t } from "./text.js";
import { toast } from "../elements/toast.js";

/** The answer of the app's core, or `null` if it refuses. Then the page says why, except with `isQuiet`. */
async function answerOf(method, path, body, { isQuiet = false } = {}) {
  const answer = path === "/control" ? chooseLanguage(body) : await app.request(method, path, body);
  if (answer.status < 400) return answer;
  if (!isQuiet) toast(answer.status === 507 ? t("note.full") : t("error.refused", { error: answer.body.error }));
  return null;
}

/** Sends a request to the app's core. Returns whether it was accepted; see `answerOf`. */
export const send = async (...request) => (await answerOf(...request)) !== null;

/** Saves the answer of a path as a file, and then says `done`. */
export async function download(path, done) {
  const answer = await answerOf("GET", path);
  if (!answer) return;
  saveFile(new Blob([answer.body], { type: answer.type }), answer.name);
  toast(done);
}

/** The page is loaded in another language. */
function chooseLanguage({ language }) {
  try { localStorage.setItem("msi.app.language", language); } catch { /* a blocked storage forgets it */ }
  location.reload();
  return { status: 204 };
}
