// The page's side of the service worker, which keeps the app's files for starts without a network.

const scope = "/app/";
/** How long a start waits for a newer version, in milliseconds. */
const patience = 2_000;
/** The time between looks for a newer version while the app stays open, in milliseconds. */
const interval = 3_600_000;

/** The page's policy wants script addresses to be made here. */
const rules = { createScriptURL: (address) => address };
const policy = globalThis.trustedTypes?.createPolicy("service-worker", rules) ?? rules;

/** Registers one of the two service workers. */
const register = (name, type) => navigator.serviceWorker.register(policy.createScriptURL(scope + name),
  { scope, type, updateViaCache: "none" });

let registration = null;

/** Whether a newer version is complete, and waits for the next start. */
export const isNewerWaiting = () => Boolean(registration?.waiting);
/** Whether the app starts without a network. */
export const worksOffline = () => Boolean(registration?.active);

/**
 * Starts with the newest version that is complete: loads the page again if one waits and no other page of the app is
 * open. Browsers activate it themselves when the last page is closed, but not when it is loaded again.
 */
export async function startNewest() {
  registration = await navigator.serviceWorker?.getRegistration(scope).catch(() => null) ?? null;
  if (!registration?.waiting || !navigator.serviceWorker.controller) return;
  const isReplaced = new Promise((resolve) => {
    navigator.serviceWorker.addEventListener("controllerchange", () => resolve(true), { once: true });
    setTimeout(resolve, patience, false);
  });
  registration.waiting.postMessage("start");
  if (!(await isReplaced)) return;
  location.reload();
  await new Promise(() => {});
}

/** Keeps the app's files, and looks for newer ones. Returns whether the browser agrees. */
export async function keepFiles() {
  if (!navigator.serviceWorker) return false;
  try {
    // Older browsers take no modules as workers. They get the worker without pushes.
    registration = await register("push-worker.js", "module").catch(() => register("service-worker.js"));
  } catch {
    // A certificate that the browser does not trust, or no space. The app works online.
    return false;
  }
  let looked = Date.now();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden || Date.now() - looked < interval) return;
    looked = Date.now();
    // Offline it fails; there is a next time.
    registration.update().catch(() => {});
  });
  return true;
}
