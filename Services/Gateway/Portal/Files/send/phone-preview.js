import { fill, h, newIdentifier } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { piecesOf } from "../lib/template.js";
import { language, t } from "../lib/text.js";
import { formatTime } from "../lib/time.js";
import { distributionTag, pathOf } from "../elements/tags.js";

const views = ["iphone", "android", "app"];

/** Shows a message as phones will: on the lock screens of an iPhone and of Android, and in the app. */
class PhonePreview extends HTMLElement {
  #view = "iphone";
  #message = null;

  connectedCallback() {
    const panel = newIdentifier("preview");
    this.tabs = h("div", { class: "segments", role: "tablist", "aria-label": t("send.preview") },
      views.map((view) => h("button", {
        type: "button", role: "tab", id: `${panel}-${view}`, "aria-controls": panel, dataset: { view },
        onclick: () => this.choose(view), onkeydown: (event) => this.key(event),
      }, t(`send.preview.${view}`))));
    this.screen = h("div", { class: "screen", role: "group", "aria-label": t("send.preview"), tabIndex: 0 });
    this.caption = h("p", { class: "hint" });
    this.panel = h("div", { role: "tabpanel", id: panel }, h("div", { class: "phone" }, this.screen), this.caption);
    this.replaceChildren(this.tabs, this.panel);
    this.choose(this.#view);
  }

  /** `{path, title, desc, message, distribution, image, drill}`, as far as it has been written. */
  set message(message) {
    this.#message = message;
    this.show();
  }

  choose(view) {
    this.#view = view;
    for (const tab of this.tabs.children) {
      const isChosen = tab.dataset.view === view;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      if (isChosen) this.panel.setAttribute("aria-labelledby", tab.id);
    }
    this.show();
  }

  key(event) {
    const isBack = event.key === (document.documentElement.dir === "rtl" ? "ArrowRight" : "ArrowLeft");
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    const index = (views.indexOf(this.#view) + (isBack ? -1 : 1) + views.length) % views.length;
    this.choose(views[index]);
    this.tabs.children[index].focus();
  }

  show() {
    const message = this.#message;
    if (!message || !this.screen) return;
    const title = (message.drill ? "[DRILL] " : "") + (message.title || t("send.preview.title"));
    const isAlert = message.distribution === "Alert";
    const isSilent = message.distribution === "Information" && this.#view !== "app";
    this.screen.dataset.view = this.#view;
    this.screen.dataset.empty = String(!message.title && !message.desc && !message.message);
    if (this.#view === "app") {
      fill(this.screen, h("article", { class: `card${isAlert ? " alert" : ""}` },
        h("p", { class: "meta" }, isAlert ? distributionTag("Alert") : null, message.path ? pathOf(message.path) : null,
          h("span", { class: "at" }, formatTime(Date.now()))),
        h("p", { class: "title", dir: "auto" }, marked(title)), h("p", { class: "text", dir: "auto" }, marked(message.message || t("send.preview.message")))));
    } else {
      const now = Date.now();
      fill(this.screen,
        h("p", { class: "clock" }, new Intl.DateTimeFormat(language, { hour: "numeric", minute: "2-digit", hour12: false }).format(now)),
        h("p", { class: "date" }, new Intl.DateTimeFormat(language, { weekday: "long", day: "numeric", month: "long" }).format(now)),
        isSilent ? null : h("div", { class: "popup" },
          h("p", { class: "app" }, h("span", { class: "mark" }, icon("speaker")), h("bdi", null, message.path?.[0] ?? t("product")),
            h("span", { class: "at" }, t("send.preview.now"))),
          h("p", { class: "title", dir: "auto" }, marked(title)), h("p", { class: "text", dir: "auto" }, marked(message.desc || t("send.preview.desc"))),
          message.image ? h("img", { src: message.image, alt: t("send.preview.picture"), loading: "lazy" }) : null));
    }
    this.caption.textContent = isSilent ? t("send.preview.silent") : t(`send.preview.${this.#view}.caption`);
  }
}

/** A text whose blanks are marked. */
const marked = (text) => piecesOf(text).map((piece) => (piece.blank ? h("mark", null, piece.blank) : piece.text));

customElements.define("phone-preview", PhonePreview);
