// The student's app in a browser: the views of the app over its core in this browser, the first visit, and what the
// browser adds: installation, starts without a network, and what needs an account.
import { isInstalled, onInstallation } from "./lib/installation.js";
import { fill, h } from "./lib/dom.js";
import { icon } from "./lib/icons.js";
import { withTexts } from "./lib/later.js";
import { ownSession } from "./lib/own-session.js";
import { dayOf } from "./lib/phone-time.js";
import { returned } from "./lib/returned.js";
import { currentRoute, replaceRoute } from "./lib/route.js";
import { app, follow, phoneNow, state } from "./lib/state.js";
import { t } from "./lib/text.js";
import { isNewerWaiting, keepFiles, startNewest, worksOffline } from "./lib/worker.js";
import { appScreen } from "./app/app.js";
import { closeDialogs, dialogPlace } from "./elements/dialog.js";
import { toastRegion } from "./elements/toast.js";
import { installation } from "./install.js";
import { personal } from "./personal.js";

await startNewest();
/** What a provider's page has brought back, until the page about people has it. */
let given = returned();

const wide = matchMedia("(min-width: 900px)");
const howToInstall = { page: "install", sign: icon("download"), label: t("install.heading"), make: installation };
/** The settings of notifications, loaded with the settings' page. */
const notices = async () => (await import("./notices.js")).notices;
/** The page about people, loaded when it is opened. */
const people = async () => {
  const { peoplePage } = await withTexts(() => import("./people/people.js"));
  const page = peoplePage({ given });
  given = null;
  return page;
};
/** The page about study sessions. */
const study = async () => (await withTexts(() => import("./study/study.js"), "study")).studyPage();
const screens = { app: appScreen({ noteNow, about, further: [howToInstall], personal, wide, notices, people, study,
  bar: ownSession() }) };
/** The screens that most visits do not need are loaded when they are shown. */
const rare = {
  welcome: async () => (await import("./welcome.js")).welcomeScreen(begin),
  problem: async () => (await import("./problem.js")).problemScreen(),
};
const content = h("div", { class: "content" }, skeleton());
const screen = fill(document.getElementById("main"), content, dialogPlace);
screen.className = "screen window";
document.title = t("product");

let shown = "";
let problem = null;
let isBegun = given !== null;
let isKept = false;
/** Who was signed in at the last look. */
let account = null;
/** Whether everything that a start needs is there. */
let isStarted = false;

/** Whether the person has seen what the app is. */
function isWelcomed() {
  try { return localStorage.getItem("msi.app.welcomed") !== null; } catch { return false; }
}

/** Ends the first visit. `hash` is what the app shows first. */
async function begin(hash) {
  try { localStorage.setItem("msi.app.welcomed", "true"); } catch { /* a blocked storage welcomes again */ }
  isBegun = true;
  // Who came for study sessions, as with the key of a class, is not sent elsewhere.
  if (!/^#study\b/.test(location.hash)) history.replaceState(null, "", hash);
  update();
  await persist();
}

/** Asks the browser not to delete the messages. Some browsers ask the person: the first visit has said why. */
async function persist() {
  isKept = Boolean(await app.persist().catch(() => false));
  if (state) update();
}

/** What the app says above its pages. */
function noteNow() {
  const note = (name, action) => ({ name, sign: icon("info", "small"), text: t(`note.${name}`), action });
  if (state.storage === "full") return note("full");
  if (state.control.offline) return note("offline");
  if (state.hub === "unreachable") return note("hub");
  return isSecureContext ? null : note("insecure", h("a", { href: "#settings/install" }, t("note.insecure.why")));
}

function about() {
  // The version is in the path of each file.
  const version = new URL(import.meta.url).pathname.split("/").at(-2).slice(0, 8);
  return [
    [t("about.hub"), t(`hub.${state.hub}`)],
    [t("about.storage"), t(isKept ? "storage.kept" : "storage.loose")],
    [t("about.offline"), t(worksOffline() ? "offline.works" : "offline.fails")],
    [t("about.version"), `${version} ${isNewerWaiting() ? t("version.newer") : ""}`],
  ];
}

async function load(name) {
  const make = rare[name];
  delete rare[name];
  if (!make) return;
  try {
    screens[name] = await make();
  } catch {
    // The network is away; the next change of the state tries again.
    rare[name] = make;
    return;
  }
  update();
}

function update() {
  const next = problem ? "problem" : isBegun || isWelcomed() ? "app" : "welcome";
  if (!screens[next]) {
    load(next);
    return;
  }
  if (next !== shown) {
    closeDialogs();
    const hadFocus = content.contains(document.activeElement);
    shown = next;
    if (next === "app") screens.app.started();
    fill(content, screens[next]);
    (screens[next].toasts ?? content).append(toastRegion());
    if (hadFocus) content.querySelector("h1[tabindex]")?.focus({ preventScroll: true });
  }
  if (next === "app") tellEnd();
  screens[next].update(problem);
  showNamed();
  followPeople();
}

/** Who is signed out elsewhere on a page of their own reads so on the page about people: their own is gone. */
function tellEnd() {
  const { tab, page } = currentRoute();
  const hasEnded = account && !state.people.account && state.people.signed_out;
  account = state.people.account;
  if (!hasEnded || tab !== "settings" || !personal.some((each) => each.page === page)) return;
  screen.focus({ preventScroll: true });
  replaceRoute({ tab: "people", page: "" });
}

/** Shows the message that the address names, as after a tap on a notification: #message/6b0187feff0dafac2833f431. */
function showNamed() {
  const [, key] = /^#message\/(\w+)$/.exec(location.hash) ?? [];
  if (!key || shown !== "app") return;
  history.replaceState(null, "", "#messages");
  screens.app.reveal(key);
}

/** Who is signed in hears of what happens to them on every page. Without the modules, the next change tries again. */
function followPeople() {
  if (isStarted && state?.people.account) app.people().catch(() => {});
}

function skeleton() {
  const bone = (kind) => h("span", { class: `skeleton ${kind}` });
  return h("div", { class: "app bones", "aria-busy": "true", role: "status", "aria-label": t("loading") },
    bone("bone-title"), bone("bone-bar"), bone("bone-card"), bone("bone-card"), bone("bone-card"));
}

/** The system's bar above an installed app has the colour of the page, which the person may choose. */
function colourTheBar() {
  const colour = document.head.appendChild(h("meta", { name: "theme-color" }));
  const tell = () => { colour.content = getComputedStyle(document.body).backgroundColor; };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);
  new MutationObserver(tell).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  tell();
}

colourTheBar();
await follow({
  changed: update,
  lost: (error) => {
    problem = error;
    if (error) update();
  },
});
onInstallation(() => {
  if (state) update();
  // Browsers that decide by themselves agree for an installed app.
  if (app && isInstalled()) persist();
});
addEventListener("hashchange", () => { if (state) showNamed(); });
navigator.serviceWorker?.addEventListener("message", ({ data }) => { if (data.show) location.hash = data.show; });
isKept = await navigator.storage?.persisted?.().catch(() => false) ?? false;
await keepFiles();
if (state) update();
// The hub is told what has changed. Without the module, the next start does it.
if (app && globalThis.Notification?.permission === "granted") app.pushes().catch(() => {});
isStarted = true;
followPeople();

let day = null;
setInterval(() => {
  // Today becomes yesterday.
  if (state && day !== (day = dayOf(phoneNow()))) update();
}, 1_000);
