import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { formatMoment } from "../lib/time.js";
import { browserState, fcmOf } from "../elements/health-pill.js";

/**
 * A row for each part of the hub: whether it works, and what it means for people if it does not.
 * @param browsers how many get pushes, if it is known
 */
export function healthRows(health, browsers) {
  if (!health) return [row("gateway", "bad", t("service.gateway.away"))];
  const { services = {}, versions = {}, parts = {}, copies = {} } = health;
  const { relay, webpush } = parts["message-log"] ?? {};
  const fcm = fcmOf(relay);
  const state = (name) => (services[name] === "ok" ? "good" : "bad");
  const copy = (name) => (copies[name] ? t("service.copy", { time: formatMoment(copies[name]) }) : null);
  const certificate = parts.gateway?.certificate;
  const waits = [parts.cube?.audit, parts["message-log"]?.audit, parts["message-log"]?.template_audit].some((part) =>
    part && part.status !== "ok");
  return [
    row("gateway", certificate && certificate.status !== "ok" ? "warn" : "good",
      certificate && certificate.status !== "ok" ? certificate.message : t("service.gateway.good"), versions.gateway),
    row("message-log", state("message-log"), t(`service.message-log.${state("message-log")}`), versions["message-log"],
      mismatch(parts["message-log"])),
    relay ? row("relay", relay.status === "ok" ? "good" : "warn",
      t(relay.status === "ok" ? "service.relay.good" : "service.relay.bad"), relay.version, relay.message) : null,
    fcm || relay ? row("fcm", fcm && fcm.status === "ok" ? "good" : "warn",
      t(fcm?.status === "ok" ? "service.fcm.good" : fcm ? "service.fcm.bad" : "service.fcm.unknown"), null,
      fcm?.message) : null,
    webpush ? browserRow(webpush, browsers) : null,
    row("cube", state("cube"), copy("cube") ?? t(`service.cube.${state("cube")}`), versions.cube, mismatch(parts.cube)),
    row("people", state("people"), copy("people") ?? t(`service.people.${state("people")}`), versions.people,
      mismatch(parts.people)),
    waits ? row("audit", "warn", t("service.audit.bad")) : null,
  ].filter(Boolean);
}

function browserRow(webPush, count) {
  const { state, detail } = browserState(webPush);
  const texts = [t(`service.webpush.${state}`),
    count === undefined ? null : t("service.webpush.browsers", { count })].filter(Boolean);
  return row("webpush", state === "good" ? "good" : "warn", texts.join(" "), webPush.version, detail);
}

/** What operators know the parts by. */
const programs = { gateway: "msi-gateway", "message-log": "msi-message-log", relay: "msi-fcm-relay", cube: "msi-cube",
  people: "msi-people", webpush: "msi-webpush" };

const mismatch = (part) => part?.version?.message ?? null;

function row(name, tone, text, version, detail) {
  return h("li", { class: "service", dataset: { tone } },
    h("span", { class: "dot" }, icon({ good: "check", warn: "info", bad: "cross" }[tone], "small")),
    h("div", null, h("p", { class: "label" }, t(`service.${name}`),
        version ? h("span", { class: "hint" }, " ", h("bdi", { dir: "ltr" }, `${programs[name]} ${version}`)) : null),
      h("p", { class: "secondary" }, text),
      detail ? h("details", null, h("summary", null, t("service.details")), h("p", { class: "hint" }, detail)) : null),
    h("span", { class: `tag ${tone === "warn" ? "" : tone}` }, t(`service.state.${tone}`)));
}
