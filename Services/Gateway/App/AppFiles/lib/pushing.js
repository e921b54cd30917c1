// Switching notifications on, when the person asks for them: browsers ask once.

import { app } from "./state.js";
import { isInstalled } from "./installation.js";

const isApple = "standalone" in navigator;

/** How the person has refused notifications in this browser, as the end of a text's key; "" if not. */
export const refusal = () => (Notification.permission !== "denied" ? ""
  : isApple && isInstalled() ? "denied.ios" : "denied");

const reasons = { off: "off", unsupported: "none", later: "later", timeout: "hub", AbortError: "service",
  NotAllowedError: "denied", TypeError: "hub", TimeoutError: "hub", 400: "refused", 409: "often" };

/**
 * Switches notifications on. `asked` is the answer to the browser's question, which has to come with the tap, and `say`
 * is called with the key of a text for what the person waits for. Returns the key of what came of it: "push.on", or why
 * not.
 */
export async function switchOn(asked, say) {
  say(Notification.permission === "default" ? "push.asks" : "push.waits");
  if ((await asked) !== "granted") return `push.${refusal() || "dismissed"}`;
  say("push.waits");
  try {
    await (await app.pushes()).begin();
    return "push.on";
  } catch (error) {
    // What the hub and the browser say is for operators.
    console.warn(error.message);
    return `push.${reasons[error.kind] ?? reasons[error.status] ?? reasons[error.name] ?? "failed"}`;
  }
}

/** Switches notifications off. Returns that there is nothing to say. */
export async function switchOff() {
  await (await app.pushes()).end();
  return "";
}
