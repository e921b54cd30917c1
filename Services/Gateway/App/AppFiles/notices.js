import { fill, h } from "./lib/dom.js";
import { pushObstacle } from "./lib/installation.js";
import { refusal, switchOff, switchOn } from "./lib/pushing.js";
import { app, state } from "./lib/state.js";
import { pathText } from "./lib/subjects.js";
import { t } from "./lib/text.js";
import { switchRow } from "./elements/switch.js";
import { toast } from "./elements/toast.js";

/** Notifications on this device: whether they are on, and for which Information. `update()` shows the state. */
export function notices() {
  const main = switchRow({ label: t("push.label"), hint: t("push.hint"), onchange: change });
  const group = h("div", { class: "group" }, main);
  /** Why they are not on, or what they wait for. */
  const said = h("p", { class: "notice", role: "status" });
  const list = h("div", { class: "group" });
  const none = h("p", { class: "hint" }, t("push.subjects.none"));
  const subjects = h("div", { class: "stack" }, h("h2", { class: "day" }, t("push.subjects")),
    h("p", { class: "secondary" }, t("push.subjects.text")), list, none);
  const element = h("div", { class: "stack notices" }, group, said, subjects, h("p", { class: "secondary" },
    t("notifications.text")));
  const rows = new Map();
  let print = "";
  /** What came of the last attempt, or what it waits for. */
  let outcome = "";
  let isBusy = false;

  async function change(isWanted) {
    if (isBusy) return;
    // Some browsers show the question only in the handling of the tap itself.
    const asked = isWanted ? Notification.requestPermission() : null;
    isBusy = true;
    say("");
    const came = await (isWanted ? switchOn(asked, say) : switchOff()).catch(failed);
    isBusy = false;
    say(came === "push.on" ? "" : came);
  }

  function say(key) {
    outcome = key && t(key);
    update();
  }

  function failed(error) {
    console.warn(error.message);
    return "push.failed";
  }

  async function choose(topic, isOn) {
    try {
      await (await app.pushes()).choose(topic, isOn);
    } catch (error) {
      toast(t(failed(error)));
    }
  }

  function update() {
    const { on: isOn, off: isOff, proven: isProven, information } = state.pushes;
    const obstacle = pushObstacle();
    // Browsers take the permission back from apps that are seldom used.
    const isHere = !obstacle && isOn && !isOff && Notification.permission === "granted";
    const why = obstacle || (isOn ? refusal() : "");
    const waits = isOn && isOff ? t("push.ended") : isHere && !isProven ? t("push.proving") : "";
    const text = why ? t(`push.${why}`) : outcome || waits;
    group.hidden = obstacle !== "";
    main.checked = isHere;
    main.control.setAttribute("aria-busy", String(isBusy));
    if (said.textContent !== text) said.textContent = text;
    subjects.hidden = !isHere;
    if (isHere) showSubjects(information);
  }

  function showSubjects(chosen) {
    const listed = state.channels.flatMap(({ areas }) => areas.flatMap((area) => area.subjects))
      .filter(({ subscribed, dist }) => subscribed && dist === "Information");
    list.hidden = !listed.length;
    none.hidden = listed.length > 0;
    const names = listed.map((subject) => [subject.topic_key, pathText(subject)]);
    if (print !== (print = JSON.stringify(names))) {
      rows.clear();
      for (const [key, label] of names) rows.set(key, switchRow({ label, onchange: (isOn) => choose(key, isOn) }));
      fill(list, [...rows.values()]);
    }
    for (const [key, row] of rows) row.checked = chosen.includes(key);
  }

  return Object.assign(element, { update });
}
