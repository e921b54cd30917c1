import { h } from "../lib/dom.js";
import { listen, streamState } from "../lib/events.js";
import { t } from "../lib/text.js";

/** The state of FCM: that of the best relay, if there are several; `undefined` if it is not known. */
export function fcmOf(relay) {
  const states = [relay, ...Object.values(relay?.parts ?? {})].map((each) => each?.parts?.fcm).filter(Boolean);
  return states.find((state) => state.status === "ok") ?? states[0];
}

/**
 * What a state of `GET /health` means for sending: `{tone, text, waits}`. `waits`: messages are stored, and do not go out now.
 *
 * Other pages use it too, since the health says which parts of a page can work.
 */
export function meaningOf(health) {
  if (!health) return { tone: "bad", text: t("health.gatewayAway") };
  const isAway = (service) => health.services?.[service] !== undefined && health.services[service] !== "ok";
  const relay = health.parts?.["message-log"]?.relay;
  if (isAway("message-log")) return { tone: "bad", text: t("health.messageLogAway") };
  if (relay && relay.status !== "ok") return { tone: "warn", text: t("health.relayAway"), waits: true };
  const fcm = fcmOf(relay);
  if (fcm && fcm.status !== "ok") return { tone: "warn", text: t("health.fcmAway"), waits: true };
  if (isAway("cube")) return { tone: health.status === "unavailable" ? "bad" : "warn", text: t("health.cubeAway") };
  if (isAway("people")) return { tone: health.status === "unavailable" ? "bad" : "warn", text: t("health.peopleAway") };
  return { tone: "good", text: t("health.good") };
}

let current;

/** The last known health; `undefined` before the first answer, `null` if the gateway does not answer. */
export const currentHealth = () => current;

/** Reads the health. An "unavailable" one has the status 503, and is an answer all the same. */
export async function readHealth() {
  try {
    const response = await fetch("/health", { signal: AbortSignal.timeout(5_000) });
    current = await response.json();
  } catch {
    current = null;
  }
  return current;
}

/** Says in words whether sending works, and opens the details. */
class HealthPill extends HTMLElement {
  connectedCallback() {
    this.link = h("a", { class: "pill", href: "/portal/overview/#health" }, t("health.reading"));
    this.replaceChildren(h("span", { role: "status" }, this.link));
    this.endings = [
      listen("health", (health) => { current = health; this.show(); }),
      listen("stream", () => this.refresh()),
    ];
    this.refresh();
    // Without the stream of events it is asked for.
    this.timer = setInterval(() => { if (streamState !== "open") this.refresh(); }, 5_000);
  }

  disconnectedCallback() {
    clearInterval(this.timer);
    for (const end of this.endings) end();
  }

  async refresh() {
    await readHealth();
    this.show();
  }

  show() {
    const { tone, text } = meaningOf(current);
    this.link.className = `pill ${tone}`;
    // A screen reader announces only changes.
    if (this.link.textContent !== text) this.link.textContent = text;
    this.dispatchEvent(new CustomEvent("hub-health", { bubbles: true, detail: current }));
  }
}

customElements.define("health-pill", HealthPill);
