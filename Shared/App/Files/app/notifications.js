import { fill, h, newIdentifier } from "../lib/dom.js";
import { send } from "../lib/requests.js";
import { hasPopUps, state } from "../lib/state.js";
import { subjectOf } from "../lib/subjects.js";
import { t } from "../lib/text.js";
import { subjectPath } from "../elements/subject-path.js";
import { switchRow } from "../elements/switch.js";
import { mute } from "./mute.js";

const proposed = { from: "22:00", to: "07:00" };

/**
 * The settings of notifications: the quiet hours, and with pop-ups the muted subjects. `update()` shows the state.
 * `notices` is an element with `update()` before them; by default there is a text.
 */
export function notificationSettings(notices = null) {
  const quiet = switchRow({ label: t("quiet.label"), hint: t("quiet.hint"),
      onchange: (isOn) => (isOn ? put(proposed) : send("DELETE", "/quiet-hours")) });
  const wrong = h("p", { class: "below wrong", role: "alert", id: newIdentifier("wrong") });
  const times = Object.fromEntries(Object.keys(proposed).map((name) => [name, h("input", { type: "time",
      required: true, "aria-describedby": wrong.id, onchange: change })]));
  const hours = h("div", { class: "quiet-hours" },
    h("div", { class: "pair" }, Object.entries(times)
      .map(([name, input]) => h("label", { class: "field" }, h("span", { class: "label" }, t(`quiet.${name}`)),
          input))), wrong);
  const muted = h("div", null);
  let print = "";

  const put = (period) => send("PUT", "/quiet-hours", period);

  function change() {
    const period = Object.fromEntries(Object.entries(times).map(([name, input]) => [name, input.value]));
    const isWrong = Object.values(period).some((time) => !time) || period.from === period.to;
    wrong.textContent = isWrong ? t("quiet.wrong") : "";
    for (const input of Object.values(times)) input.setAttribute("aria-invalid", String(isWrong));
    if (!isWrong) put(period);
  }

  function update() {
    notices?.update();
    const period = state.settings.quiet_hours;
    quiet.checked = period !== null;
    hours.hidden = period === null;
    // What is being typed is not overwritten.
    for (const [name, input] of Object.entries(times)) {
      if (period && document.activeElement !== input && !wrong.textContent) {
        input.value = period[name];
      }
    }
    if (!hasPopUps) return;
    const topics = state.channels.flatMap(({ areas }) => areas.flatMap(({ subjects }) => subjects))
      .filter((subject) => subject.muted).map((subject) => subject.topic_key);
    if (print === (print = JSON.stringify(topics.map(subjectOf)))) return;
    const hadFocus = muted.contains(document.activeElement);
    fill(muted, topics.length ? h("ul", { class: "plain group" }, topics.map(subjectOf).map(row)) : h("p",
        { class: "hint" }, t("mute.none")));
    if (hadFocus) (muted.querySelector("button") ?? heading).focus({ preventScroll: true });
  }

  const row = (subject) => h("li", { class: "row" }, h("span", { class: "row-text" }, subjectPath(subject.names)),
    h("button", { class: "pill", type: "button", onclick: () => mute(subject) }, t("mute.end"),
      h("span", { class: "unseen" }, `: ${subject.name}`)));
  const heading = h("h2", { class: "day", tabIndex: -1 }, t("mute.heading"));

  return { update, parts: [notices ?? h("p", { class: "secondary" }, t("notifications.text")),
      h("div", { class: "group" }, quiet, hours),
      hasPopUps ? [heading, h("p", { class: "secondary" }, t("mute.text")), muted] : null] };
}
