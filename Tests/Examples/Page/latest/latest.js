// A page of one's own in the portal: the latest messages. Services/Gateway/Portal/README.md says how a page is added.
import { explain, get, withQuery } from "../lib/api.js";
import { fill, h } from "../lib/dom.js";
import { listen } from "../lib/events.js";
import { t } from "../lib/text.js";
import { pageHead, ready } from "../elements/shell.js";

const main = document.getElementById("main");
const list = h("ul", { class: "plain group latest" });

async function show() {
  try {
    const { messages } = await get(withQuery("/message", { limit: 10 }));
    fill(list, messages.map(({ msi_key: key, title }) =>
      h("li", null, h("a", { href: `/portal/message/?key=${key}`, dir: "auto" }, title))));
  } catch (error) {
    fill(list, h("li", { role: "alert" }, explain(error)));
  }
}

// Somebody is signed in, and the frame is there.
await ready;
fill(main, pageHead({ heading: t("latest.heading"), intro: t("latest.intro") }), list);
listen("message", show);
// The stream of events has begun, or some may be missing.
listen("reset", show);
show();
