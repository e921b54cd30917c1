// Switching notifications on, when the person asks for them: browsers ask once.

import { app } from "./state.js";
import { isInstalled } from "./installation.js";

const isApple = "standalone" in navigator;

/** How the person has refused notifications in this browser, as the end of a text's key; "" if not. */
export const refusal = () => (Notification.permission !== "denied" ? ""
  : isApple && isInstalled() ? "denied.ios" : "denied");

/**
 * Switches notifications on. `asked` is the answer to the browser's question, which has to come with the tap. Returns
 * what came of it: the key of a text and its values. The key is "push.on", or says why not.
 */
export async function switchOn(asked) {
  if ((await asked) !== "granted") return [`push.${refusal() || "dismissed"}`];
  try {
    await (await app.pushes()).begin();
    return ["push.on"];
  } catch (error) {
    const reasons = { off: "off", unsupported: "none", later: "later", timeout: "hub", AbortError: "service",
      NotAllowedError: "denied", TypeError: "hub", TimeoutError: "hub" };
    return [`push.${reasons[error.kind] ?? reasons[error.name] ?? "failed"}`, { error: error.message }];
  }
}

/** Switches notifications off. */
export const switchOff = async () => (await app.pushes()).end();
