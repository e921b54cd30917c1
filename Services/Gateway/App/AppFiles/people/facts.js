import { h } from "../lib/dom.js";
import { dateForm, t } from "../lib/text.js";

/** The fields of a profile, in the order in which they are shown. */
export const fields = ["first_name", "last_name", "born", "gender", "bio", "email"];

const day = dateForm({ day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

/** A day such as 2004-02-29, as the language writes it. */
function dayText(text) {
  const moment = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(moment) ? text : day.format(moment);
}

/** What can be seen of a profile, or that nothing can. */
export function profileFacts(profile) {
  const known = fields.filter((name) => profile[name]);
  if (!known.length) return h("p", { class: "hint" }, t("profile.nothing"));
  return h("dl", { class: "group facts" }, known.map((name) => h("div", { class: "row" },
    h("dt", null, t(name === "bio" ? "facts.bio" : `profile.${name}`)),
    h("dd", { class: "hint", dir: "auto" }, name === "born" ? dayText(profile[name]) : profile[name]))));
}
