import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { meaningOf } from "../elements/health-pill.js";

/** Says above the form that the hub is away, and that what is written stays. `end()` ends it. */
export function serviceNotice() {
  const element = h("div", { role: "status" });
  const tell = ({ detail }) => {
    const meaning = meaningOf(detail);
    fill(element, meaning.tone === "bad" ? h("div", { class: "notice bad" }, icon("info"),
        h("p", null, meaning.text, ". ", t("send.away"))) : null);
  };
  document.addEventListener("hub-health", tell);
  element.end = () => document.removeEventListener("hub-health", tell);
  return element;
}

/** For how many milliseconds the page waits for the hub without a word. */
const slowAfter = 3_000;

/**
 * Says in `place` that nothing is lost or sent twice, if the hub does not answer for a while. `keep` keeps what is
 * written, and returns whether that worked. Returns a function that ends it.
 */
export function slowNotice(place, { isEdit, keep }) {
  const notice = h("div", { class: "notice" }, icon("clock"));
  const timer = setTimeout(() => {
    notice.append(h("p", null, t(keep() ? "send.slow.kept" : "send.slow.open"), " ",
        t(isEdit ? "send.slow.edit" : "send.slow")));
    fill(place, notice);
    notice.scrollIntoView({ block: "nearest" });
  }, slowAfter);
  return () => { clearTimeout(timer); notice.remove(); };
}
