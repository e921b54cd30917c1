import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { phoneIcon } from "../lib/phone-icons.js";
import { currentRoute } from "../lib/route.js";
import { state } from "../lib/state.js";
import { formatNumber, t } from "../lib/text.js";
import { send } from "../lib/requests.js";
import { broadcastCards } from "./broadcasts.js";
import { messagesPage } from "./messages.js";
import { settingsPage } from "./settings.js";
import { subscriptionsPage } from "./subscriptions.js";

const signs = { messages: "bubble", subscriptions: "bell", settings: "sliders" };

/** The app: a page and the bar with the three tabs. */
export function appScreen() {
  const pages = { messages: messagesPage(), subscriptions: subscriptionsPage(), settings: settingsPage() };
  const unread = h("span", { class: "badge" });
  const links = Object.keys(pages).map((tab) => h("a", { href: `#${tab}`, dataset: { tab } }, phoneIcon(signs[tab]), t(`tab.${tab}`), tab === "messages" ? unread : null));
  const note = h("div", { role: "status" });
  const broadcasts = broadcastCards();
  const element = h("div", { class: "app" }, note, broadcasts.strip, Object.values(pages), h("nav", { class: "tabs", "aria-label": t("tabs") }, links), broadcasts.place);
  let noteShown = "";

  function update() {
    const { tab } = currentRoute();
    for (const [name, page] of Object.entries(pages)) page.hidden = name !== tab;
    for (const link of links) {
      const isCurrent = link.dataset.tab === tab;
      if (isCurrent) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
      // A tab leads to where it was left; the current one to its start.
      if (isCurrent) link.left = location.hash;
      link.href = isCurrent || !link.left ? `#${link.dataset.tab}` : link.left;
    }
    const count = state.messages.filter((message) => !message.read).length;
    if (unread.count !== count) {
      unread.count = count;
      unread.hidden = count === 0;
      fill(unread, h("span", { "aria-hidden": "true" }, count > 99 ? t("tab.many") : formatNumber(count)), h("span", { class: "unseen" }, t("tab.unread", { count })));
    }
    showNote();
    pages[tab].update();
    broadcasts.update(state.broadcasts);
  }

  function showNote() {
    const what = state.control.offline ? "offline" : state.permission === "denied" ? "denied" : state.hub === "unreachable" ? "hub" : "";
    if (what === noteShown) return;
    noteShown = what;
    fill(note, what ? h("p", { class: "quiet" }, what === "offline" ? phoneIcon("plane", "small") : icon("info", "small"), h("span", null, t(`note.${what}`)),
      what === "denied" ? h("button", { class: "link-button", type: "button", onclick: () => send("POST", "/permission", { granted: true }) }, t("permission.allow")) : null) : null);
  }

  addEventListener("hashchange", () => { if (state) update(); });
  return Object.assign(element, { update, reveal: pages.messages.reveal, started: broadcasts.started });
}
