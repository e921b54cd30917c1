import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { phoneIcon } from "../lib/phone-icons.js";
import { state } from "../lib/state.js";
import { t } from "../lib/text.js";

/** What the phone waits for before it can get messages: a permission, the hub, and FCM. */
export function setUpScreen() {
  const steps = h("ol", { class: "plain group steps" });
  const say = h("p", { class: "secondary", role: "status" });
  const element = h("div", { class: "set-up" }, h("span", { class: "app-icon large" }, phoneIcon("bubble")),
    h("h1", null, t("setUp.heading")), say, steps);
  let print = "";

  function update() {
    const { permission, hub, control } = state;
    // Messages reach a phone that allows no pop-ups, too.
    const isAnswered = permission !== "asked";
    const hasCube = isAnswered && state.channels.length > 0;
    const waitsFor = !isAnswered ? "permission" : control.offline ? "offline" : hub === "unreachable"
      ? "hub" : "messages";
    if (print === (print = [permission, waitsFor, hasCube].join())) return;
    say.textContent = t(`setUp.waits.${waitsFor}`);
    const done = [isAnswered, hasCube, state.initialized];
    const current = done.indexOf(false);
    fill(steps, ["permission", "hub", "messages"].map((step, index) => {
      const isRefused = step === "permission" && permission === "denied";
      const [sign, outcome] = isRefused ? ["info", "permission.denied"] : done[index]
        ? ["check", "setUp.done"] : ["clock", index === current ? "setUp.now" : "setUp.later"];
      return h("li", { class: `row ${sign === "check" ? "is-done" : ""}`,
          "aria-current": index === current ? "step" : null },
        icon(sign, "small"), h("span", { class: "row-text" }, t(`setUp.${step}`)),
        h("span", { class: "hint" }, t(outcome)));
    }));
  }
  return Object.assign(element, { update });
}
