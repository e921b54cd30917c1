/**
 * What went wrong, by its `kind`:
 *
 * - with the hub: "refused" (its answer is no success; pushes tell its `status` and the wrong `field`), "unreadable" or
 *   "timeout", and "off" if it sends no pushes;
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

export const refused = (path, status) => new AppError("refused", `the hub refused ${path}: status ${status}`);
export const unreadable = (path) => new AppError("unreadable", `the hub's answer to ${path} cannot be read`);
export const denied = (status, message) => new AppError("denied", message, status);
