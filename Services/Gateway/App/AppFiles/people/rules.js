// What may be sent where, who sees it and for how long, and who sees reports.

import { h } from "../lib/dom.js";
import { state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { loadQuietly, toFriends, view } from "./parts.js";

/** The ways in which people write to each other here, in the order in which they are described. */
const ways = ["direct", "status", "profile", "posts", "hub"];
const questions = ["what", "who", "long"];

/** The page. Its limits are those of this hub. */
export function rulesView() {
  const general = ["encryption", "reports", "block", "none"].map((name) => h("section", null,
    h("h2", { class: "day" }, t(`rules.${name}`)), h("p", null, t(`rules.${name}.text`))));
  const days = h("p", { class: "hint" });
  const element = view(t("rules.heading"), { back: toFriends() }, h("div", { class: "stack rules" },
    h("p", { class: "secondary" }, t("rules.text")), general.slice(0, 2),
    ways.map((way) => h("section", null, h("h2", { class: "day" }, t(`rules.${way}`)), h("dl", { class: "group facts" },
      questions.map((question) => h("div", { class: "row rule" }, h("dt", null, t(`rules.${question}`)),
        h("dd", null, t(`rules.${way}.${question}`))))))), days, general.slice(2)));

  loadQuietly("messaging");
  return Object.assign(element, { update: () => {
    const { rules } = state.people.messaging ?? {};
    days.textContent = rules ? t("rules.days", { days: rules.days, half: Math.floor(rules.days / 2),
      digest: rules.digest_days }) : "";
  } });
}
