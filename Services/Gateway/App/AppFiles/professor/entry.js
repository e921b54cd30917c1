// What a person sees who is neither a professor nor a teaching assistant.

import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { accessCode } from "../people/account.js";
import { pageHead } from "./parts.js";

export const entryPage = () => Object.assign(h("div", { class: "stack" },
  pageHead({ heading: t("prof.entry.heading"), intro: t("prof.entry.text") }),
  h("div", { class: "panel stack entry" }, accessCode()),
  h("p", { class: "secondary" }, t("prof.entry.assistant")),
  h("p", null, h("a", { href: "/app/#study" }, t("prof.entry.app")))), { update: () => {} });
