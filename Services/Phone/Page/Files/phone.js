// A simulated phone: its screen, with the app or what the system shows, and beside it the controls of the simulation.
import { fill, h } from "./lib/dom.js";
import { icon } from "./lib/icons.js";
import { phoneIcon } from "./lib/phone-icons.js";
import { send } from "./lib/requests.js";
import { follow, phoneNow, state } from "./lib/state.js";
import { language, t } from "./lib/text.js";
import { dayOf } from "./lib/phone-time.js";
import { appScreen } from "./app/app.js";
import { closeDialogs, dialogPlace, showDialog } from "./elements/dialog.js";
import { toast, toastRegion } from "./elements/toast.js";
import { controls } from "./system/controls.js";
import { newPopups } from "./system/popups.js";
import { homeScreen, lockScreen, permissionQuestion, statusBar } from "./system/screens.js";
import { setUpScreen } from "./system/set-up.js";

/** What the app says above its pages. */
function noteNow() {
  const name = state.control.offline ? "offline" : state.permission === "denied"
    ? "denied" : state.hub === "unreachable" ? "hub" : null;
  return name && { name, sign: name === "offline" ? phoneIcon("plane", "small") : icon("info", "small"),
    text: t(`note.${name}`), action: name === "denied" ? h("button", { class: "link-button", type: "button",
      onclick: () => send("POST", "/permission", { granted: true }) }, t("permission.allow")) : null };
}

const about = () => [[t("about.name"), state.name], [t("about.platform"), t(`platform.${state.control.platform}`)],
  [t("about.hub"), t(`hub.${state.hub}`)], [t("about.permission"), t(`permission.${state.permission}`)]];

const simulation = { page: "simulation", sign: icon("phone"), label: t("settings.simulation"), kind: "narrow-only",
  make: controls };

const screens = { app: appScreen({ noteNow, about, further: [simulation] }), "set-up": setUpScreen(),
  lock: lockScreen(openPopup), home: homeScreen(openPopup) };
const bar = statusBar();
const popups = newPopups(openPopup);
const content = h("div", { class: "content" }, skeleton());
const screen = h("div", { class: "screen" }, bar, popups.banner, content, popups.announcer, dialogPlace);
const panel = controls();
const away = h("div", { class: "away", role: "status" });
const phone = fill(document.getElementById("main"), away, screen);
phone.className = "phone";
phone.setAttribute("aria-label", t("phone"));
phone.after(h("aside", { class: "panel simulation", "aria-label": t("controls.heading") },
    h("h2", null, t("controls.heading")), panel));

let shown = "";
let isAsking = false;
/** How far the app's pages were scrolled when it was left. */
let scrolled = [];

/** The screen to show: the app, its set-up, or the lock or home screen. */
function screenOf({ control, initialized }) {
  if (!control.foreground) return "lock";
  if (control.killed) return "home";
  return initialized ? "app" : "set-up";
}

function update() {
  if (state.control.language !== language) {
    location.reload();
    return;
  }
  const next = screenOf(state);
  if (next !== shown) {
    const hadFocus = content.contains(document.activeElement);
    closeDialogs();
    isAsking = false;
    if (shown === "app") scrolled = [...content.querySelectorAll(".view")].map((view) => [view, view.scrollTop]);
    const shownBefore = shown;
    shown = next;
    screen.dataset.shown = next;
    // After the lock screen the app was not started but came back to the screen.
    if (next === "app" && shownBefore !== "lock") screens.app.started();
    fill(content, screens[next]);
    (screens[next].toasts ?? content).append(toastRegion());
    if (next === "app") for (const [view, top] of scrolled) view.scrollTop = top;
    if (hadFocus) {
      (content.querySelector("h1[tabindex]") ?? content.querySelector("button, a"))?.focus({ preventScroll: true });
    }
  }
  screen.dataset.platform = state.control.platform;
  screens[next].update();
  bar.update();
  panel.update();
  popups.update();
  askForPermission();
}

function askForPermission() {
  const isWanted = state.permission === "asked" && state.control.foreground && !state.control.killed;
  if (isAsking && !isWanted) closeDialogs();
  else if (isWanted && !isAsking) {
    isAsking = true;
    showDialog({ heading: t("permission.question"), role: "alertdialog", kind: "system", make: permissionQuestion })
      .then(() => { isAsking = false; });
  }
}

/** How long an opened notification waits for its message, which an app that was killed has yet to fetch. */
const revealWithin = 15_000;
let toReveal = null;
let giveUp;

/** Opens the app with a notification's message. */
async function openPopup(popup) {
  if (!(await send("POST", `/popups/${encodeURIComponent(popup.id)}/open`)) || !popup.msi_key) return;
  toReveal = popup.msi_key;
  clearTimeout(giveUp);
  giveUp = setTimeout(() => {
    if (toReveal) toast(t("popup.missing", { title: popup.title }));
    toReveal = null;
  }, revealWithin);
  revealSoon();
}

function revealSoon() {
  if (shown !== "app" || !state.messages.some((message) => message.msi_key === toReveal)) return;
  const key = toReveal;
  toReveal = null;
  screens.app.reveal(key);
}

// Somebody who has acted since then is not moved to the message.
for (const type of ["pointerdown", "keydown"]) content.addEventListener(type, () => { toReveal = null; });

function skeleton() {
  const bone = (kind) => h("span", { class: `skeleton ${kind}` });
  return h("div", { class: "app bones", "aria-busy": "true", role: "status", "aria-label": t("loading") },
    bone("bone-title"), bone("bone-bar"), bone("bone-card"), bone("bone-card"), bone("bone-card"));
}

let isAway = false;
follow({
  changed: () => { update(); revealSoon(); },
  lost: (isLost) => {
    if (isLost === isAway) return;
    isAway = isLost;
    away.textContent = isLost ? t("away") : "";
  },
});

let day = null;
setInterval(() => {
  if (!state) return;
  bar.tell();
  panel.tell();
  screens.lock.tell();
  // Today becomes yesterday.
  if (day !== (day = dayOf(phoneNow()))) update();
}, 1_000);
