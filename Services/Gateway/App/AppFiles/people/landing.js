// How a person signs in: at a provider, or by account name and password.

import { fill, h } from "../lib/dom.js";
import { app, state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { signInOf } from "../core/sign-in.js";
import { toast } from "../elements/toast.js";
import { field, form, hide, pageHeading, view } from "./parts.js";
import { providerName, reasonOf } from "./reasons.js";
import { registration } from "./registration.js";

/**
 * The view of who is not signed in. `signIn(credential)` continues with what a provider has brought back, and
 * `fail(error)` says why there is nothing. Another page than the app's gives its own `heading` and `text`, and says
 * where the way over a provider leads back (`from`).
 */
export function landingView({ heading = t("tab.people"), text = t("landing.text"), from } = {}) {
  const ended = h("p", { class: "notice", role: "status" });
  const said = h("p", { class: "notice bad", role: "alert" });
  const again = h("button", { class: "button", type: "button", hidden: true, onclick: () => {
    const next = repeat;
    say("");
    next();
  } }, t("people.again"));
  const step = h("div", { class: "stack" });
  const element = view(heading, {}, h("div", { class: "stack landing" }, h("p", { class: "secondary" }, text), ended,
    said, again, step));
  let offers = [];
  let repeat = null;
  /** Whether something else than the offers is shown. */
  let isTaken = false;

  /** Says what is wrong. `next()` is what *Try again* does, if that can help. */
  function say(text, next = null) {
    said.textContent = text;
    repeat = next;
    if (next) again.hidden = false;
    else hide(again);
  }

  function show(...content) {
    isTaken = true;
    // What was said before is about another step.
    say("");
    showEnded();
    fill(step, content);
    step.querySelector("input")?.focus({ preventScroll: true });
  }

  function showEnded() {
    const text = state.people.signed_out && !isTaken ? t("landing.ended") : "";
    if (ended.textContent !== text) ended.textContent = text;
  }

  const accountOfApp = async () => (await app.people()).account;

  async function load() {
    if (!isSecureContext) return say(t("people.insecure"));
    if (!isTaken) fill(step, h("p", { class: "hint" }, t("loading")));
    try {
      offers = await signInOf({ account: await accountOfApp() }).offered();
      if (!isTaken) showOffers();
    } catch (error) {
      if (!isTaken) fill(step);
      say(reasonOf(error), load);
    }
    return undefined;
  }

  function showOffers() {
    isTaken = false;
    showEnded();
    const away = offers.filter(({ flow }) => flow !== "form");
    const own = offers.find(({ flow }) => flow === "form");
    fill(step, offers.length ? null : h("p", { class: "notice" }, t("landing.none")),
      away.map((offer) => h("button", { class: "button wide", type: "button", onclick: () => leave(offer) },
        t("landing.continue", { provider: providerName(offer.provider) }))),
      own ? [h("h2", { class: "day" }, t("landing.password")), passwordForm(own)] : null);
  }

  async function leave(offer) {
    say("");
    try {
      await signInOf({ account: await accountOfApp() }).begin(offer, "sign-in", from);
    } catch (error) {
      say(reasonOf(error, offer.provider), () => leave(offer));
    }
  }

  function passwordForm(offer) {
    const name = field({ label: t("landing.account"), autocomplete: "username", autocapitalize: "none",
      spellcheck: false, required: true, maxLength: 64, dir: "ltr" });
    const password = field({ label: t("landing.password.label"), type: "password", autocomplete: "current-password",
      required: true });
    return form({ fields: [name, password], action: t("landing.signIn"),
      onsubmit: () => attempt({ provider: offer.provider, account: name.input.value.trim(),
        password: password.input.value }),
      extra: offer.registers ? [h("button", { class: "button", type: "button",
        onclick: () => showRegistration(offer, null) }, t("landing.new"))] : [] });
  }

  /** Signs in, or asks for what is missing. */
  async function attempt(credential) {
    try {
      await (await accountOfApp()).signIn(credential);
    } catch (error) {
      if (error.status === 401 && error.field === "code") return askForCode(credential);
      // Whoever tries names learns nothing about them.
      const isTried = error.status === 404 && credential.provider === "password";
      if (isTried) throw Object.assign(error, { status: 401, field: "password" });
      if (error.status !== 404) throw error;
      return askForName(credential);
    }
    return toast(t("landing.done"));
  }

  function askForName(credential) {
    const offer = offers.find(({ provider }) => provider === credential.provider);
    if (offer?.registers) return showRegistration(offer, credential);
    showOffers();
    return say(t("landing.unknown", { provider: providerName(credential.provider) }));
  }

  function askForCode(credential) {
    const code = field({ label: t("landing.code"), hint: t("landing.code.hint"), autocomplete: "one-time-code",
      inputMode: "numeric", required: true, dir: "ltr" });
    const asked = form({ fields: [code], action: t("landing.signIn"), extra: [backButton()],
      onsubmit: () => attempt({ ...credential, code: code.input.value.trim() }) });
    if (credential.code) asked.say(t("people.401.code"));
    show(asked);
  }

  const backButton = () => h("button", { class: "button", type: "button", onclick: () => {
    say("");
    showOffers();
    pageHeading(step).focus({ preventScroll: true });
  } }, t("landing.back"));

  const showRegistration = (offer, credential) => show(registration({ offer, credential, back: backButton(),
    registered: attempt }));

  /** What a provider has brought back signs in, as soon as the hub can be reached. */
  async function signIn(credential) {
    show(h("p", { class: "hint", role: "status" }, t("landing.waits")));
    try {
      await loading;
      // They say whether a new person can register.
      if (!offers.length) await load();
      await attempt(credential);
    } catch (error) {
      // A token may be used again. The hub takes it for the same attempt.
      const isAway = error.kind !== "refused" || error.status >= 500;
      // While one provider is away, another way to sign in may work. Nothing is known of them while the hub is.
      if (offers.length || !isAway) showOffers();
      else fill(step);
      say(reasonOf(error), isAway ? () => signIn(credential) : null);
    }
  }

  function fail(error) {
    const offer = error.kind === "provider" && offers.find(({ provider }) => provider === error.provider);
    say(reasonOf(error), offer ? () => leave(offer) : null);
  }

  const loading = load();
  return Object.assign(element, { signIn, fail: (error) => loading.then(() => fail(error)), update: showEnded });
}
