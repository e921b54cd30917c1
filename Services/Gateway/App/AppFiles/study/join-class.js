// The person joins a class with a key from its professor.

import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { toast } from "../elements/toast.js";
import { field, form } from "../people/parts.js";
import { sheet, studyOfApp, waitingStudy } from "./parts.js";

/** The sheet on which a key is typed. */
export function joinClassView() {
  const waiting = waitingStudy();
  const key = field({ label: t("join.key"), hint: t("join.key.hint"), autocomplete: "off", spellcheck: false,
    autocapitalize: "characters", maxLength: 40, required: true, dir: "ltr",
    // The professor's page makes a link and a picture of the key.
    value: new URLSearchParams(location.hash.split("?")[1]).get("key") ?? "" });
  const asked = form({ fields: [h("p", { class: "secondary" }, t("join.text")), key], action: t("join.action"),
    onsubmit: async () => {
      const { outcome, body } = await (await studyOfApp()).act("join class", key.input.value.trim());
      key.input.value = "";
      toast(outcome === "waits" ? t("people.waits") : t("done.joined", { name: body?.name ?? "" }));
      location.hash = body?.id ? `#study/class/${body.id}` : "#study/classes";
    } });
  const element = sheet(t("join.heading"), { back: "#study/classes" }, waiting, asked);
  return Object.assign(element, { update: waiting.update });
}
