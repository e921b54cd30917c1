// The frame of the professor's page, which is that of the portal: a rail beside the page on wide screens, and a bar
// below it on narrow ones.

import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { phoneIcon } from "../lib/phone-icons.js";
import { send } from "../lib/requests.js";
import { pathTo } from "../lib/route.js";
import { state } from "../lib/state.js";
import { charactersOf, language, t } from "../lib/text.js";
import { myClasses } from "./my-classes.js";

/** What is beside the classes. */
const elsewhere = [
  { href: "/app/", sign: () => icon("phone"), label: "prof.frame.app", short: "prof.frame.app.short" },
  { href: "/portal/send/", sign: () => icon("send"), label: "prof.frame.portal" },
];
/** The page has two languages, so a button leads to the other one. */
const other = language === "ar" ? "en" : "ar";

const languageButton = (kind) => h("button", { class: kind, type: "button", lang: other,
  onclick: () => send("PUT", "/control", { language: other }) }, phoneIcon("globe", "small"), t(`language.${other}`));
const signOutButton = (kind) => h("button", { class: kind, type: "button", hidden: true, onclick: async () => {
  await (await import("../people/account.js")).signOut();
} }, icon("signOut", "small"), t("signOut.action"));

/** The path of a class. */
export const pathOfClass = (id, page = "") => pathTo({ tab: "class", page, id });

/** The path of a session of a class. */
export const pathOfSession = (id, session) => pathTo({ tab: "session", id, session });

/** Puts the frame around the page. `update(route)` shows who is signed in, the classes, and where the page is. */
export function frame() {
  const shell = document.querySelector("hub-shell");
  const main = document.getElementById("main");
  const skip = h("a", { class: "skip unseen", href: "#main", onclick: (event) => {
    // The address says what the page shows.
    event.preventDefault();
    main.focus();
  } }, t("prof.frame.skip"));
  const classes = h("ul", { class: "plain" });
  const link = ({ href, sign, label }) => h("a", { href }, sign(), h("span", null, t(label)));
  const who = h("div", { class: "account" });
  const leave = signOutButton("button plain small");
  const leaveBelow = signOutButton("");
  const rail = h("header", { class: "rail" },
    h("a", { class: "brand", href: "#classes" }, h("span", { class: "mark" }, icon("classes")), t("product")),
    h("nav", { "aria-label": t("prof.frame.navigation") },
      h("div", null, classes, h("p", { class: "section" }, t("prof.frame.elsewhere")),
        h("ul", { class: "plain" }, elsewhere.map((each) => h("li", null, link(each))))),
      h("div", { class: "who" }, who, languageButton("button plain small"), leave)));
  const all = h("a", { class: "entry", href: "#classes" }, icon("classes"), h("span", null, t("prof.frame.classes")));
  // It would cover the question of the sign-out.
  const more = h("div", { class: "more", id: "more", popover: "auto", onclick: () => more.hidePopover() },
    h("ul", { class: "plain" }, h("li", null, languageButton("")), h("li", null, leaveBelow)));
  const bar = h("nav", { class: "bar", "aria-label": t("prof.frame.navigation") }, h("ul", { class: "plain" },
    h("li", null, all), elsewhere.map(({ label, short = label, ...each }) => h("li", null,
      Object.assign(link({ ...each, label: short }), { className: "entry" }))),
    h("li", null, h("button", { class: "entry", type: "button", popovertarget: "more" }, icon("more"),
      h("span", null, t("prof.frame.more"))))), more);
  let print = "";

  shell.prepend(skip, rail);
  shell.append(bar);

  return { main, update({ tab, id }) {
    const { account, person } = state.people;
    const mine = account ? (myClasses() ?? []).map(({ id: own, name }) => [own, name]) : [];
    if (print === (print = JSON.stringify([account, person?.professor, tab, id, mine]))) return;
    const entry = (href, isHere, ...content) => h("li", null,
      h("a", { href, "aria-current": isHere ? "page" : null }, content));
    fill(classes, entry("#classes", tab === "classes", icon("classes"), h("span", null, t("prof.frame.classes"))),
      mine.map(([own, name]) => entry(pathOfClass(own), tab !== "classes" && own === id, icon("next", "small"),
        h("bdi", null, name))));
    if (tab === "classes" || id) all.setAttribute("aria-current", tab === "classes" ? "page" : "true");
    else all.removeAttribute("aria-current");
    leave.hidden = leaveBelow.hidden = !account;
    fill(who, account ? [
      h("span", { class: "avatar", "aria-hidden": "true" }, charactersOf(account)[0]),
      h("span", { class: "name" }, h("bdi", { title: account }, account),
        person?.professor ? h("small", null, t("account.professor")) : null)] : null);
  } };
}
