// A status as a whole: that of a friend, or the person's own one with the form for another.

import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { pathTo } from "../lib/route.js";
import { t, tn } from "../lib/text.js";
import { dialogButtons, showDialog } from "../elements/dialog.js";
import { toast } from "../elements/toast.js";
import { avatar } from "./avatar.js";
import { isSame, toFriends, view } from "./parts.js";
import { reasonOf } from "./reasons.js";
import { statusForm } from "./status-form.js";
import { endText, everySecond, followStatuses, sinceText, statusContent, statusesNow, statusesOfApp }
  from "./status-parts.js";

/** How often the app asks by how many the person's own status was seen, while it is shown, in milliseconds. */
const interval = 30_000;

/** The page about the status of a friend, or without an account about one's own. */
export function statusView(account = "") {
  followStatuses();
  return account ? friendsStatus(account) : ownStatus();
}

/** A status with what is said of it. It is made again only if it is another one. */
function shownStatus(alt) {
  const facts = h("p", { class: "hint" });
  const content = h("div");
  let shown = null;
  return Object.assign(h("div", { class: "stack" }, content, facts), {
    show(status, texts) {
      if (shown !== (shown = status.id)) fill(content, statusContent(status, alt));
      const text = texts.join(" · ");
      if (facts.textContent !== text) facts.textContent = text;
    },
  });
}

function friendsStatus(account) {
  const shown = shownStatus(t("status.picture", { account }));
  const write = h("a", { class: "button main", href: `#people/with/${encodeURIComponent(account)}` },
    t("status.write"));
  const next = h("a", { class: "button" });
  const about = h("a", { class: "button", href: pathTo({ tab: "people", page: "person", account }) },
    t("status.person"));
  const whole = h("div", { class: "stack" }, shown, h("div", { class: "actions" }, write, next, about));
  const said = h("p", { class: "notice", role: "status" });
  const element = view(account, { back: toFriends(), dir: "auto" }, said, whole);
  element.querySelector("h1").before(avatar(account));

  function update() {
    const { list, hub } = statusesNow();
    const status = list.find((each) => isSame(each.account, account));
    const text = status ? "" : t("status.ended");
    if (said.textContent !== text) said.textContent = text;
    if (!status && whole.contains(document.activeElement)) element.querySelector("h1").focus({ preventScroll: true });
    // What is not for the person any more is not in the page either.
    if (!status) return void whole.remove();
    if (!whole.parentNode) said.after(whole);
    shown.show(status, [sinceText(status, hub), endText(status, hub)]);
    const other = list.find((each) => !each.seen && each !== status);
    next.hidden = !other;
    if (other && next.account !== (next.account = other.account)) {
      next.href = `#people/status/${encodeURIComponent(other.account)}`;
      fill(next, h("span", null, tn("status.next", { account: h("bdi", null, other.account) })), icon("next", "small"));
    }
    if (!status.seen && !document.hidden) statusesOfApp().then((core) => core.see(status.id)).catch(() => {});
  }

  everySecond(element, update);
  return Object.assign(element, { update });
}

function ownStatus() {
  const shown = shownStatus(t("status.picture.own"));
  const remove = h("button", { class: "button danger", type: "button", onclick: askToRemove }, t("status.remove"));
  const whole = h("section", { class: "stack", "aria-label": t("status.own") }, shown,
    h("div", { class: "actions" }, remove));
  const none = h("p", { class: "secondary" }, t("status.none"));
  const form = statusForm({ done: () => element.querySelector("h1").focus({ preventScroll: true }) });
  const element = view(t("status.own"), { back: toFriends() }, none, whole, form);
  let asked = -Infinity;

  /** Removing cannot be taken back: views go with the status. */
  async function askToRemove() {
    const isWanted = await showDialog({ heading: t("question.status"), role: "alertdialog", make: (close) => [
      h("p", { class: "secondary" }, t("question.status.text")), dialogButtons(close, h("button",
        { class: "button danger", type: "button", onclick: () => close(true) }, t("status.remove")))] });
    if (!isWanted) return;
    try {
      await (await statusesOfApp()).remove();
      element.querySelector("h1").focus({ preventScroll: true });
      toast(t("status.removed"));
    } catch (error) {
      toast(reasonOf(error));
    }
  }

  function update() {
    const { own, hub } = statusesNow();
    none.hidden = Boolean(own);
    whole.hidden = !own;
    form.replaces = Boolean(own);
    if (own) shown.show(own, [t("status.seenBy", { count: own.seen }), sinceText(own, hub), endText(own, hub)]);
    if (performance.now() - asked < interval || document.hidden) return;
    asked = performance.now();
    // The next look at all statuses says it as well.
    statusesOfApp().then((core) => core.readOwn()).catch(() => {});
  }

  everySecond(element, update);
  return Object.assign(element, { update });
}
