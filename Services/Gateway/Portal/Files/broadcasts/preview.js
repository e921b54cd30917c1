import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { formatMoment } from "../lib/time.js";
import { effectOf, kindTag, kinds, languageName } from "./words.js";

const pictureAddress = /^https:\/\/\S+$/;

/** The card over the app, in one language. */
export function launchCard(draft, tag, expires, poster = null) {
  const { title, msg } = draft.translations[tag] ?? {};
  return h("article", { class: "card launch-card", lang: tag },
    poster, h("p", { class: "meta", lang: document.documentElement.lang }, kindTag(draft)),
    h("p", { class: `title ${title ? "" : "blank"}`, dir: "auto" }, title || t("broadcasts.text.title")),
    h("p", { class: `text ${msg ? "" : "blank"}`, dir: "auto" }, msg || t("broadcasts.text.msg")),
    draft.cancellable
      ? h("p", { class: "launch-close", "aria-hidden": "true" }, t("broadcasts.preview.close"))
      : h("p", { class: "launch-stays" }, icon("clock", "small"),
          expires ? t("broadcasts.preview.stays",
            { time: formatMoment(expires) }) : t("broadcasts.preview.stays.open")));
}

/**
 * Shows a broadcast as phones will: the card over the app, or a feature switch in the phone's settings. The element has
 * `show(draft, language, expires)`.
 */
export function phoneScreen() {
  const screen = h("div", { class: "screen", dataset: { view: "app" } });
  const caption = h("p", { class: "hint" });
  const element = h("div", { class: "broadcast-preview" }, h("div", { class: "phone" }, screen), caption);
  // A picture is not loaded again with each letter.
  const poster = h("img",
    { class: "poster", alt: t("broadcasts.preview.poster"), onerror: () => { poster.hidden = true; },
      onload: () => { poster.hidden = false; } });
  poster.hidden = true;

  function card(draft, tag, expires) {
    const address = draft.poster.trim();
    if (poster.getAttribute("src") !== address) {
      poster.hidden = true;
      if (pictureAddress.test(address)) poster.src = address;
      else poster.removeAttribute("src");
    }
    return [
      h("div", { class: "app-behind", "aria-hidden": "true" }, h("span", { class: "bone-title" }),
        [1, 2, 3].map(() => h("span", { class: "bone-card" }))),
      h("div", { class: "launch", role: "group", tabIndex: 0, "aria-label": t("broadcasts.preview.card") },
        launchCard(draft, tag, expires, poster)),
    ];
  }

  function settings(draft) {
    const name = draft.feature.trim();
    return h("div", { class: "settings" }, h("p", { class: "settings-heading" }, t("broadcasts.preview.switches")),
      h("div", { class: "card settings-row" }, h("span", { class: name ? "code" : "blank", dir: name ? "ltr" : null },
          name || t("broadcasts.feature")),
        h("span", { class: "tag" }, icon(draft.isOn ? "check" : "cross", "small"),
          t(draft.isOn ? "broadcasts.preview.on" : "broadcasts.preview.off"))),
      h("p", { class: "hint" }, effectOf(draft.content())));
  }

  element.show = (draft, tag, expires) => {
    screen.dataset.kind = kinds[draft.type].name;
    fill(screen, draft.isSwitch ? settings(draft) : card(draft, tag, expires));
    caption.textContent = draft.isSwitch ? t("broadcasts.preview.switch") : t("broadcasts.preview.caption",
      { language: languageName(tag) });
  };
  return element;
}
