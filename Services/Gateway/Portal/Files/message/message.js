import { explain, get } from "../lib/api.js";
import { hubNow } from "../lib/clock.js";
import { fill, h } from "../lib/dom.js";
import { listen } from "../lib/events.js";
import { icon } from "../lib/icons.js";
import { linkified, mainLink } from "../lib/linkify.js";
import { describeState, fetchOf, isOut, isRestored, stateOf, wayText } from "../lib/message-state.js";
import { accountsOf, personOf, readNames } from "../lib/people.js";
import { maySendTo } from "../lib/session.js";
import { t, tn } from "../lib/text.js";
import { formatExact, formatLength, formatMoment, formatTime } from "../lib/time.js";
import { iconOf, labelOf, perform, possibleActions } from "../elements/message-actions.js";
import { emptyPage, ready } from "../elements/shell.js";
import { distributionTag, pathOf } from "../elements/tags.js";
import { toast } from "../elements/toast.js";
import { reach, timeline } from "./timeline.js";

const main = document.getElementById("main");
const key = new URLSearchParams(location.search).get("key") ?? "";
const link = (of) => `/portal/message/?key=${of}`;
/** The newest follow-ups that are shown. */
const shownFollowUps = 10;
let message = null;
let [lastTurn, shownTurn] = [0, 0];
/** Earlier and later messages that belong to this one, by key. */
const related = new Map();

const stateTag = h("span");
const stateDetail = h("span", { class: "secondary" });
const buttons = h("div", { class: "actions message-actions" });
let shownActions = "";
const reached = h("div", { class: "reach" });
/**
 * How often the page asks what the phones have reported, and for how long: a message has reached most phones within
 * minutes.
 */
const [reachInterval, reachPeriod] = [10_000, 3_600_000];

await ready;
fill(main, back(), h("div", { class: "stack", "aria-hidden": "true" }, ["60px", "200px", "240px"].map((size) => {
  const bone = h("div", { class: "skeleton" });
  bone.style.setProperty("block-size", size);
  return bone;
})));
// Before the first answer, which may be older than an event.
listen("message", (event) => { if (event.msi_key === key || message?.follow_ups?.includes(event.msi_key)) refresh(); });
listen("reset", refresh);
await refresh();
main.focus();

// The seconds to undo, and words such as "scheduled".
setInterval(() => { if (message && ["pending", "retrying", "held"].includes(message.relay.state)) showState(); },
  1_000);

setInterval(() => {
  if (!message || document.hidden || !(isOut(message) || fetchOf(message)) ||
    hubNow() - (message.relay.accepted ?? message.send_at ?? message.timestamp) > reachPeriod) return;
  get(`/message/${encodeURIComponent(key)}`).then(showReach, () => {});
}, reachInterval);

/**
 * Only the counts, so that an unfolded part of the page stays so. The first phones that have fetched an Alert are a
 * step.
 */
function showReach({ receipts }) {
  if (JSON.stringify(receipts) === JSON.stringify(message.receipts)) return;
  const before = fetchOf(message);
  message.receipts = receipts;
  if (fetchOf(message) === before) fill(reached, reach(message));
  else show();
}

async function refresh() {
  const turn = ++lastTurn;
  try {
    const answer = await get(`/message/${encodeURIComponent(key)}`);
    // A later request may have been answered before.
    if (turn < shownTurn) return;
    [message, shownTurn] = [answer, turn];
  } catch (error) {
    if (message) return;
    const isGone = error.status === 404 || error.status === 400;
    fill(main, back(), isGone
      ? emptyPage({ level: 1, name: "messages", heading: t("message.gone.heading"), text: t("message.gone.text"),
            action: h("a", { class: "button", href: "/portal/messages/" }, t("message.gone.action")) })
      : h("div", { class: "notice bad", role: "alert" }, icon("info"), h("p", null, explain(error)),
          h("button", { class: "button small", type: "button", onclick: refresh }, t("retry"))));
    return;
  }
  show();
  readNames(accountsOf(message)).then((isNew) => { if (isNew) show(); });
  const others = [message.follows, ...(message.follow_ups ?? []).slice(-shownFollowUps)].filter((each) => each &&
    !related.has(each));
  if (!others.length) return;
  for (const other of await Promise.all(others.map((each) => get(`/message/${each}`).catch(() => null)))) {
    if (other) {
      related.set(other.msi_key, other);
    }
  }
  show();
}

function back() {
  return h("p", { class: "back" }, h("a", { href: "/portal/messages/" }, icon("back", "small"), t("message.back")));
}

function showState() {
  const now = hubNow();
  const { word, tone, detail } = describeState(message, now);
  stateTag.className = `tag ${tone}`;
  if (stateTag.textContent !== word) stateTag.textContent = word;
  stateDetail.textContent = detail || (message.relay.state === "relayed"
    ? wayText("state.relayed.means", message) : "");
  // The old pop-up would take the place of the correction's.
  const possible = possibleActions(message, now).filter((action) => action !== "retry" || !newestCorrection());
  const wasFetched = fetchOf(message, now) === "fetched" && message.relay.state !== "recalled";
  const print = possible.join() + message.relay.state + wasFetched + correctionLink();
  if (print === shownActions && buttons.children.length) return;
  shownActions = print;
  const isAlert = message.distribution === "Alert";
  const canSend = maySendTo(message.topic_key);
  fill(buttons,
    possible.map((action, index) =>
      h("button", { class: index ? "button" : "button main", type: "button", onclick: () => act(action) },
        icon(iconOf(action), "small"), labelOf(action, message))),
    canSend && isAlert && (message.relay.state === "relayed" || wasFetched)
      ? h("a", { class: "button", href: `/portal/send/?follows=${key}&clear` }, icon("check", "small"),
      t("message.allClear")) : null,
    canSend && (wasFetched || !["recalled", "failed", "expired"].includes(message.relay.state))
      ? h("a", { class: "button", href: `/portal/send/?follows=${key}` }, icon("reply", "small"), t("message.followUp"))
      : null,
    canSend && isCorrectable(message) ? h("a", { class: "button", href: correctionLink() }, icon("edit", "small"),
      t("message.correct")) : null,
    canSend ? h("a", { class: "button", href: `/portal/send/?copy=${key}` }, icon("send", "small"),
      t("message.again")) : null);
}

/** Phones have it, by FCM, by Web Push or by a fetch, and the hub sends nothing more of it. */
function isCorrectable(message) {
  return ["relayed", "failed", "expired"].includes(message.relay.state) &&
    (isOut(message) || fetchOf(message) === "fetched");
}

/** The newest correction that was not taken back. */
function newestCorrection() {
  const corrections = (message.follow_ups ?? []).map((of) => related.get(of))
    .filter((each) => each?.correction && each.relay.state !== "recalled");
  return corrections.at(-1) ?? null;
}

/** Corrections of one message are all named by it. The form begins with the newest text. */
function correctionLink() {
  const first = message.correction ? message.follows : key;
  const newest = message.correction ? key : newestCorrection()?.msi_key;
  return `/portal/send/?follows=${first}&correction${newest ? `&copy=${newest}` : ""}`;
}

async function act(action) {
  const changed = await perform(action, message);
  if (changed) message = { ...message, ...changed };
  await refresh();
  // After a question that was dismissed the focus is on its button again.
  if (changed || !main.contains(document.activeElement)) main.querySelector("h1")?.focus();
}

function show() {
  const { names } = message;
  document.title = `${message.title} · ${t("product")}`;
  const facts = [
    ["message.sender", h("bdi", null, personOf(message.sender))],
    ["message.stored", formatExact(message.timestamp)],
    message.expires ? ["message.expires",
      h("span", null, formatExact(message.expires), message.ttl === undefined
        ? null : ` (${message.ttl ? formatLength(message.ttl) : t("message.ttl.atOnce")})`)] : null,
    message.template ? ["message.template", t("message.template.used")] : null,
    ["message.key", h("span", { class: "copyable" }, h("code", { dir: "ltr" }, key),
        h("button", { class: "button bare plain small", type: "button", "aria-label": t("message.key.copy"),
          title: t("message.key.copy"), onclick: copyKey }, icon("copy", "small")))],
  ].filter(Boolean);
  const relatedLink = (of, label) => related.has(of)
    ? h("li", null, h("span", { class: "hint" }, label, " · ", formatMoment(related.get(of).timestamp)),
    h("a", { href: link(of), dir: "auto" }, related.get(of).title)) : null;
  const relatives = [message.follows
    ? relatedLink(message.follows, t(message.correction ? "message.corrects" : "message.follows"))
    : null, ...(message.follow_ups ?? [])
    .map((of) => relatedLink(of,
        t(related.get(of)?.correction ? "message.correction" : "message.followUp.sent")))].filter(Boolean);
  const correction = newestCorrection();
  const address = message.options?.link;
  const leads = address ? mainLink(address) : null;
  const hadFocus = document.activeElement === main.querySelector("h1");
  shownActions = "";
  fill(reached, reach(message));
  fill(main, back(),
    h("header", { class: "message-head" },
      h("div", { class: "message-tags" }, distributionTag(message.distribution),
        message.drill ? h("span", { class: "tag" }, t("message.drill")) : null,
        message.correction ? h("span", { class: "tag" }, icon("edit", "small"), t("message.correction")) : null,
        pathOf([names.channel, names.area, names.subject])),
      h("h1", { class: message.title.length > 90 ? "long" : null, tabIndex: -1, dir: "auto" },
        linkified(message.title)),
      h("p", { role: "status", class: "message-state" }, stateTag, stateDetail),
      buttons),
    isRestored(message) ? h("div", { class: "notice" }, icon("lock"),
      h("p", null, t("message.restored"))) : stateOf(message) === "held" ? h("div", { class: "notice" }, icon("lock"),
      h("p", null, tn(possibleActions(message).includes("approve") ? "message.held.you" : "message.held.others",
          { sender: h("bdi", null, personOf(message.sender)) }),
        message.send_at ? [" ", t("message.held.later", { time: formatMoment(message.send_at) })] : null)) : null,
    correction ? h("div", { class: "notice" }, icon("edit"),
      h("p", null, t("message.corrected"), " ",
        h("a", { href: link(correction.msi_key) }, h("bdi", null, correction.title)), " · ",
        formatMoment(correction.timestamp))) : null,
    h("div", { class: "message-columns" },
      h("div", { class: "stack" },
        h("section", { class: "panel message-text", "aria-label": t("message.text") },
          message.desc ? [h("h2", { class: "label" }, t("message.desc")),
            h("p", { dir: "auto" }, linkified(message.desc))] : null,
          h("h2", { class: "label" }, t("message.message")),
          h("p", { class: "body", dir: "auto" }, linkified(message.message)),
          address ? [h("h2", { class: "label" }, t("message.link")),
            h("p", null, leads ? h("a", { href: leads.href, target: "_blank", rel: "noopener noreferrer", dir: "ltr" },
                leads.shown) : address)] : null,
          message.options?.image ? h("img", { src: message.options.image, alt: t("message.picture"), loading: "lazy" })
            : null),
        relatives.length ? h("section", { class: "panel", "aria-labelledby": "related" },
          h("h2", { id: "related", class: "label" }, t("message.related")),
          h("ul", { class: "plain related" }, relatives)) : null,
        h("dl", { class: "facts" },
          facts.map(([name, value]) => h("div", null, h("dt", null, t(name)), h("dd", null, value))))),
      timeline(message, reached)));
  showState();
  if (hadFocus) main.querySelector("h1").focus();
}

async function copyKey() {
  try {
    await navigator.clipboard.writeText(key);
    toast(t("copied"));
  } catch {
    toast(key);
  }
}
