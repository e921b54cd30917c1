import { t } from "./text.js";
import { toast } from "../elements/toast.js";

/** Sends a request to the phone's process. Returns whether it was accepted. If not, the page says why, except with `isQuiet`. */
export async function send(method, path, body, { isQuiet = false } = {}) {
  try {
    const response = await fetch(path, body === undefined ? { method }
      : { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    if (response.ok) return true;
    const { error } = await response.json().catch(() => ({}));
    if (!isQuiet) toast(error ? t("error.refused", { error }) : t("error.unknown"));
  } catch {
    if (!isQuiet) toast(t("error.unreachable"));
  }
  return false;
}

/** Saves the answer of a path as a file. */
export function download(path) {
  const link = Object.assign(document.createElement("a"), { href: path, download: "" });
  document.body.append(link);
  link.click();
  link.remove();
}
