import { fill, h, newIdentifier } from "../lib/dom.js";
import { state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { act, waitingList } from "./actions.js";
import { fields, profileFacts } from "./facts.js";
import { field, form, loaded } from "./parts.js";

const visibilities = ["nobody", "friends", "classmates"];
/** The hub's limit, in characters of Unicode. */
const maxBio = 100;
const now = new Date();
/** Today, as the field of a day has it. */
const today = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, "0"))
  .join("-");
/** How the browser can help to fill a field in. */
const inputs = {
  first_name: { autocomplete: "given-name", maxLength: 100 },
  last_name: { autocomplete: "family-name", maxLength: 100 },
  born: { type: "date", autocomplete: "bday", min: "1900-01-01", max: today },
  gender: { autocomplete: "sex", maxLength: 40 }, bio: { tag: "textarea", rows: 3 },
  email: { type: "email", readOnly: true },
};

/** A field with who sees it. `value` and `visibility` are what is chosen. */
function profileField(name) {
  const hint = name === "email" ? t("profile.email.hint") : name === "bio" ? t("profile.bio.hint") : null;
  const main = field({ label: t(`profile.${name}`), hint, dir: "auto", ...inputs[name] });
  const sees = h("select", { id: newIdentifier("sees") }, visibilities.map((value) =>
    h("option", { value }, t(`visibility.${value}`))));
  const element = h("div", { class: "profile-field" }, main, h("div", { class: "field sees" },
    h("label", { htmlFor: sees.id }, t("profile.sees"),
      h("span", { class: "unseen" }, `: ${t(`profile.${name}`)}`)), sees));
  return Object.assign(element, { input: main.input, sees });
}

/** The person's profile: each field with who sees it, and what a friend sees. */
export function settings() {
  const waiting = waitingList();
  const parts = Object.fromEntries(fields.map((name) => [name, profileField(name)]));
  const preview = h("div", null);
  const inside = h("section", { class: "stack", "aria-label": t("profile.preview") },
    h("h2", { class: "day" }, t("profile.preview")), h("p", { class: "secondary" }, t("profile.preview.text")),
    preview);

  /** The profile as it is typed. A field that is empty is not known, and one that nobody sees has no entry. */
  function typed() {
    const profile = { visibility: {} };
    for (const [name, { input, sees }] of Object.entries(parts)) {
      const text = input.value.trim();
      if (text) profile[name] = text;
      if (sees.value !== visibilities[0]) profile.visibility[name] = sees.value;
    }
    return profile;
  }

  function showPreview() {
    const profile = typed();
    fill(preview, profileFacts(Object.fromEntries(fields.filter((name) => profile.visibility[name])
      .map((name) => [name, profile[name]]))));
  }

  function show(profile) {
    for (const [name, { input, sees }] of Object.entries(parts)) {
      input.value = profile[name] ?? "";
      // A later version may have a further choice.
      sees.value = profile.visibility[name] ?? visibilities[0];
      if (!sees.value) sees.value = visibilities[0];
    }
    parts.email.hidden = !profile.email;
    showPreview();
  }

  const edited = form({ fields: Object.values(parts), action: t("profile.save"), onsubmit: async () => {
    // The provider's address is not the person's to change.
    const { email, ...profile } = typed();
    await act("profile", profile);
  } });
  edited.addEventListener("input", () => {
    const { input } = parts.bio;
    input.setCustomValidity([...input.value.trim()].length > maxBio ? t("profile.bio.hint") : "");
    showPreview();
  });
  const profile = loaded("profile", h("div", { class: "stack" }, edited, inside), show);
  const element = h("div", { class: "stack" }, h("p", { class: "secondary" }, t("profile.text")), waiting, profile);
  return Object.assign(element, { update: () => {
    waiting.update();
    if (state.people.account) profile.update();
  } });
}
