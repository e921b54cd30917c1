// The person joins a class with a key from its professor.

import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { toast } from "../elements/toast.js";
import { field, form, named } from "../people/parts.js";
import { sheet, studyOfApp, waitingStudy } from "./parts.js";

/** The key of the address: the professor's page makes a link and a picture of it. */
const keyOfAddress = () => new URLSearchParams(location.hash.split("?")[1]).get("key") ?? "";

/** The sheet on which a key is typed. */
export function joinClassView() {
  const waiting = waitingStudy();
  const key = field({ label: t("join.key"), hint: t("join.key.hint"), autocomplete: "off", spellcheck: false,
    autocapitalize: "characters", maxLength: 40, required: true, dir: "ltr", value: keyOfAddress() });
  const asked = form({ fields: [h("p", { class: "secondary" }, t("join.text")), key], action: t("join.action"),
    onsubmit: async () => {
      const { outcome, body } = await (await studyOfApp()).act("join class", key.input.value.trim());
      key.input.value = "";
      toast(outcome === "waits" ? t("people.waits") : named("done.joined", { name: body?.name ?? "" }));
      location.hash = body?.id ? `#study/class/${body.id}` : "#study/classes";
    } });
  const element = sheet(t("join.heading"), { back: "#study/classes" }, waiting, asked);
  let given = key.input.value;
  return Object.assign(element, { update: () => {
    waiting.update();
    // Another link has been opened since.
    const next = keyOfAddress();
    if (!next || given === (given = next)) return;
    key.input.value = next;
    asked.say("");
  } });
}
