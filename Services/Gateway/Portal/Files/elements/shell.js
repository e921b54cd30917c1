import { fill, h } from "../lib/dom.js";
import { get, remove, setRemedy } from "../lib/api.js";
import { follow, listen } from "../lib/events.js";
import { icon } from "../lib/icons.js";
import { initialOf, may, myName, readSession, session } from "../lib/session.js";
import { codeField, confirmPassword, signInForm, universityLink } from "../lib/sign-in.js";
import { t } from "../lib/text.js";
import { passwordField, refusal } from "./field.js";
import { showDialog, showForm } from "./dialogs.js";
import { followKeys } from "./keys.js";
import { toast, toastRegion } from "./toast.js";
import "./health-pill.js";

let tellReady;
/** The session, once somebody is signed in and the frame is there. */
export const ready = new Promise((resolve) => { tellReady = resolve; });

const entries = {
  send: { icon: "send", right: "send" },
  messages: { icon: "messages", right: "read" },
  templates: { icon: "template", right: "send" },
  broadcasts: { icon: "broadcast", right: "administer" },
  overview: { icon: "overview" },
  app: { icon: "phone" },
  // A professor signs in there on the device, so it is offered to everybody.
  classes: { icon: "classes" },
  cube: { icon: "cube", right: "administer" },
  people: { icon: "people", right: "administer" },
  tokens: { icon: "key", right: "administer" },
  audit: { icon: "audit", right: "administer" },
  account: { icon: "account" },
};
const isOpen = (name) => !entries[name].right || may(entries[name].right);

/** The frame of a page: navigation, who is signed in, and what every page has to do about sign-ins. */
class Shell extends HTMLElement {
  async connectedCallback() {
    this.page = this.getAttribute("page");
    this.main = this.querySelector("main");
    document.body.append(toastRegion());
    if (!(await this.findSession())) return;
    setRemedy("unauthenticated", signInAgain);
    setRemedy("confirmation-required", confirmWithPassword);
    this.prepend(h("a", { class: "skip unseen", href: "#main" }, t("shell.skip")), this.rail());
    this.append(this.bar());
    // Without a second factor that is required, the gateway tells no events.
    if (session.second_factor !== "required") follow(session.account);
    // Somebody who closes the dialog is not asked again until a request needs the sign-in.
    let isDeclined = false;
    listen("stream", (state) => {
      this.toggleAttribute("offline", state === "lost");
      if (state === "open") isDeclined = false;
      // The stream ends with the sign-in. A request finds out, and asks to sign in again over the page.
      if (state === "lost" && !isLeaving && !isDeclined) {
        get("/session").catch((error) => { isDeclined = error.status === 401; });
      }
    });
    tellReady(session);
    followKeys();
    // The page comes first.
    if (may("read") && may("send")) {
      setTimeout(() => import("./approvals.js").then((module) => module.followApprovals(this), () => {}), 500);
    }
  }

  async findSession() {
    for (;;) {
      try {
        await readSession();
        break;
      } catch {
        await this.waitForGateway();
      }
    }
    const here = location.pathname + location.search + location.hash;
    if (!session || session.second_factor === "pending") {
      location.replace(`/?next=${encodeURIComponent(here)}`);
      return false;
    }
    if (session.second_factor === "required" && this.page !== "account") {
      location.replace("/portal/account/#second-factor");
      return false;
    }
    return true;
  }

  async waitForGateway() {
    this.banner ??= h("p", { class: "banner", role: "alert" }, t("problem.offline"));
    if (!this.banner.isConnected) this.prepend(this.banner);
    await new Promise((resolve) => { setTimeout(resolve, 2_000); });
    // The next answer decides.
    this.banner.remove();
  }

  link(name, className) {
    return h("a", { class: className, href: `/portal/${name}/`, "aria-current": name === this.page ? "page" : null },
      icon(entries[name].icon), h("span", null, t(`nav.${name}`)));
  }

  rail() {
    const list = (names) => h("ul", { class: "plain" }, names.filter(isOpen)
      .map((name) => h("li", null, this.link(name))));
    return h("header", { class: "rail" },
      h("a", { class: "brand", href: "/portal/send/" }, h("span", { class: "mark" }, icon("speaker")), t("product")),
      document.createElement("health-pill"),
      h("nav", { "aria-label": t("shell.navigation") },
        h("div", null, list(["send", "messages", "templates", "overview", "app", "classes"]),
          may("administer") ? [h("p", { class: "section" }, t("nav.administration")),
            list(["broadcasts", "cube", "people", "tokens", "audit"])] : null),
        h("div", { class: "who" },
          h("a", { class: "account", href: "/portal/account/", "aria-current": this.page === "account"
              ? "page" : null }, whoElements()),
          h("button", { class: "button plain small", type: "button", onclick: signOut }, icon("signOut", "small"),
            t("signOut")))));
  }

  /** Shows the display name again after it was changed. */
  showName() {
    fill(this.querySelector(".who .account"), whoElements());
  }

  bar() {
    const shown = (may("administer")
      ? ["send", "messages", "cube", "overview"] : ["send", "messages", "templates", "overview"]).filter(isOpen);
    const rest = Object.keys(entries).filter((name) => isOpen(name) && !shown.includes(name));
    const more = h("div", { class: "more", id: "more", popover: "auto" }, h("ul", { class: "plain" },
      rest.map((name) => h("li", null, this.link(name))),
      h("li", null, h("button", { type: "button", onclick: signOut }, icon("signOut"), t("signOut")))));
    return h("nav", { class: "bar", "aria-label": t("shell.navigation") },
      h("ul", { class: "plain" }, shown.map((name) => h("li", null, this.link(name, "entry"))),
        h("li", null, h("button", {
          class: "entry", type: "button", popovertarget: "more", "aria-current": rest.includes(this.page)
            ? "page" : null,
        }, icon("more"), h("span", null, t("nav.more"))))), more);
  }
}

/** The signed-in person, for the rail. */
const whoElements = () => [
  h("span", { class: "avatar", "aria-hidden": "true" }, initialOf(myName())),
  h("span", { class: "name" }, h("bdi", { title: session.account }, myName()),
    h("small", null, t(`role.${session.role}`)))];

customElements.define("hub-shell", Shell);

/** The head of a page: its heading, one sentence, and its actions. */
export function pageHead({ heading, intro, action }) {
  document.title = `${heading} · ${t("product")}`;
  return h("header", { class: "page-head" },
    h("h1", { tabIndex: -1 }, heading), intro ? h("p", null, intro) : null,
    action ? h("div", { class: "head-action" }, action) : null);
}

/** What a page shows instead of a list that is empty. */
export const emptyPage = ({ name, heading, text, action, level = 2 }) =>
  h("div", { class: "empty" }, icon(name), h(`h${level}`, { tabIndex: -1 }, heading), h("p", null, text), action);

let isLeaving = false;

/** Signs out, and leads to the first page. */
export async function signOut() {
  isLeaving = true;
  await import("../lib/kept-cube.js").then((module) => module.forgetCube(), () => {});
  try {
    await remove("/session", { remedy: false });
  } catch {
    // Without an answer the sign-in may go on: this is said, since somebody may walk away from the machine.
    isLeaving = false;
    toast(t("signOut.failed"));
    return;
  }
  try { sessionStorage.setItem("msi.signedOut", "true"); } catch { /* a blocked storage: nothing is said */ }
  location.assign("/");
}

let signingIn = null;

/** Lets somebody sign in again over the page, so that nothing typed is lost. Several requests wait for one dialog. */
function signInAgain() {
  signingIn ??= showDialog((close) =>
    h("div", { class: "stack" }, h("h2", null, t("signIn.again")),
      h("p", { class: "secondary" }, t("signIn.againIntro")),
      signInForm({ account: session.account, done: () => close(true) })))
    .then(async (isSignedIn) => {
      signingIn = null;
      if (isSignedIn) await readSession();
      return isSignedIn === true;
    });
  return signingIn;
}

async function confirmWithPassword() {
  const password = passwordField({ label: t("confirm.password", { account: session.account }),
      attributes: { autocomplete: "current-password", autofocus: true } });
  const code = session.second_factor === "set" ? codeField() : null;
  return await showForm({
    heading: t("confirm.heading"), intro: t("confirm.intro"), action: t("confirm.action"),
    fields: (close) => [password, code,
      universityLink({ label: t("confirm.university"), confirms: true, done: () => close(true) })],
    submit: async () => {
      try {
        await confirmPassword(password.value, code?.value.replaceAll(" ", ""));
        return true;
      } catch (error) {
        if (error.field !== "password" && error.field !== "code") throw error;
        const wrong = error.field === "code" && code ? code : password;
        throw refusal(wrong, t(wrong === code ? "signIn.wrongCode" : "confirm.wrong"));
      }
    },
  }) === true;
}
