import { hear, lastHeard } from "../lib/clock.js";
import { h } from "../lib/dom.js";
import { isSilent, listen, renew, streamState } from "../lib/events.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { formatClock } from "../lib/time.js";

/** The state of FCM: that of the best relay, if there are several; `undefined` if it is not known. */
export const fcmOf = (relay) => innerPart(relay, "fcm");

/**
 * How the pushes to browsers do: `{state, detail}`. The state is "good", "bad" while none goes out, or "part" while a
 * push service does not take them.
 */
export function browserState(webPush) {
  const isBad = (part) => part && part.status !== "ok";
  const away = [webPush, ...["contact", "store", "outbox"].map((name) => innerPart(webPush, name))].find(isBad);
  if (away) return { state: "bad", detail: away.message };
  const pushServices = innerPart(webPush, "push_services");
  return isBad(pushServices) ? { state: "part", detail: pushServices.message } : { state: "good" };
}

/** The inner part of a service, or of the best one of its instances. */
function innerPart(service, name) {
  const states = [service, ...Object.values(service?.parts ?? {})].map((each) => each?.parts?.[name]).filter(Boolean);
  return states.find((state) => state.status === "ok") ?? states[0];
}

let knownWays = "google";

/**
 * The ways to phones that are switched on: "google", "both", "browsers", or "fetch" if apps only ask for messages.
 * While the message log is away, they are those of before.
 */
export function waysOf(health) {
  const parts = health?.parts?.["message-log"];
  if (parts) knownWays = parts.relay ? (parts.webpush ? "both" : "google") : parts.webpush ? "browsers" : "fetch";
  return knownWays;
}

/**
 * What a state of `GET /health` means for sending: `{tone, text, waits}`. `waits`: messages are stored, and do not go
 * out now.
 *
 * Other pages use it too, since the health says which parts of a page can work.
 */
export function meaningOf(health) {
  if (!health) return { tone: "bad", text: t("health.gatewayAway", { time: formatClock(lastHeard()) }) };
  const isAway = (service) => health.services?.[service] !== undefined && health.services[service] !== "ok";
  const { relay, webpush } = health.parts?.["message-log"] ?? {};
  if (isAway("message-log")) return { tone: "bad", text: t("health.messageLogAway") };
  if (relay && relay.status !== "ok") return { tone: "warn", text: t("health.relayAway"), waits: true };
  const fcm = fcmOf(relay);
  if (fcm && fcm.status !== "ok") return { tone: "warn", text: t("health.fcmAway"), waits: true };
  const browsers = webpush ? browserState(webpush).state : "good";
  if (browsers === "bad" && !relay) return { tone: "warn", text: t("health.browsersAway"), waits: true };
  if (browsers !== "good")
    return { tone: "warn", text: t(browsers === "bad" ? "health.browsersLate" : "health.pushRefused") };
  if (isAway("cube")) return { tone: health.status === "unavailable" ? "bad" : "warn", text: t("health.cubeAway") };
  if (isAway("people")) return { tone: health.status === "unavailable" ? "bad" : "warn", text: t("health.peopleAway") };
  return { tone: "good", text: t("health.good") };
}

let current;
let reading = null;

/** The last known health; `undefined` before the first answer, `null` if the gateway does not answer. */
export const currentHealth = () => current;

/** Reads the health. An "unavailable" one has the status 503, and is an answer too. */
export function readHealth() {
  reading ??= askHealth().finally(() => { reading = null; });
  return reading;
}

async function askHealth() {
  const start = Date.now();
  try {
    const response = await fetch("/health", { signal: AbortSignal.timeout(3_000) });
    current = await response.json();
    hear();
  } catch {
    // On a slow line the answer may be late, while the stream tells that the hub works.
    if (lastHeard() < start || current === undefined) current = null;
  }
  return current;
}

/** Says in words whether sending works, and opens the details. While the hub works it is quiet. */
class HealthPill extends HTMLElement {
  connectedCallback() {
    this.words = h("span", null, t("health.reading"));
    this.link = h("a", { class: "pill", href: "/portal/overview/#health" }, icon("info", "small"), this.words);
    this.replaceChildren(h("span", { role: "status" }, this.link));
    const suspect = () => this.refresh();
    listen("health", (health) => { current = health; this.show(); });
    listen("stream", suspect);
    // A request without an answer, and a network that is gone, are reasons to ask.
    for (const type of ["hub-unanswered", "offline", "online"]) window.addEventListener(type, suspect);
    this.refresh();
    setInterval(() => this.watch(), 1_000);
  }

  watch() {
    const isLong = Date.now() - lastHeard() > (streamState === "open" ? 8_000 : 5_000);
    if (current === null || isSilent() || isLong) this.refresh();
  }

  async refresh() {
    await readHealth();
    if (current && isSilent()) renew();
    this.show();
  }

  show() {
    const { tone, text } = meaningOf(current);
    this.link.className = `pill ${tone}`;
    // A screen reader announces only changes.
    if (this.words.textContent !== text) this.words.textContent = text;
    this.dispatchEvent(new CustomEvent("hub-health", { bubbles: true, detail: current }));
  }
}

customElements.define("health-pill", HealthPill);
