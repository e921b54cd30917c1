import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { phoneIcon } from "../lib/phone-icons.js";
import { currentRoute, setTabs } from "../lib/route.js";
import { state } from "../lib/state.js";
import { formatNumber, t } from "../lib/text.js";
import { closePlainToasts, toast } from "../elements/toast.js";
import { arrivals } from "./arrivals.js";
import { broadcastCards } from "./broadcasts.js";
import { messagesPage } from "./messages.js";

const signs = { messages: () => phoneIcon("bubble"), study: () => phoneIcon("pin"),
  subscriptions: () => phoneIcon("bell"), people: () => icon("people"), settings: () => phoneIcon("sliders") };

/**
 * The app: a page and the bar with the tabs. What differs between the programs that show it:
 *
 * - `noteNow()`: what the app says above its pages, such as that it is offline: `{name, sign, text, action}` or `null`.
 *   A note with another `name` replaces the shown one.
 * - `about()`: the facts of the settings' page about the app, as pairs of texts.
 * - `further`: settings of this program alone: `{page, sign, label, kind, make}`. `make()` returns the page's
 *   content, an element that may have `update()`.
 * - `wide`: a query whose `matches` says whether there is room for a list beside its details.
 * - `notices()`: resolves to what makes the first part of the notifications' settings, an element with `update()`.
 * - `people()`: resolves to the page about people, an element with `update()`. Without it the app has no such tab.
 * - `study()`: the same for the page about study sessions. Who is signed in has it in the place of the subscriptions.
 * - `personal`: settings of the person who is signed in, as `further`.
 * - `bar`: an element with `update()` between the page and the tabs.
 */
export function appScreen({ noteNow, about, further = [], personal = [], wide = null, notices, people, study, bar }) {
  const isSignedIn = () => Boolean(study && state.people.account);
  /** Whether the bar has a tab. Each has a page, whoever is signed in. */
  const isInBar = (tab) => ({ study: isSignedIn(), subscriptions: !isSignedIn() }[tab] ?? true);
  const later = {
    people, study, subscriptions: async () => (await import("./subscriptions.js")).subscriptionsPage(),
    settings: async () => (await import("./settings.js")).settingsPage({ about, further, personal,
      wide, notices: await notices?.() }),
  };
  const arrived = arrivals(() => pages.messages.showNewest());
  const pages = { messages: messagesPage(wide, arrived, isSignedIn), ...(study ? { study: pageToCome() } : {}),
    subscriptions: pageToCome(), ...(people ? { people: pageToCome() } : {}), settings: pageToCome() };
  setTabs(Object.keys(pages));
  const badges = Object.fromEntries(["messages", "study", "people"].map((tab) => [tab, h("span", { class: "badge" })]));
  const links = Object.keys(pages).map((tab) => {
    const label = h("span", null, t(`tab.${tab}`));
    return Object.assign(h("a", { href: `#${tab}`, dataset: { tab } }, signs[tab](), label, badges[tab]), { label });
  });
  const note = h("div", { role: "status" });
  const broadcasts = broadcastCards();
  /** Toasts are between the page and the tabs, where they cover no action. */
  const toasts = h("div", { class: "toast-place" });
  const element = h("div", { class: "app" }, note, broadcasts.strip, Object.values(pages), toasts,
    bar, h("nav", { class: "tabs", "aria-label": t("tabs") }, links), broadcasts.place);
  let noteShown = "";
  let tabBefore = currentRoute().tab;

  function update() {
    const { tab } = currentRoute();
    for (const [name, page] of Object.entries(pages)) page.hidden = name !== tab;
    for (const link of links) {
      link.hidden = !isInBar(link.dataset.tab);
      if (link.dataset.tab === "people") link.label.textContent = t(isSignedIn() ? "tab.friends" : "tab.people");
      const isCurrent = link.dataset.tab === tab;
      if (isCurrent) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
      // A tab opens the page where it was left. The current tab opens its first page.
      if (isCurrent) link.left = location.hash;
      link.href = isCurrent || !link.left ? `#${link.dataset.tab}` : link.left;
    }
    arrived.update();
    showNote();
    if (pages[tab].update) pages[tab].update();
    else complete(tab);
    showBadge("messages", arrived.badge(), "tab.unread");
    if (people) showBadge("people", state.people.requests?.received.length ?? 0, "tab.requests");
    if (study) showBadge("study", invitations(), "tab.invites");
    bar?.update();
    broadcasts.update(state.broadcasts);
  }

  /** How many invitations to study sessions there are that are still open, by the hub's clock. */
  const invitations = () => (state.study.own?.invites ?? [])
    .filter(({ session }) => session.ends > state.now + (state.study.ahead ?? 0)).length;

  /** Shows a number at a tab; `text` is the key of what readers hear. */
  function showBadge(tab, count, text) {
    const badge = badges[tab];
    const link = links.find((each) => each.dataset.tab === tab);
    // Without it the name would have a space before the comma.
    link.ariaLabel = link.label.textContent + (count ? t(text, { count }) : "");
    if (badge.count === count) return;
    badge.count = count;
    badge.hidden = count === 0;
    fill(badge, count === 0 ? null : [
      h("span", { "aria-hidden": "true" }, count > 99 ? t("tab.many") : formatNumber(count)),
      h("span", { class: "unseen" }, t(text, { count }))]);
  }

  /** Loads a page that is shown for the first time. */
  async function complete(tab) {
    const make = later[tab];
    delete later[tab];
    if (!make) return;
    let page;
    try {
      page = await make();
    } catch {
      later[tab] = make;
      toast(t("page.failed"));
      return;
    }
    page.inert = pages[tab].inert;
    pages[tab].replaceWith(page);
    pages[tab] = page;
    update();
  }

  function showNote() {
    const what = noteNow();
    if (noteShown === (noteShown = what?.name ?? "")) return;
    fill(note, what ? h("p", { class: "quiet" }, what.sign, h("span", null, what.text), what.action) : null);
  }

  addEventListener("hashchange", () => {
    if (!state) return;
    // The toasts of another page close, except those with an undo.
    if (tabBefore !== (tabBefore = currentRoute().tab)) {
      closePlainToasts();
      // Who opens the messages sees all of them.
      if (tabBefore === "messages") arrived.letIn();
    }
    update();
  });
  wide?.addEventListener("change", () => { if (state) update(); });
  return Object.assign(element, { update, toasts, reveal: pages.messages.reveal, started: broadcasts.started });
}

/** Stands for a page until its module is loaded, at the first opening. Most visits need the messages alone. */
const pageToCome = () => h("section", { class: "page", "aria-busy": "true" });
