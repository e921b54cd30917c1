// The way over a provider's page. The browser leaves the app, and comes back with a token in the fragment of the
// address, or with a code in its query. What the app waits for is in the tab's sessionStorage: an answer that this tab
// has not asked for signs nobody in.

import { isListOf, isObject, isText } from "./checks.js";
import { AppError, unreadable } from "./errors.js";

const kept = "msi.app.sign-in";
const page = "/app/";
const flows = ["fragment", "code", "form"];
/** What providers call it if a person says no: OpenID Connect's word, and Facebook's. */
const cancelled = ["access_denied", "user_denied", "login_required", "interaction_required"];
/** How providers say that they have failed: OpenID Connect's member and Facebook's. */
const failures = ["error", "error_code"];
/** How they say why, the best first. */
const explanations = ["error_description", "error_message", ...failures];
/** The maximum length of what a provider says about a failure. */
const maxReason = 200;

const isProvider = (value) => isText(value) && /^[a-z_]{1,30}$/.test(value);
const isOffered = (value) => isObject(value) && isProvider(value.provider) && flows.includes(value.flow)
  && (value.flow !== "fragment" || (isText(value.url) && ["id_token", "access_token"].includes(value.token)));

const randomText = () => [...crypto.getRandomValues(new Uint8Array(16))]
  .map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Sign-ins at providers. `account` is that of `accountOf`. `go(url)` leaves the app. */
export function signInOf({ account, storage = sessionStorage, origin = location.origin,
  go = (url) => location.assign(url) }) {
  /** The provider's page with what it is to come back with, and the `state` that names this attempt. */
  async function pageOf({ provider, flow, url, token }) {
    if (flow === "code") {
      const path = `/user/providers/${provider}/flow`;
      const begun = await account.ask("POST", path, 201);
      if (!isText(begun?.url) || !isText(begun.flow)) throw unreadable(path);
      return { address: begun.url, flow: begun.flow, state: new URL(begun.url).searchParams.get("state") };
    }
    const [address, state] = [new URL(url), randomText()];
    // The token is then for this device alone.
    const added = { redirect_uri: origin + page, state, nonce: await account.thumbprint() };
    for (const [name, value] of Object.entries(added)) address.searchParams.set(name, value);
    return { address: address.href, state, token };
  }

  return {
    /** The ways to sign in that the hub offers and this version knows. A hub of an earlier version offers none. */
    async offered() {
      const found = await account.ask("GET", "/user/providers", 200)
        .catch((error) => { if (error.status === 404) return { providers: [] }; throw error; });
      if (!isListOf(found?.providers, isObject)) throw unreadable("/user/providers");
      return found.providers.filter(isOffered);
    },

    /**
     * Leaves for the page of an offered provider. `purpose` is "sign-in", or "link" for a further way to sign in.
     * `from` is the page to return to, if that is not the app's: providers know the app's alone.
     */
    async begin(offer, purpose, from) {
      const { address, ...rest } = await pageOf(offer);
      storage.setItem(kept, JSON.stringify({ provider: offer.provider, purpose, from, ...rest }));
      go(address);
    },

    /**
     * What the browser came back with, as `{purpose, credential}`, and the page that it came `from`, if that is known.
     * Throws an AppError: "cancelled", "provider" with its reason, or "strange". The first two have the `purpose` and
     * the `provider`.
     */
    finish(given) {
      const begun = JSON.parse(storage.getItem(kept) ?? "null");
      storage.removeItem(kept);
      if (!begun || !begun.state || begun.state !== given.state) {
        throw new AppError("strange", "this tab has not begun a sign-in");
      }
      const { provider, purpose, from, token, flow, state } = begun;
      const fail = (kind, message) => Object.assign(new AppError(kind, message), { purpose, provider });
      if ([given.error, given.error_reason].some((reason) => cancelled.includes(reason))) {
        throw fail("cancelled", "the person has cancelled");
      }
      if (failures.some((member) => given[member])) {
        throw fail("provider", given[explanations.find((member) => given[member])].slice(0, maxReason));
      }
      const proof = flow ? { authorization_code: given.code, flow, state, iss: given.iss } : { [token]: given[token] };
      if (!Object.values(proof)[0]) throw fail("provider", "the answer has no token");
      return { purpose, credential: { provider, ...proof }, ...(from && { from }) };
    },
  };
}
