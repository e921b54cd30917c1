/**
 * What went wrong, by its `kind`:
 *
 * - with the hub: "refused" (its answer is no success; with its `status`, the `field` that it names, how long it asks
 *   to `wait`, and the `provider` of a sign-in), "unreadable" or "timeout", and "off" if it sends no pushes;
 * - with the account: "signed out" (nobody is signed in on this device) or "insecure" (the browser has no keys for it);
 * - with a sign-in at a provider: "cancelled", "provider" (it failed there) or "strange" (this tab has not begun it);
 * - with the data: "newer" (a later version of the app has written them), "outdated" (a later version is open in
 *   another tab), "full" (the browser has no space left), "ended" (the app has) or "failed";
 * - with a request of the person: "denied", with the `status` of the answer.
 */
export class AppError extends Error {
  constructor(kind, message, status) {
    super(message);
    Object.assign(this, { name: "AppError", kind, status });
  }
}

/** An answer of the hub that is no success, with its reason. */
export const refusal = (path, { status, body, wait }) => Object.assign(new AppError("refused",
  body?.detail ?? `the hub refused ${path}: status ${status}`, status), { field: body?.field, wait });
export const refused = (path, status) => new AppError("refused", `the hub refused ${path}: status ${status}`);
export const unreadable = (path) => new AppError("unreadable", `the hub's answer to ${path} cannot be read`);
export const denied = (status, message) => new AppError("denied", message, status);
