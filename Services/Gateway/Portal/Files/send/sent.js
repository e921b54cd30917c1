import { explain, get, remove } from "../lib/api.js";
import { hubNow } from "../lib/clock.js";
import { fill, h } from "../lib/dom.js";
import { listen } from "../lib/events.js";
import { icon } from "../lib/icons.js";
import { linkified } from "../lib/linkify.js";
import { describeState, finalStates, nextOf, wayText } from "../lib/message-state.js";
import { t } from "../lib/text.js";
import { formatMoment } from "../lib/time.js";
import { currentHealth, meaningOf } from "../elements/health-pill.js";
import { pathOf } from "../elements/tags.js";
import { toast } from "../elements/toast.js";

/**
 * What happens to a message that was just sent: the seconds in which it can be taken back, and then its live state.
 * `undo.until` is the end of these seconds, `again` shows an empty form, and `takeBack` one with the text.
 */
export async function sentView(key, { undo, again, takeBack }) {
  let message;
  let isStale = false;
  let timer = null;
  // An event may come before the answer.
  const tell = () => { if (message) refresh(); else isStale = true; };
  const endings = [listen("message", (event) => { if (event.msi_key === key) tell(); }), listen("reset", tell)];
  try {
    message = await get(`/message/${key}`);
  } catch (error) {
    // It is stored anyway.
    return h("div", { class: "stack" }, h("h1", { tabIndex: -1 }, t("sent.stored")), h("p", null, explain(error)),
      actions(null));
  }
  const end = undo?.until || (message.delay && message.relay.state === "pending" ? nextOf(message.relay) : 0);
  const heading = h("h1", { tabIndex: -1 });
  const detail = h("p", { class: "secondary" });
  const live = h("div", { class: "sent-state", role: "status" }, heading, detail);
  const mark = h("div", { class: "sent-mark" });
  const seconds = h("span", { class: "seconds", "aria-hidden": "true" });
  const undoButton = h("button", { class: "button main undo", type: "button", onclick: recall }, icon("undo", "small"),
    t("undo"));
  const foot = h("div");
  const element = h("section", { class: "sent" }, mark, live,
    h("p", { class: "sent-what" }, h("strong", { dir: "auto" }, linkified(message.title)),
      h("span", { class: "secondary" }, pathOf(Object.values(orderedNames(message.names))))), foot);
  let isRecalling = false;
  let [lastTurn, shownTurn] = [0, 0];

  function show() {
    const now = hubNow();
    const left = Math.max(0, Math.ceil((end - now) / 1_000));
    const isWaiting = message.relay.state === "pending" && !message.relay.attempts && left > 0;
    const state = describeState(message, now);
    element.dataset.tone = isWaiting ? "busy" : state.tone;
    const outage = meaningOf(currentHealth());
    const isStuck = !isWaiting && outage.waits && ["pending", "retrying"].includes(state.state);
    if (isStuck) element.dataset.tone = "alert";
    const words = isWaiting ? t(message.distribution === "Alert" ? "sent.waiting.alert" : "sent.waiting") : isStuck
      ? t("sent.stuck") : t(`sent.${state.state}`, { time: state.word });
    if (heading.textContent !== words) heading.textContent = words;
    const more = isWaiting ? t("sent.waiting.detail") : isStuck
      ? t("sent.stuck.detail", { what: outage.text })
      : state.state === "retrying" && state.code === "FAN_OUT" ? state.detail
      : state.state === "failed" ? wayText("sent.failed.detail", message, { code: state.code })
      : wayText(state.state === "held" && message.send_at ? "sent.held.later" : `sent.${state.state}.detail`, message,
        { time: message.send_at ? formatMoment(message.send_at) : "" });
    if (detail.textContent !== more) detail.textContent = more;
    if (isWaiting) seconds.textContent = t("sent.seconds", { count: left });
    if (element.dataset.shown !== String(isWaiting)) {
      element.dataset.shown = String(isWaiting);
      fill(mark, isWaiting
        ? seconds : icon(state.tone === "bad" ? "cross" : state.state === "relayed" ? "check" : "clock"));
      fill(foot, isWaiting ? h("div", { class: "actions" }, undoButton,
          h("a", { class: "button", href: link }, t("sent.open"))) : actions(link));
    } else if (!isWaiting) {
      fill(mark, icon(state.tone === "bad" ? "cross" : state.state === "relayed" ? "check" : "clock"));
    }
  }
  const link = `/portal/message/?key=${key}`;

  async function recall() {
    if (isRecalling) return;
    isRecalling = true;
    try {
      message = await remove(`/message/${key}`);
      leave();
      toast(t("sent.takenBack"));
      takeBack(message);
    } catch (error) {
      toast(error.status === 409 ? t("sent.tooLate") : explain(error));
      await refresh();
    } finally {
      isRecalling = false;
    }
  }

  async function refresh() {
    const turn = ++lastTurn;
    try {
      const answer = await get(`/message/${key}`);
      // A later request may have been answered before.
      if (turn > shownTurn) [message, shownTurn] = [answer, turn];
    } catch {
      // The stream tells again when the hub is back.
    }
    show();
  }

  function actions(href) {
    return h("div", { class: "actions" },
      h("button", { class: "button main", type: "button", onclick: () => { leave(); again(); } }, t("sent.again")),
      href ? h("a", { class: "button", href }, t("sent.open")) : null);
  }

  timer = setInterval(() => {
    if (!element.isConnected) return;
    show();
    if (finalStates.includes(message.relay.state)) clearInterval(timer);
  }, 250);
  if (isStale) refresh();
  function leave() {
    clearInterval(timer);
    endings.forEach((end) => end());
  }
  show();
  return element;
}

const orderedNames = ({ channel, area, subject }) => ({ channel, area, subject });
