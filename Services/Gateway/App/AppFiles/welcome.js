import { h } from "./lib/dom.js";
import { pushObstacle } from "./lib/installation.js";
import { phoneIcon } from "./lib/phone-icons.js";
import { place } from "./lib/place.js";
import { state } from "./lib/state.js";
import { t } from "./lib/text.js";
import { subjectPath } from "./elements/subject-path.js";
import { installation } from "./install.js";

/** How many subjects are listed; more are counted. */
const maxListed = 8;
const levels = ["Forced", "Recommended"];

/**
 * The first visit: what the app is, the subjects that one gets without a choice, and what the app does without
 * notifications. `begin(hash)` ends it.
 */
export function welcomeScreen(begin) {
  // Some screen readers announce a text only in a live region that was there before it.
  const waiting = h("p", { class: "notice", role: "status" });
  const subjects = h("div", { class: "welcome-subjects" }, waiting);
  const install = installation();
  const obstacle = pushObstacle();
  const said = h("p", { class: "notice", role: "status", tabIndex: -1 }, obstacle && t(`push.${obstacle}`));
  const ask = h("button", { class: "button", type: "button", hidden: obstacle !== "", onclick: async () => {
    // The browser's question has to come with the tap.
    const asked = Notification.requestPermission();
    const outcome = await import("./lib/pushing.js").then(({ switchOn }) => switchOn(asked, say), () => "page.failed");
    // The app's state says that pushes are on.
    if (outcome !== "push.on") say(outcome);
  } }, phoneIcon("bell", "small"), t("push.begin"));
  function say(key) {
    if (said.textContent !== t(key)) said.textContent = t(key);
  }
  function withdraw() {
    if (document.activeElement === ask) said.focus();
    ask.hidden = true;
  }
  const why = h("p", { class: "secondary" }, t("push.why"));
  const looks = h("p", { class: "hint" }, t("welcome.looks"));
  const push = h("section", { class: "welcome-push" }, h("h2", null, t("settings.notifications")), why, ask, said,
    looks);
  // The university may have switched pushes off. If it does not answer now, it does when somebody asks.
  if (!obstacle) fetch("/app/push").then(({ status }) => {
    if (status !== 404) return;
    say("push.off");
    withdraw();
  }, () => {});
  const element = h("div", { class: "welcome" }, h("div", { class: "welcome-text" },
    h("span", { class: "app-icon large" }, phoneIcon("bubble")),
    h("h1", { tabIndex: -1 }, t("welcome.heading")),
    h("p", { class: "secondary" }, t("welcome.text")),
    subjects, push,
    h("div", { class: "welcome-end" },
      h("p", { class: "hint" }, t("welcome.storage")),
      h("button", { class: "button main wide", type: "button", onclick: () => begin("#messages") },
        t("welcome.begin"))),
    h("section", { class: "welcome-install" }, h("h2", null, t("install.heading")), install)));
  let print = "";

  /** Notifications are on, which the first one has to prove. */
  function showOn() {
    say(state.pushes.proven ? "push.on" : "push.proving");
    why.hidden = true;
    looks.hidden = true;
    withdraw();
  }

  function update() {
    install.update();
    const { on: isOn, off: isOff } = state.pushes;
    if (isOn && !isOff && !obstacle && Notification.permission === "granted") showOn();
    const listed = state.channels.flatMap((channel) => channel.areas.flatMap((area) => area.subjects
      .filter(({ level }) => levels.includes(level))
      .map((subject) => ({ ...subject, names: [channel.name, area.name, subject.name] }))))
      .sort((one, other) => levels.indexOf(one.level) - levels.indexOf(other.level));
    const waits = state.channels.length ? "" : state.control.offline ? "offline" : state.hub === "unreachable"
      ? "hub" : state.initialized ? "none" : "cube";
    if (print === (print = JSON.stringify([waits, listed]))) return;
    waiting.textContent = waits && t(`welcome.waits.${waits}`);
    place(subjects, waits ? [waiting] : [waiting,
      h("h2", null, t(listed.length ? "welcome.subjects" : "welcome.none")),
      h("ul", { class: "plain group" }, listed.slice(0, maxListed).map(row),
        listed.length > maxListed
          ? h("li", { class: "row hint" }, t("welcome.more", { count: listed.length - maxListed })) : null,
        h("li", null, h("button", { class: "row choose", type: "button", onclick: () => begin("#subscriptions") },
          t("welcome.choose"))))]);
  }

  const row = ({ names, level }) => h("li", { class: "row" }, h("span", { class: "row-text" }, subjectPath(names)),
    h("span", { class: "hint" }, t(`level.${level}`)));

  return Object.assign(element, { update });
}
