import { hubNow } from "../lib/clock.js";
import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { describeState } from "../lib/message-state.js";
import { t } from "../lib/text.js";
import { formatExact, formatTime } from "../lib/time.js";
import { iconOf, labelOf, perform, possibleActions } from "../elements/message-actions.js";
import { distributionTag, pathOf } from "../elements/tags.js";

/**
 * A message in the history: one link, and what can be done with it now. `changed` is called with the message after an action.
 */
export function messageRow(message, changed) {
  const state = h("span", { class: "row-state" });
  const buttons = h("span", { class: "row-actions" });
  const element = h("li", { class: "message-row", dataset: { key: message.msi_key } },
    h("time", { dateTime: new Date(message.timestamp).toISOString(), title: formatExact(message.timestamp) }, formatTime(message.timestamp)),
    h("span", { class: "row-what" },
      h("span", { class: "row-title" }, h("a", { href: `/portal/message/?key=${message.msi_key}`, dir: "auto" }, message.title),
        message.distribution === "Alert" ? distributionTag("Alert") : null),
      h("span", { class: "row-where" }, pathOf([message.names.channel, message.names.area, message.names.subject]), " · ", h("bdi", null, message.sender))),
    state, buttons);

  function show() {
    const now = hubNow();
    const { word, tone, detail } = describeState(message, now);
    fill(state, h("span", { class: `tag ${tone}` }, word), detail ? h("span", { class: "hint" }, detail) : null);
    fill(buttons, possibleActions(message, now).map((action) => h("button", { class: "button small", type: "button", onclick: async () => {
      const result = await perform(action, message);
      if (result) changed(result);
    } }, icon(iconOf(action), "small"), labelOf(action, message), h("span", { class: "unseen" }, ": ", message.title))));
    return now;
  }
  const now = show();
  // The seconds that are left to undo.
  const end = message.relay.next_attempt;
  if (message.relay.state === "pending" && !message.relay.attempts && end > now && end - now < 60_000) {
    const timer = setInterval(() => {
      if (element.isConnected && !buttons.contains(document.activeElement)) show();
      if (hubNow() > end + 1_000) clearInterval(timer);
    }, 1_000);
  }
  return element;
}
