import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { phoneIcon } from "../lib/phone-icons.js";
import { place } from "../lib/place.js";
import { send } from "../lib/requests.js";
import { currentRoute, go } from "../lib/route.js";
import { state } from "../lib/state.js";
import { isMutable, pathText } from "../lib/subjects.js";
import { t, tn } from "../lib/text.js";
import { chips } from "../elements/chips.js";
import { matches, search } from "../elements/search.js";
import { segments } from "../elements/segments.js";
import { switchRow } from "../elements/switch.js";
import { toast } from "../elements/toast.js";
import { mute } from "./mute.js";

/**
 * With more subjects than these, the areas are folded until somebody opens one. The second limit is for search results.
 */
const maxUnfolded = 20;
const maxFoundUnfolded = 100;

/** The subjects of the cube, and which of them the phone has subscribed to. */
export function subscriptionsPage() {
  const parts = new Map();
  /** Choices that the process has not confirmed yet, by topic key. */
  const wanted = new Map();
  /** The areas that the person has opened or folded, by identifier. */
  const unfolded = new Map();
  /**
   * The subjects that were subscribed to when "Mine" was chosen. They stay listed, so that a mistake can be corrected.
   */
  let mine = null;
  let query = "";

  const find = search({ label: t("subscriptions.search"),
      onchange: (words) => { query = words.trim(); unfolded.clear(); update(); } });
  const extent = segments({ label: t("subscriptions.extent"), value: "all",
      onchange: (value) => go({ page: value === "mine" ? value : "" }),
    options: [{ value: "all", label: t("subscriptions.all") }, { value: "mine", label: t("subscriptions.mine") }] });
  const filter = chips({ label: t("subscriptions.channel"), onchange: (channel) => go({ channel }) });
  const count = h("p", { class: "hint", role: "status" });
  const tree = h("div", { class: "tree" });
  const element = h("section", { class: "page" }, h("div", { class: "view" },
    h("header", { class: "head" },
      h("div", { class: "head-line" }, h("h1", { tabIndex: -1 }, t("subscriptions.heading")), find.button), find.input,
      extent, filter), h("div", { class: "found" }, count), tree));

  /** A part of the tree, made once by `make`. */
  function part(key, make) {
    if (!parts.has(key)) parts.set(key, make());
    return parts.get(key);
  }

  function subjectRow(subject) {
    const isForced = subject.level === "Forced";
    const print = JSON.stringify([subject.name, subject.desc, subject.level, subject.dist]);
    const row = part(`${subject.topic_key} ${print}`, () => {
      const tag = (kind, sign, text) => h("span", { class: `tag ${kind}` }, sign, text);
      const made = switchRow({
        label: subject.name, hint: subject.desc,
        marks: [subject.dist === "Alert" ? tag("alert", icon("alert", "small"), t("message.alert")) : null,
          isForced ? tag("", icon("lock", "small"), t("level.Forced")) : null,
          subject.level === "Recommended" ? tag("", icon("check", "small"), t("level.Recommended")) : null],
        onchange: (isOn) => (isForced
          ? toast(tn("subscriptions.forced", { subject: h("bdi", null, pathText(subject)) })) : choose(subject, isOn)),
      });
      if (isForced) made.control.setAttribute("aria-disabled", "true");
      const muteButton = h("button", { class: "pill mute", type: "button", onclick: () => mute(item.subject) },
        phoneIcon("bellOff", "small"), t("mute.begin"), h("span", { class: "unseen" }, `: ${subject.name}`));
      const item = Object.assign(h("li", null, made, muteButton), { made, muteButton });
      return item;
    });
    if (wanted.get(subject.topic_key) === subject.subscribed) wanted.delete(subject.topic_key);
    row.subject = subject;
    row.made.checked = isOn(subject);
    row.muteButton.hidden = !isMutable(subject) || !isOn(subject);
    row.muteButton.setAttribute("aria-pressed", String(subject.muted));
    return row;
  }

  const isOn = (subject) => wanted.get(subject.topic_key) ?? subject.subscribed;

  /** Shows the choice at once, and takes it back if the process refuses. */
  async function choose(subject, subscribed) {
    wanted.set(subject.topic_key, subscribed);
    update();
    if (!(await send("PUT", `/subscriptions/${subject.topic_key}`, { subscribed }))) wanted.delete(subject.topic_key);
    update();
  }

  function areaPart(area, subjects, isUnfolded) {
    const details = part(area.id, () => {
      const name = h("h3", null);
      const count = h("span", { class: "hint" });
      const items = h("ul", { class: "plain" });
      const summary = h("summary", { onclick: (event) => {
        event.preventDefault();
        unfolded.set(area.id, !details.open);
        update();
      } }, icon("down", "small"), name, count);
      return Object.assign(h("details", null, summary, items), { parts: { name, count, items } });
    });
    details.parts.name.textContent = area.name;
    details.parts.count.textContent = t("subscriptions.count",
      { on: area.subjects.filter(isOn).length, count: area.subjects.length });
    details.open = unfolded.get(area.id) ?? isUnfolded;
    // The rows of hundreds of subjects take time, and nobody sees them in a folded area.
    place(details.parts.items, details.open ? subjects.map(subjectRow) : []);
    return details;
  }

  function channelPart(channel, areas) {
    const section = part(channel.id, () => {
      const name = h("h2", { class: "day" });
      const group = h("div", { class: "group" });
      return Object.assign(h("section", null, name, group), { parts: { name, group } });
    });
    section.parts.name.textContent = channel.name;
    place(section.parts.group, areas);
    return section;
  }

  function update() {
    const { tab, page, channel = "" } = currentRoute();
    const isMine = page === "mine";
    if (!isMine || tab !== "subscriptions") mine = null;
    if (tab !== "subscriptions") return;
    const all = state.channels.flatMap(({ areas }) => areas.flatMap(({ subjects }) => subjects));
    // FCM's subscriptions count. Without a network the page shows the phone's copy.
    if (isMine && !mine && !state.control.offline) send("POST", "/subscriptions/compare", undefined, { isQuiet: true });
    if (isMine) mine = new Set([...(mine ?? []), ...all.filter(isOn).map((subject) => subject.topic_key)]);
    extent.value = isMine ? "mine" : "all";
    const chosen = state.channels.find(({ id }) => id === channel);
    filter.hidden = state.channels.length < 2;
    filter.show([{ value: "", label: t("subscriptions.everywhere") },
        ...state.channels.map(({ id, name }) => ({ value: id, label: name }))], chosen?.id ?? "");
    find.label = chosen ? t("search.channel", { channel: chosen.name }) : t(isMine
      ? "subscriptions.search.mine" : "subscriptions.search");

    const isShown = (path, subject) => (!mine || mine.has(subject.topic_key)) &&
      (!query || matches([...path, subject.name, subject.desc].join(" "), query));
    const found = (chosen ? [chosen] : state.channels).map((each) => [each, each.areas
      .map((area) => [area, area.subjects.filter((subject) => isShown([each.name, area.name], subject))])
      .filter(([, subjects]) => subjects.length)])
      .filter(([, areas]) => areas.length);
    const total = found.reduce((sum, [, areas]) => sum + areas.reduce((sum, [, subjects]) => sum + subjects.length, 0),
      0);
    const scope = [chosen ? chosen.name : t("subscriptions.everywhere"), isMine
      ? t("settings.mine") : ""].filter(Boolean).join(" · ");
    count.textContent = query ? `${t("subscriptions.found", { count: total })} · ${scope}` : "";
    const isUnfolded = total <= (query ? maxFoundUnfolded : maxUnfolded);
    if (total)
      place(tree, found.map(([each, areas]) =>
          channelPart(each, areas.map(([area, subjects]) => areaPart(area, subjects, isUnfolded)))));
    else if (tree.firstChild?.dataset?.why !== why(isMine)) fill(tree, emptyNote(why(isMine)));
  }

  const why = (isMine) => (query ? "search" : isMine ? "mine" : "none");
  const emptyNote = (reason) => h("div", { class: "empty", dataset: { why: reason } },
    reason === "search" ? icon("search") : phoneIcon("bell"),
    h("h2", null, t(`subscriptions.empty.${reason}`)), h("p", null, t(`subscriptions.empty.${reason}.text`)));

  return Object.assign(element, { update });
}
