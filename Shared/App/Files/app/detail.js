import { fill, h } from "../lib/dom.js";
import { phoneIcon } from "../lib/phone-icons.js";
import { state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { messageCard } from "./card.js";

/** All of one message, beside the list. `act` is what cards can do. `show(key)` sets the message. */
export function messageDetail(act) {
  const card = messageCard({}, act);
  const place = h("ul", { class: "plain" }, card);
  const none = h("div", { class: "empty" }, phoneIcon("bubble"), h("p", null, t("message.choose")));
  const element = h("section", { class: "detail", "aria-label": t("message.detail") });
  const heading = h("h2", { class: "unseen" }, t("message.detail"));
  let shown = "";
  return Object.assign(element, {
    show: (key) => {
      const message = state.messages.find((each) => each.msi_key === key);
      if (message) {
        card.update(message, "whole");
        if (!place.isConnected) fill(element, heading, place);
        if (shown !== key) act.read(message);
        shown = key;
      } else if (!none.isConnected) {
        fill(element, none);
      }
    },
  });
}
