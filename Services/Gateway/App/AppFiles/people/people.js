// The tab about people: who is not signed in sees how to sign in, and who is sees their friends.

import { fill, h } from "../lib/dom.js";
import { currentRoute, replaceRoute } from "../lib/route.js";
import { app, state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { signInOf } from "../core/sign-in.js";
import { toast } from "../elements/toast.js";
import { blockedView } from "./blocked.js";
import { friendsView } from "./friends.js";
import { landingView } from "./landing.js";
import { personView } from "./person.js";
import { reasonOf } from "./reasons.js";
import { requestsView } from "./requests.js";

const views = { friends: friendsView, requests: requestsView, blocked: blockedView, person: personView };

/** The page. `given` is what the browser has brought back from a provider's page, or `null`. */
export function peoplePage({ given }) {
  const element = h("section", { class: "page" });
  let shown = null;
  let inner = null;
  /** The page that the person came from to sign in, if that was another one. */
  let next = null;

  function update() {
    const { tab, page, account = "" } = currentRoute();
    if (tab !== "people") return;
    if (next && state.people.account) {
      location.replace(next);
      // It may be a page of the app itself, which stays open.
      next = null;
      return;
    }
    const isThere = Object.hasOwn(views, page) && (page !== "person" || account);
    const name = !state.people.account ? "landing" : isThere ? page : "friends";
    const print = JSON.stringify([name, account, state.people.account]);
    if (print !== shown?.print) {
      inner = name === "landing" ? landingView() : views[name](account);
      fill(element, inner);
      // The focus follows to the view's heading.
      if (shown) inner.querySelector("h1").focus({ preventScroll: true });
      shown = { print };
    }
    inner.update();
  }

  /** Says what came of a further way to sign in, on the page that has them. The toasts of another page close. */
  function tellAtAccount(text) {
    replaceRoute({ tab: "settings", page: "account" });
    toast(text);
  }

  /** The browser comes back from a provider's page. */
  async function comeBack() {
    const { account, ask } = await app.people();
    let isLink = false;
    let provider;
    try {
      const { purpose, credential, from } = signInOf({ account }).finish(given);
      isLink = purpose === "link";
      provider = credential.provider;
      if (isLink) {
        await ask("POST", "/user/identities", credential, crypto.randomUUID());
        tellAtAccount(t("ways.added"));
      } else {
        next = from;
        await inner?.signIn?.(credential);
      }
    } catch (error) {
      if (isLink || error.purpose === "link") tellAtAccount(reasonOf(error, provider));
      else if (inner?.fail) inner.fail(error);
      else toast(reasonOf(error));
    }
  }

  if (given) {
    update();
    comeBack().catch((error) => toast(reasonOf(error)));
  }
  return Object.assign(element, { update });
}
