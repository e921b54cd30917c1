// Whether this browser can install the app, and how. It imports nothing: browsers offer the installation early.

let offer = null;
const listeners = new Set();
const tell = () => { for (const listener of listeners) listener(); };

addEventListener("beforeinstallprompt", (event) => {
  event.preventDefault();
  offer = event;
  tell();
});
addEventListener("appinstalled", () => {
  offer = null;
  tell();
});

/** Calls `listener` when the way to install may be another one. */
export const onInstallation = (listener) => listeners.add(listener);

/** Whether the page runs as an installed app. */
export const isInstalled = () => matchMedia("(display-mode: standalone)").matches || navigator.standalone === true;

/**
 * How this browser installs the app: "installed" already, "insecure" (not without https), by a "button" of the page, by
 * the share menu of "ios", by the menu of "firefox" on Android or of another browser ("menu"), or "none".
 */
export function wayToInstall() {
  if (isInstalled()) return "installed";
  if (!isSecureContext) return "insecure";
  if (offer) return "button";
  if ("standalone" in navigator) return "ios";
  if (/Android.*Firefox\//.test(navigator.userAgent)) return "firefox";
  return "onbeforeinstallprompt" in window ? "menu" : "none";
}

/** Why this browser cannot show notifications: "insecure", "ios" (not installed) or "none"; "" if it can. */
export const pushObstacle = () => (!isSecureContext ? "insecure" : "PushManager" in window && navigator.serviceWorker
  ? "" : "standalone" in navigator && !isInstalled() ? "ios" : "none");

/** Lets the browser ask whether to install the app. */
export async function install() {
  const event = offer;
  offer = null;
  await event?.prompt();
  tell();
}
