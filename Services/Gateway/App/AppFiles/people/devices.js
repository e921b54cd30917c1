import { h } from "../lib/dom.js";
import { formatDay } from "../lib/phone-time.js";
import { state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { actAfterQuestion, waitingList } from "./actions.js";
import { loaded, pageHeading, refill } from "./parts.js";

/** How a device is reached, in words. */
const reach = ({ push, push_ended: ended }) => t(`devices.${push ? "pushes" : ended ? "ended" : "silent"}`);

function row({ id, name, platform, seen, ...device }) {
  const title = name ?? t(`platform.${platform}`);
  const isThis = id === state.people.device;
  return h("li", { class: "row" },
    h("span", { class: "row-text" }, h("span", { class: "row-label" }, h("bdi", null, title),
      isThis ? h("span", { class: "tag good" }, t("devices.this")) : null),
      h("span", { class: "hint" }, t("devices.seen", { day: formatDay(seen) })),
      h("span", { class: "hint" }, reach(device))),
    isThis ? null : h("button", { class: "pill danger", type: "button",
      onclick: () => actAfterQuestion("end device", { id, name: title }) }, t("do.end device"),
      h("span", { class: "unseen" }, `: ${title}`)));
}

/** The devices on which the person is signed in; each other one can be signed out. This one is, in the account. */
export function settings() {
  const waiting = waitingList();
  const list = h("ul", { class: "plain group" });
  const content = h("div", { class: "stack" }, h("p", { class: "secondary" }, t("devices.text")), waiting, list);
  const devices = loaded("devices", content, (found) => refill(list, () => pageHeading(list), found.map(row)));
  return Object.assign(h("div", { class: "stack" }, devices), { update: () => {
    waiting.update();
    devices.update();
  } });
}
