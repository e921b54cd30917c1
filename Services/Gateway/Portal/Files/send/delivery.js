import { explain } from "../lib/api.js";
import { hubNow } from "../lib/clock.js";
import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { formatInput, formatLength, formatMoment, localOf } from "../lib/time.js";
import { field } from "../elements/field.js";
import { row } from "../elements/row.js";
import { timeField } from "../elements/time-field.js";

const lifetimes = [0, 3_600, 21_600, 86_400, 259_200, 604_800, 2_419_200];
const usual = { Alert: 86_400, Information: 2_419_200 };
const maxLink = 1_000;
const linkPattern = /^(https:\/\/|tel:|mailto:)\S+$/;

/**
 * When it goes out, how long it is worth delivering, its picture and link, and whether it is a drill: folded behind a
 * line that says what is set. The element has `show(distribution)`, `isComplete(isAlert)` and `error(field, error)`,
 * with an `ApiError` or a text. `changed` is called after each change of the draft.
 */
export function deliveryRows(draft, changed) {
  const when = h("select", { onchange: () => { setTime(when.value === "later"); } },
    h("option", { value: "now" }, t("send.when.now")), h("option", { value: "later" }, t("send.when.later")));
  const at = timeField({ label: t("send.when.at"),
      oninput: (value, isSecond) => { Object.assign(draft, { at: value, isSecond }); tellTime(); changed(); } });
  const lifetime = h("select", { onchange: () => { draft.ttl = lifetime.value; changed(); } });
  const picture = h("select", { onchange: () => {
    address.hidden = picture.value === "none";
    if (address.hidden) { draft.image = address.value = ""; address.error(""); } else address.control.focus();
    changed();
  } }, h("option", { value: "none" }, t("send.picture.none")), h("option", { value: "some" }, t("send.picture.some")));
  const address = field({
    label: t("send.picture.address"), type: "url", hint: t("send.picture.hint"),
    attributes: { placeholder: "https://", dir: "ltr", spellcheck: false },
    oninput: (value) => { draft.image = value; changed(); },
  });
  const link = field({
    label: t("send.link"), hint: t("send.link.hint"),
    attributes: { placeholder: "https://", dir: "ltr", spellcheck: false, autocapitalize: "none", inputMode: "url" },
    oninput: (value) => { draft.link = value; changed(); },
  });
  const drill = h("input",
    { type: "checkbox", role: "switch", onchange: () => { draft.drill = drill.checked; changed(); } });
  const pictureRow = row(t("send.picture"), picture, address);

  const tellTime = () =>
    at.hint(draft.at ? t("send.when.tell",
      { time: formatMoment(draft.time), zone: Intl.DateTimeFormat().resolvedOptions().timeZone }) : "");
  function setTime(isLater) {
    when.value = isLater ? "later" : "now";
    at.hidden = !isLater;
    // An hour from now, at a full quarter.
    if (isLater && !draft.at) Object.assign(draft, localOf(Math.ceil((hubNow() + 3_600_000) / 900_000) * 900_000));
    if (!isLater) draft.at = "";
    at.set(draft.at, draft.isSecond);
    at.control.min = formatInput(hubNow());
    at.error("");
    tellTime();
    changed();
  }

  const set = h("span", { class: "hint" });
  const element = h("details", { class: "group rows delivery" },
    h("summary", null, icon("next", "small"), h("span", { class: "label" }, t("send.options")), set),
    row(t("send.when"), when, at), row(t("send.ttl"), lifetime), h("div", { class: "row" }, link), pictureRow,
    row(t("send.drill"), drill, null, t("send.drill.hint")));
  element.schedule = () => { element.open = true; setTime(true); at.control.focus(); };
  element.error = (name, error) => {
    const [target, words] = {
      send_at: [at, "send.when.refused"], "options.image": [address, "send.picture.refused"],
      "options.link": [link, "send.link.refused"],
    }[name] ?? [];
    if (!target) return false;
    element.open = true;
    target.hidden = false;
    target.error(typeof error === "string" ? error : error.kind === "invalid-field" ? t(words) : explain(error));
    target.control.focus();
    return true;
  };
  /** Shows what is missing, and moves to it. */
  element.isComplete = (isAlert) => {
    const image = draft.image.trim();
    const address = draft.link.trim();
    if (isAlert && picture.value === "some" && !image) element.error("options.image", t("field.missing"));
    else if (isAlert && image && !/^https:\/\/\S+$/.test(image))
      element.error("options.image", t("send.picture.refused"));
    else if (address && (!linkPattern.test(address) || new TextEncoder().encode(address).length > maxLink))
      element.error("options.link", t("send.link.refused"));
    else if (draft.at && !(draft.time > hubNow())) element.error("send_at", t("send.when.past"));
    else return true;
    return false;
  };
  let shownDistribution = null;
  element.show = (distribution) => {
    pictureRow.hidden = distribution === "Information";
    if (shownDistribution !== distribution) {
      shownDistribution = distribution;
      const standard = usual[distribution] ?? usual.Alert;
      lifetime.replaceChildren(h("option", { value: "" }, t("send.ttl.usual", { length: formatLength(standard) })),
        ...lifetimes.filter((seconds) => seconds !== standard)
          .map((seconds) => h("option", { value: String(seconds) },
            seconds ? formatLength(seconds) : t("send.ttl.atOnce"))));
    }
    lifetime.value = draft.ttl;
    if (lifetime.selectedIndex < 0) {
      lifetime.append(h("option", { value: draft.ttl }, formatLength(Number(draft.ttl))));
      lifetime.value = draft.ttl;
    }
    drill.checked = draft.drill;
    when.value = draft.at ? "later" : "now";
    at.hidden = !draft.at;
    at.set(draft.at, draft.isSecond);
    if (draft.image && picture.value === "none") picture.value = "some";
    address.hidden = picture.value === "none";
    if (address.value !== draft.image) address.value = draft.image;
    if (link.value !== draft.link) link.value = draft.link;
    tellTime();
    set.textContent = settings(distribution).join(" · ");
  };
  /** What is set, in words. */
  function settings(distribution) {
    const seconds = draft.ttl === "" ? usual[distribution] ?? usual.Alert : Number(draft.ttl);
    const isDated = draft.at && !Number.isNaN(draft.time);
    return [
      isDated ? formatMoment(draft.time) : t("send.when.now"),
      seconds ? t("send.options.ttl", { length: formatLength(seconds) }) : t("send.ttl.atOnce"),
      distribution === "Information" ? "" : t(draft.image ? "send.options.picture" : "send.options.noPicture"),
      draft.link.trim() ? t("send.options.link") : "", draft.drill ? t("send.drill") : "",
    ].filter(Boolean);
  }
  return element;
}
