// The app's state, as its core tells it in this browser.
import { openApp } from "../core/app.js";
import { language, t } from "./text.js";

/** Whether the app has pop-ups, of which a subject's can be muted. */
export const hasPopUps = false;

/** The last state, or `null` before the first one. */
export let state = null;
/** The app's core, or `null` before it is open. */
export let app = null;

/** Now, in milliseconds, by the clock of this device. */
export const phoneNow = () => Date.now();

/**
 * Opens the app and follows its state. `changed` is called after each change; `lost` with why the data cannot be used,
 * and with `null` when they can. A page that shows no messages does not look for them (`looks: false`).
 */
export async function follow({ changed, lost, looks = true }) {
  let isReading = false;
  let isOutdated = false;

  async function read() {
    isOutdated = true;
    if (isReading) return;
    isReading = true;
    while (isOutdated) {
      isOutdated = false;
      try {
        const next = await app.state();
        state = { ...next, control: { offline: !navigator.onLine } };
        lost(null);
        changed();
      } catch (error) {
        lost(error);
      }
    }
    isReading = false;
  }

  try {
    app = await openApp({ language: () => language, text: t });
  } catch (error) {
    lost(error);
    return;
  }
  app.show(!document.hidden);
  app.changes(read);
  addEventListener("online", () => { read(); app.refresh(); app.show(!document.hidden); });
  addEventListener("offline", read);
  document.addEventListener("visibilitychange", () => {
    app.show(!document.hidden);
    // What cannot be reported now waits for the next start.
    if (document.hidden) app.report().catch(() => {});
    else app.refresh();
  });
  if (looks) app.run();
  await read();
}
