import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { phoneIcon } from "../lib/phone-icons.js";
import { send } from "../lib/requests.js";
import { state } from "../lib/state.js";
import { t } from "../lib/text.js";

/** What the phone waits for before it can get messages: a permission, the hub, and FCM. */
export function setUpScreen() {
  const steps = h("ol", { class: "plain group steps" });
  const say = h("p", { class: "secondary", role: "status" });
  const allow = h("button", { class: "button main wide", type: "button", onclick: () => send("POST", "/permission", { granted: true }) }, t("permission.allow"));
  const element = h("div", { class: "set-up" }, h("span", { class: "app-icon large" }, phoneIcon("bubble")), h("h1", null, t("setUp.heading")), say, steps, allow);
  let print = "";

  function update() {
    const { permission, hub, control } = state;
    const isAllowed = permission === "granted" || permission === "not_needed";
    const hasCube = isAllowed && state.channels.length > 0;
    const waitsFor = !isAllowed ? (permission === "denied" ? "denied" : "permission") : control.offline ? "offline" : hub === "unreachable" ? "hub" : "messages";
    if (print === (print = [permission, waitsFor, hasCube].join())) return;
    say.textContent = t(`setUp.waits.${waitsFor}`);
    allow.hidden = permission !== "denied";
    const done = [isAllowed, hasCube, state.initialized];
    const current = done.indexOf(false);
    fill(steps, ["permission", "hub", "messages"].map((step, index) => h("li", { class: `row ${done[index] ? "is-done" : ""}`, "aria-current": index === current ? "step" : null },
      icon(done[index] ? "check" : "clock", "small"), h("span", { class: "row-text" }, t(`setUp.${step}`)),
      h("span", { class: "hint" }, t(done[index] ? "setUp.done" : index === current ? "setUp.now" : "setUp.later")))));
  }
  return Object.assign(element, { update });
}
