// The page for professors and teaching assistants: their classes, keys, sessions, and what was studied. Who signs in
// here is signed in to the app as well: both have the account of this browser.

import { fill, h } from "../lib/dom.js";
import { later } from "../lib/later.js";
import { currentRoute, setTabs } from "../lib/route.js";
import { app, follow, state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { isIdentifier } from "../core/checks.js";
import { closeDialogs, dialogPlace } from "../elements/dialog.js";
import { closePlainToasts, toastRegion } from "../elements/toast.js";
import { problemScreen } from "../problem.js";
import { classList } from "./class-list.js";
import { classPage } from "./class.js";
import { frame } from "./frame.js";
import { myClasses, readClasses } from "./my-classes.js";
import { pageHead, remote } from "./parts.js";

/** The path of this page, to which the way over a provider leads back. */
const path = "/portal/classes/";
/** How often the times that are left are brought up to date, in milliseconds. */
const interval = 10_000;

setTabs(["classes", "class", "session"]);
const shell = frame();
document.body.append(dialogPlace, toastRegion());

const pages = {
  problem: problemScreen,
  landing: () => later(async () => (await import("../people/landing.js")).landingView({
    heading: t("prof.classes.heading"), text: t("prof.landing.classes"), from: path })),
  loading: () => {
    const content = h("div");
    // Without classes the hub has none for this person.
    const show = (found) => fill(content, found ? null : h("p", { class: "notice" }, t("study.notHere")));
    return h("div", { class: "stack" }, pageHead({ heading: t("prof.classes.heading") }),
      remote({ isStill: true, load: readClasses, content, show }));
  },
  entry: () => later(async () => (await import("./entry.js")).entryPage()),
  classes: classList,
  class: classPage,
  session: (route) => later(async () => (await import("./session.js")).sessionPage(route)),
};

let problem = null;
/** Who is signed in, as the page knows it. */
let person = null;
/** The name of the page that is shown, and with what it is about. */
let page = null;
let shown = null;
let inner = null;
/** What is followed. */
let watched = null;

/** The route of the address. What names no class or session leads to the list of classes. */
function routeNow() {
  // The app's parts call a session so.
  const [, group, one] = /^#study\/\w+\/([0-9a-f]{24})\/([0-9a-f]{24})$/.exec(location.hash) ?? [];
  const route = one ? { tab: "session", page: "", id: group, session: one } : currentRoute();
  const isRight = { classes: true, class: isIdentifier(route.id),
    session: isIdentifier(route.id) && isIdentifier(route.session) }[route.tab];
  return isRight ? route : { tab: "classes", page: "" };
}

/** What the hub is asked about while the page is seen, beside the classes: rows of the core's study.js. */
function watchedRows({ tab, page, id, session }) {
  if (tab === "session") return [`session ${id} ${session}`, `posts ${id} ${session}`];
  return tab === "class" && page !== "past" ? [`sessions ${id}`] : [];
}

/** Follows what happens to the person, and what the page shows. Without the modules, the next change tries again. */
async function watch(route) {
  const rows = document.hidden || !state?.people.account ? null : watchedRows(route);
  const wanted = JSON.stringify([rows, state?.people.account]);
  if (watched === wanted || !app) return;
  watched = wanted;
  try {
    (await app.people()).study.watch(rows);
  } catch {
    watched = null;
  }
}

/** Which page to show. */
function pageNow(route) {
  if (problem) return "problem";
  if (!state.people.account) return "landing";
  const classes = myClasses();
  if (!classes) return "loading";
  return classes.length || state.people.person?.professor ? route.tab : "entry";
}

function update() {
  if (!state && !problem) return;
  const account = state?.people.account ?? null;
  if (person !== (person = account)) closeDialogs();
  const route = routeNow();
  watch(route);
  const name = pageNow(route);
  const print = JSON.stringify([name, account, state?.people.person?.professor, route.id, route.session]);
  if (print !== shown) {
    // What was waited for takes no focus that is elsewhere.
    const takesFocus = shown !== null && (page !== "loading" || inner.contains(document.activeElement));
    document.title = t("product");
    inner = pages[name](route);
    fill(shell.main, inner);
    if (takesFocus) {
      (inner.querySelector("h1[tabindex]") ?? shell.main).focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    [page, shown] = [name, print];
  }
  if (!problem) shell.update(route);
  inner.update?.(problem ?? route);
}

addEventListener("hashchange", () => {
  // What another page has said closes. What is said of a sign-in stays.
  closePlainToasts();
  update();
});
setInterval(() => { if (!document.hidden) update(); }, interval);
document.addEventListener("visibilitychange", () => watch(routeNow()));
await follow({
  looks: false,
  changed: update,
  lost: (error) => {
    problem = error;
    if (error) update();
  },
});
