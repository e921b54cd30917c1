import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { phoneIcon } from "../lib/phone-icons.js";
import { formatDay, formatTime } from "../lib/phone-time.js";
import { send } from "../lib/requests.js";
import { phoneNow, state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { popupList } from "./popups.js";

/** Opens the app, even if it was killed. */
export const openApp = () => send("PUT", "/control", { killed: false, foreground: true });

function clock() {
  const time = h("p", { class: "big-clock" });
  const date = h("p", { class: "big-date" });
  const tell = () => {
    time.textContent = formatTime(phoneNow());
    date.textContent = formatDay(phoneNow());
  };
  return { parts: [time, date], tell };
}

/** The lock screen: clock, date and notifications. The app is in the background. */
export function lockScreen(openPopup) {
  const { parts, tell } = clock();
  const popups = popupList(openPopup);
  const element = h("div", { class: "wallpaper" }, h("h1", { class: "unseen" }, t("lock.heading")),
    h("div", { class: "big" }, icon("lock", "small"), parts), popups,
    h("button", { class: "pill glass open-app", type: "button", onclick: openApp }, t("lock.open")));
  return Object.assign(element, { tell, update: () => { tell(); popups.update(); } });
}

/** The home screen. The app does not run. */
export function homeScreen(openPopup) {
  const popups = popupList(openPopup);
  const element = h("div", { class: "wallpaper home" }, h("h1", { class: "unseen" }, t("home.heading")), popups,
    h("button", { class: "app-launcher", type: "button", onclick: openApp },
      h("span", { class: "app-icon" }, phoneIcon("bubble")), t("product"),
      h("span", { class: "unseen" }, t("home.open"))));
  return Object.assign(element, { update: popups.update });
}

/** The line at the top of the phone. */
export function statusBar() {
  const time = h("span", { class: "status-time" });
  const plane = h("span", { class: "status-plane" }, phoneIcon("plane", "small"),
    h("span", { class: "unseen" }, t("status.offline")));
  const signal = phoneIcon("signal", "small");
  const element = h("div", { class: "status-bar" }, time,
    h("span", { class: "status-signs" }, plane, signal, phoneIcon("battery")));
  const tell = () => { time.textContent = state ? formatTime(phoneNow()) : ""; };
  return Object.assign(element, { tell, update: () => {
    tell();
    plane.hidden = !state.control.offline;
    signal.toggleAttribute("hidden", state.control.offline);
  } });
}

/** What iOS asks once: whether the app may show notifications. */
export function permissionQuestion(close) {
  const answer = (granted) => { send("POST", "/permission", { granted }); close(); };
  return [h("p", null, t("permission.text")), h("div", { class: "system-buttons" },
    h("button", { type: "button", onclick: () => answer(false) }, t("permission.refuse")),
    h("button", { type: "button", autofocus: true, onclick: () => answer(true) }, t("permission.allow")))];
}
