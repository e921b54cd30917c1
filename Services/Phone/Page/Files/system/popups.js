import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { phoneIcon } from "../lib/phone-icons.js";
import { dayOf, formatMoment, formatTime } from "../lib/phone-time.js";
import { place } from "../lib/place.js";
import { send } from "../lib/requests.js";
import { phoneNow, state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { swipe } from "../elements/swipe.js";

const bannerSeconds = 8;

/** The system's notifications, as a list of cards. `open` is called with the notification to open. */
export function popupList(open) {
  const cards = new Map();
  const element = h("ul", { class: "plain popups", "aria-label": t("popups") });
  const dismissAll = h("button", { class: "pill glass", type: "button", onclick: () => send("DELETE", "/popups") },
    t("popups.dismissAll"));
  const area = h("div", { class: "popup-area" }, element, dismissAll);
  area.update = () => {
    element.hidden = !state.popups.length;
    dismissAll.hidden = state.popups.length < 2;
    place(element, state.popups.map((popup) => {
      const key = JSON.stringify(popup);
      if (!cards.has(key)) cards.set(key, h("li", null, popupCard(popup, open, () => dismiss(popup))));
      const card = cards.get(key);
      card.querySelector("time").textContent = timeOf(popup.at);
      return card;
    }));
  };
  return area;
}

const dismiss = (popup) => send("DELETE", `/popups/${encodeURIComponent(popup.id)}`);

function timeOf(at) {
  const now = phoneNow();
  if (now - at < 60_000) return t("popup.now");
  return dayOf(at) === dayOf(now) ? formatTime(at) : formatMoment(at);
}

/** A notification. The whole card opens the app. */
function popupCard(popup, open, close) {
  const card = h("article", { class: "popup" },
    h("p", { class: "popup-app" }, h("span", { class: "mark" }, phoneIcon("bubble")), t("product"),
      h("time", { class: "at", dateTime: new Date(popup.at).toISOString() }, timeOf(popup.at))),
    h("h2", { dir: "auto" },
      h("button", { class: "popup-open", type: "button", onclick: () => open(popup) }, popup.title)),
    popup.body ? h("p", { class: "popup-body", dir: "auto" }, popup.body) : null,
    h("button", { class: "popup-close", type: "button", title: t("popup.dismiss"),
        "aria-label": t("popup.dismiss.of", { title: popup.title }), onclick: close }, icon("cross", "small")));
  swipe(card, close);
  return card;
}

/**
 * What shows new notifications: `announcer`, from which screen readers say them, and `banner` at the top of the app,
 * which goes after some seconds.
 */
export function newPopups(open) {
  const announcer = h("div", { class: "unseen", role: "alert" });
  const banner = h("div", { class: "banner" });
  let known = null;
  let timer;
  const hide = () => banner.replaceChildren();
  const wait = () => { timer = setTimeout(hide, bannerSeconds * 1_000); };
  for (const type of ["pointerenter", "focusin"]) banner.addEventListener(type, () => clearTimeout(timer));
  for (const type of ["pointerleave", "focusout"]) banner.addEventListener(type, wait);

  function update() {
    const keys = state.popups.map(({ id, at }) => `${id} ${at}`);
    const fresh = known ? state.popups.filter((_, index) => !known.has(keys[index])) : [];
    known = new Set(keys);
    // The lock screen and the home screen have them in their list.
    const isApp = state.control.foreground && !state.control.killed;
    if (!isApp || (banner.shown && !known.has(banner.shown))) hide();
    if (!fresh.length) return;
    announcer.textContent = fresh.map(({ title, body }) => `${title}. ${body}`).join(" ");
    setTimeout(() => { announcer.textContent = ""; }, 10_000);
    if (!isApp) return;
    const [popup] = fresh;
    banner.shown = keys[state.popups.indexOf(popup)];
    banner.replaceChildren(popupCard(popup, (which) => { hide(); open(which); }, () => { hide(); dismiss(popup); }));
    clearTimeout(timer);
    wait();
  }
  return { announcer, banner, update };
}
