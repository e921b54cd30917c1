import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { language as uiLanguage, t } from "../lib/text.js";
import { formatLength } from "../lib/time.js";
import { currentHealth, waysOf } from "../elements/health-pill.js";

/** Whether broadcasts are pushed. Only FCM carries them; without it the app asks for them. */
export const arePushed = () => ["google", "both"].includes(waysOf(currentHealth()));

/** A text about the way of broadcasts: `KEY` where they are pushed, else `KEY.plain`. */
export const textByWay = (key, values) => t(arePushed() ? key : `${key}.plain`, values);

/** The kinds of broadcasts by their type: the beginning of their texts' keys, and their icon. */
export const kinds = {
  1: { name: "downtime", icon: "downtime" },
  2: { name: "announcement", icon: "speaker" },
  3: { name: "greeting", icon: "greeting" },
  4: { name: "switch", icon: "toggle" },
};

export const isSwitch = (broadcast) => Number(broadcast.type) === 4;

const languageNames = new Intl.DisplayNames(uiLanguage, { type: "language", fallback: "code" });

/** The name of a language in that of the page. */
export function languageName(tag) {
  try {
    return languageNames.of(tag);
  } catch {
    return tag;
  }
}

const list = new Intl.ListFormat(uiLanguage, { type: "conjunction" });
export const listOf = (words) => list.format(words);

/** The languages of a broadcast, the default one first. */
export const languagesOf = ({ actiondata, language }) =>
  Object.keys(actiondata.translations ?? {})
    .sort((one, other) => Number(other === language) - Number(one === language));

export const kindTag = ({ type }) => h("span", { class: "tag" }, icon(kinds[type].icon, "small"),
  t(`broadcasts.kind.${kinds[type].name}`));

/** The title in the default language; for a feature switch its feature. */
export function titleOf({ type, actiondata, language }) {
  if (isSwitch({ type })) return actiondata.feature || t("broadcasts.dataOnly");
  const { translations = {} } = actiondata;
  return (translations[language] ?? Object.values(translations)[0])?.title ?? t("broadcasts.untitled");
}

/** Scheduled, active, expired or withdrawn now: time passes between two readings. */
export function stateOf(broadcast, now) {
  if (broadcast.state === "withdrawn") return "withdrawn";
  return now < broadcast.starts ? "scheduled" : now < broadcast.expires ? "active" : "expired";
}

/** Who gets it, in words. `names` has the channels' names by their ids, and is `null` if they could not be read. */
export function audienceOf({ channels, condition }, names) {
  if (condition) return t("broadcasts.audience.if", { condition });
  if (!channels?.length) return t("broadcasts.audience.everyone");
  if (!names) return t("broadcasts.audience.count", { count: channels.length });
  return listOf(channels.map((id) => names.get(id) ?? t("broadcasts.audience.gone")));
}

/** What a feature switch does, in a sentence. */
export function effectOf({ feature, notificationtype, share, group }) {
  if (!feature) return t("broadcasts.effect.data");
  const direction = notificationtype === "disable-feature" ? "off" : "on";
  if (!share || (Number(share) === 100 && !group)) return t(`broadcasts.effect.${direction}`, { feature });
  return t(group ? `broadcasts.effect.${direction}.group` : `broadcasts.effect.${direction}.share`,
    { feature, share: percent(share), group });
}

const percents = new Intl.NumberFormat(uiLanguage, { style: "percent" });
const percent = (share) => percents.format(share / 100);

/** "Never", or the length between two pushes. */
export const repeatWords = (minutes) =>
  (minutes ? t("broadcasts.repeat.every", { length: formatLength(minutes * 60) }) : t("broadcasts.repeat.never"));
