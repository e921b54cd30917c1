import { hubNow } from "../lib/clock.js";
import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { describeState, nextOf, wayText } from "../lib/message-state.js";
import { nameOf } from "../lib/people.js";
import { t } from "../lib/text.js";
import { formatExact, formatTime } from "../lib/time.js";
import { iconOf, labelOf, perform, possibleActions } from "../elements/message-actions.js";
import { distributionTag, pathOf } from "../elements/tags.js";

/**
 * A message in the history: one link, and what can be done with it now. `changed` is called with the message after an
 * action.
 */
export function messageRow(message, changed) {
  const state = h("span", { class: "row-state" });
  const buttons = h("span", { class: "row-actions" });
  const stored = h("time",
    { dateTime: new Date(message.timestamp).toISOString(), title: formatExact(message.timestamp) });
  const element = h("li", { class: "message-row", dataset: { key: message.msi_key } },
    stored,
    h("span", { class: "row-what" },
      h("span", { class: "row-title" },
        h("a", { href: `/portal/message/?key=${message.msi_key}`, dir: "auto" }, message.title),
        message.distribution === "Alert" ? distributionTag("Alert") : null),
      h("span", { class: "row-where" }, pathOf([message.names.channel, message.names.area, message.names.subject],
          { isLine: true }), h("span", { class: "row-sender" }, " · ", h("bdi", null, nameOf(message.sender))))),
    buttons, state);

  // The seconds that are left to undo.
  const end = nextOf(message.relay);
  const isUndoing = (now) => message.relay.state === "pending" && !message.relay.attempts && end > now &&
    end - now < 60_000;

  function show() {
    const now = hubNow();
    const { state: name, word, tone, detail } = describeState(message, now);
    // Two times are in the row: the other one says when it goes out.
    fill(stored, name === "scheduled" ? h("span", { class: "stored" }, t("messages.stored"), " ") : null,
      formatTime(message.timestamp));
    const count = message.receipts?.received ?? 0;
    const phones = count ? h("span", { title: t("messages.phones.means", { count }) },
      t("messages.phones", { count })) : null;
    fill(state, h("span", { class: `tag ${tone}`, title: name === "relayed"
      ? wayText("state.relayed.means", message) : null }, word),
      detail || phones ? h("span", { class: "hint", title: detail || null }, detail, detail && phones ? " · " : null,
        phones) : null);
    fill(buttons, possibleActions(message, now)
        .map((action) => h("button", { class: "button small", type: "button", onclick: async () => {
      const result = await perform(action, message);
      if (result) changed(result);
    } }, icon(iconOf(action), "small"), labelOf(action, message), h("span", { class: "unseen" }, ": ",
    message.title))));
    element.toggleAttribute("data-undoing", isUndoing(now));
    return now;
  }
  const now = show();
  if (isUndoing(now)) {
    const timer = setInterval(() => {
      if (element.isConnected && !buttons.contains(document.activeElement)) show();
      if (hubNow() > end + 1_000) clearInterval(timer);
    }, 1_000);
  }
  return element;
}
