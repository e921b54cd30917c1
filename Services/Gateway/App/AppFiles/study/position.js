// Where the person is, as the browser says it. It is asked only after a sentence has said why. The position is in the
// memory of this page alone, and goes to the hub only with what needs it.

import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { dialogButtons, showDialog } from "../elements/dialog.js";
import { toast } from "../elements/toast.js";

/** How old a position may be unless it is to be new, and how long the browser may take for one, in milliseconds. */
const maxAge = 15_000;
const patience = 20_000;
/** The largest accuracy that the hub takes, in metres. */
const maxAccuracy = 1_000_000;
/** Why there is none, by the code of the browser's error. */
const reasons = { 1: "denied", 2: "unknown", 3: "unknown" };

let last = null;
const listeners = new Set();

/** Where the person was last, `{latitude, longitude, accuracy}` in degrees and metres; `null` before it is known. */
export const lastPosition = () => last;

/** Calls `listener` with each new position. Returns a function that ends it. */
export function onPosition(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Why this browser cannot say a position: "insecure" (not without https) or "none"; "" if it can. */
export const positionObstacle = () => (!isSecureContext ? "insecure" : navigator.geolocation ? "" : "none");

/** What the person has told the browser: "granted", "denied" or "prompt". Not every browser says it. */
async function permission() {
  try {
    return (await navigator.permissions.query({ name: "geolocation" })).state;
  } catch {
    return last ? "granted" : "prompt";
  }
}

/** Whether the browser says a position without a question. */
export const isPositionAllowed = async () => !positionObstacle() && (await permission()) === "granted";

/** Asks the browser for the position, at most as old as `age` in milliseconds. Rejects with the browser's error. */
export const locate = (age = maxAge) => new Promise((resolve, reject) => {
  navigator.geolocation.getCurrentPosition(({ coords: { latitude, longitude, accuracy } }) => {
    last = { latitude, longitude, accuracy: Math.min(accuracy, maxAccuracy) };
    for (const listener of listeners) listener(last);
    resolve(last);
  }, reject, { enableHighAccuracy: true, maximumAge: age, timeout: patience });
});

const explain = () => showDialog({ heading: t("position.heading"), make: (close) => [
  h("p", { class: "secondary" }, t("position.why")), h("p", { class: "secondary" }, t("position.kept")),
  dialogButtons(close, h("button", { class: "button main", type: "button", onclick: () => close(true) },
    t("position.ask")))] });

/** The position, after the sentence and the browser's question if they are needed; `null` with the reason said. */
export async function askForPosition() {
  const why = positionObstacle() || ((await permission()) === "denied" ? "denied" : "");
  if (why) {
    toast(t(`position.${why}`));
    return null;
  }
  if (!(await isPositionAllowed()) && !(await explain())) return null;
  try {
    return await locate();
  } catch ({ code }) {
    toast(t(`position.${reasons[code] ?? "unknown"}`));
    return null;
  }
}
