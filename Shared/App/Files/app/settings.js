import { fill, h, newIdentifier } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { phoneIcon } from "../lib/phone-icons.js";
import { chooseMoreTime, wantsMoreTime } from "../lib/more-time.js";
import { download, send } from "../lib/requests.js";
import { formatDay, formatTime } from "../lib/phone-time.js";
import { currentRoute } from "../lib/route.js";
import { state } from "../lib/state.js";
import { language, t } from "../lib/text.js";
import { segments } from "../elements/segments.js";
import { switchRow } from "../elements/switch.js";
import { notificationSettings } from "./notifications.js";

const themes = ["system", "light", "dark"];
/** The state of the history's entry while the page is loaded again in another language. */
const languageChosen = "language chosen";

/**
 * The settings: rows that lead to pages; if there is room, the page is beside the rows. `about`, `further` and
 * `personal` are those of `appScreen`; `notices()` makes the first part of the notifications' page.
 */
export function settingsPage({ about, further, personal, wide, notices }) {
  let shown = null;
  let list = null;
  let inner = null;
  const rows = () => {
    const row = (page, sign, label, value, kind = "") =>
      h("li", { class: kind },
      h("a", { class: "row", href: page.startsWith("#") ? page : `#settings/${page}`, dataset: { page } },
      sign, h("span", { class: "row-text" }, label), value ? h("span", { class: "hint" }, value) : null,
      icon("next", "small")));
    const receipts = switchRow({ label: t("settings.receipts"), hint: t("settings.receipts.hint"),
        onchange: (isOn) => send("PUT", "/settings", { receipts: isOn }) });
    const own = h("ul", { class: "plain group", hidden: !isSignedIn() },
      personal.map(({ page, sign, label }) => row(page, sign, label)));
    const element = h("div", { class: "view" }, head(t("settings.heading")), own,
      h("ul", { class: "plain group" }, row("#subscriptions/mine", phoneIcon("list"), t("settings.mine")),
        row("notifications", phoneIcon("bell"), t("settings.notifications")),
        row("export", icon("download"), t("settings.export")),
        row("broadcasts", icon("broadcast"), t("settings.broadcasts")),
        row("features", icon("template"), t("settings.features"))),
      h("div", { class: "group" }, receipts),
      h("ul", { class: "plain group" }, row("language", phoneIcon("globe"), t("settings.language"),
          t(`language.${language}`)),
        row("appearance", phoneIcon("contrast"), t("settings.appearance"), t(`appearance.${theme()}`))),
      h("ul", { class: "plain group" }, row("about", icon("info"), t("settings.about")),
        further.map(({ page, sign, label, kind }) => row(page, sign, label, null, kind))));
    return Object.assign(element, { update: () => {
      own.hidden = !isSignedIn();
      receipts.checked = state.settings.receipts;
      element.querySelector("[data-page=appearance] > .hint").textContent = t(`appearance.${theme()}`);
    } });
  };

  const pages = { export: exportPage, notifications: () => notificationsPage(notices?.()), broadcasts: broadcastsPage,
    features: featuresPage, language: languagePage, appearance: () => appearancePage(update),
    about: () => aboutPage(about),
    ...Object.fromEntries([...further, ...personal].map(({ page, label, make }) =>
      [page, () => furtherPage(label, make())])) };
  const isPersonal = (page) => personal.some((each) => each.page === page);
  const element = h("section", { class: "page" });

  function update() {
    const { tab, page } = currentRoute();
    if (tab !== "settings") return;
    const isBeside = Boolean(wide?.matches);
    const isThere = page in pages && (isSignedIn() || !isPersonal(page));
    const name = isThere ? page : isBeside ? "notifications" : "";
    const print = `${name} ${isBeside}`;
    if (print !== shown?.print) {
      const from = shown;
      list = isBeside || !name ? rows() : null;
      inner = name ? pages[name]() : null;
      if (inner && isBeside) lowerHeading(inner);
      fill(element, list, inner);
      element.classList.toggle("is-beside", isBeside);
      if (isBeside) list.querySelector(`[data-page="${name}"]`).setAttribute("aria-current", "page");
      shown = { print, name };
      // From a page back to its row, and to a page's heading.
      if (from && from.name !== name) {
        const row = name ? null : element.querySelector(`ul:not([hidden]) [data-page="${from.name}"]`);
        (row ?? headingOf(inner ?? list)).focus();
      }
      if (!from && history.state === languageChosen) {
        history.replaceState(null, "");
        inner?.querySelector(":checked")?.focus();
      }
    }
    list?.update();
    inner?.update?.();
  }

  return Object.assign(element, { update });
}

/** Whether a person is signed in; never in programs without accounts. */
const isSignedIn = () => Boolean(state.people?.account);

const headingOf = (view) => view.querySelector(".head-line > [tabindex]");

/** Beside the rows, whose heading is that of the page. */
function lowerHeading(view) {
  const heading = headingOf(view);
  heading.replaceWith(h("h2", { tabIndex: -1 }, heading.textContent));
}

const head = (text) =>
  h("header", { class: "head" }, h("div", { class: "head-line" }, h("h1", { tabIndex: -1 }, text)));

const subpage = (text, ...content) => h("div", { class: "view" },
  h("header", { class: "head" }, h("a", { class: "back", href: "#settings" }, icon("back", "small"),
      t("settings.heading")), h("div", { class: "head-line" }, h("h1", { tabIndex: -1 }, text))), content);

const furtherPage = (label, content) => Object.assign(subpage(label, content), { update: content.update });

function exportPage() {
  let format = "text";
  const choice = segments({ label: t("export.format"), value: format,
      options: ["text", "json"].map((value) => ({ value, label: t(`export.${value}`) })),
    onchange: (value) => { format = choice.value = value; } });
  const channel = h("select", null);
  const save = h("button", { class: "button main wide", type: "button",
    onclick: () => download(`/export?format=${format}${channel.value ? `&channel=${channel.value}` : ""}`,
      t("export.saved")) }, icon("download", "small"), t("export.save"));
  let print = "";
  return Object.assign(subpage(t("settings.export"), h("p", { class: "secondary" }, t("export.text.why")),
    h("div", { class: "field" }, h("span", { class: "label" }, t("export.format")), choice),
    h("label", { class: "field" }, h("span", { class: "label" }, t("export.which")), channel), save), {
    update: () => {
      const names = state.channels.map(({ id, name }) => [id, name]);
      if (print === (print = JSON.stringify(names))) return;
      const before = channel.value;
      fill(channel, h("option", { value: "" }, t("export.all")),
        names.map(([value, name]) => h("option", { value }, name)));
      channel.value = before;
    },
  });
}

function notificationsPage(notices) {
  const { parts, update } = notificationSettings(notices);
  return Object.assign(subpage(t("settings.notifications"), parts), { update });
}

/** The channels whose broadcasts the student may switch off: those with a subscribed subject. */
function broadcastsPage() {
  const list = h("div", { class: "group" });
  const none = h("p", { class: "hint" }, t("settings.broadcasts.none"));
  const rows = new Map();
  let print = "";
  return Object.assign(subpage(t("settings.broadcasts"), h("p", { class: "secondary" }, t("settings.broadcasts.why")),
      list, none), {
    update: () => {
      const channels = state.channels.filter(({ areas }) =>
        areas.some(({ subjects }) => subjects.some(({ subscribed }) => subscribed)));
      list.hidden = !channels.length;
      none.hidden = channels.length > 0;
      if (print !== (print = JSON.stringify(channels.map(({ id, name }) => [id, name])))) {
        rows.clear();
        for (const { id, name } of channels) {
          rows.set(id, switchRow({ label: name, onchange: (on) => send("PUT", `/broadcasts/channels/${id}`, { on }) }));
        }
        fill(list, [...rows.values()]);
      }
      for (const { id, broadcasts } of channels) rows.get(id).checked = broadcasts;
    },
  });
}

/** The features that the hub has switched, with their data. */
function featuresPage() {
  const list = h("div", null);
  const data = h("div", { class: "features-data" });
  const row = (text, expires, isOn, tag) => h("li", { class: "row" },
    h("span", { class: "row-text" }, h("bdi", null, text),
      h("span", { class: "hint" }, t("features.until", { day: formatDay(expires), time: formatTime(expires) }))),
    h("span", { class: `tag ${isOn ? "is-good" : ""}` }, t(tag)));
  let print = "";
  return Object.assign(subpage(t("settings.features"), h("p", { class: "secondary" }, t("features.why")), list, data), {
    update: () => {
      const { features, broadcast_data: broadcasts } = state;
      if (print === (print = JSON.stringify([features, broadcasts]))) return;
      fill(list, features.length
        ? h("ul", { class: "plain group" },
            features.map(({ name, on, expires }) => row(name, expires, on, on ? "features.on" : "features.off")))
        : h("p", { class: "hint" }, t("features.none")));
      fill(data, broadcasts.length
        ? [h("h2", { class: "day" }, t("features.data")),
            h("ul", { class: "plain group" }, broadcasts.map((broadcast) =>
          row(broadcast.data, broadcast.expires, broadcast.notificationtype === "enable-feature",
            `features.${broadcast.notificationtype}`)))]
        : null);
    },
  });
}

function choices(heading, options, chosen, onchange) {
  return h("fieldset", { class: "group" }, h("legend", { class: "unseen" }, heading),
    options.map(({ value, label, lang }) =>
    h("label", { class: "row", lang: lang ?? null }, h("span", { class: "row-text" }, label),
      h("input", { type: "radio", name: "choice", checked: value === chosen, onchange: () => onchange(value) }))));
}

function languagePage() {
  const why = h("p", { class: "secondary", id: newIdentifier("why") }, t("settings.language.why"));
  const languages = choices(t("settings.language"),
    ["en", "ar"].map((value) => ({ value, label: t(`language.${value}`), lang: value })), language, (value) => {
      // After that the focus returns to the choice.
      history.replaceState(languageChosen, "");
      send("PUT", "/control", { language: value });
    });
  languages.setAttribute("aria-describedby", why.id);
  return subpage(t("settings.language"), why, languages);
}

function theme() {
  return document.documentElement.dataset.theme ?? themes[0];
}

function appearancePage(changed) {
  const colours = choices(t("settings.appearance"),
    themes.map((value) => ({ value, label: t(`appearance.${value}`) })), theme(), (value) => {
      if (value === themes[0]) delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = value;
      try { localStorage.setItem("msi.app.theme", value); } catch { /* a blocked storage forgets it */ }
      changed();
    });
  const moreTime = switchRow({ label: t("settings.time"), hint: t("settings.time.hint"), checked: wantsMoreTime(),
    onchange: (isOn) => {
      chooseMoreTime(isOn);
      moreTime.checked = isOn;
    } });
  return subpage(t("settings.appearance"), colours, h("div", { class: "group" }, moreTime));
}

function aboutPage(about) {
  const facts = h("dl", { class: "group facts" });
  const fact = ([name, value]) => h("div", { class: "row" }, h("dt", null, name),
    h("dd", { class: "hint", dir: "auto" }, value));
  return Object.assign(subpage(t("settings.about"), h("p", { class: "secondary" }, t("about.text")),
      h("p", { class: "secondary" }, t("about.reading")), facts), {
    update: () => fill(facts, about().map(fact)),
  });
}
