import { fill, h, newIdentifier, svg } from "../lib/dom.js";
import { mainLink } from "../lib/linkify.js";
import { piecesOf } from "../lib/template.js";
import { language, t, tn } from "../lib/text.js";
import { distributionTag, pathOf } from "../elements/tags.js";

const views = ["iphone", "android", "app"];
/** Whether a second phone has room, which shows the app, or while the first one does, a pop-up. */
const isWide = matchMedia("(min-width: 1600px)");

// Times as the students' app writes them.
const form = (options) => new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, options);
const clock = form({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = form({ weekday: "long", day: "numeric", month: "long" });

/** The pop-up of a message, as locked phones show it. */
export const popupOf = (message) => h("div", { class: "popup" },
  h("p", { class: "app" }, h("span", { class: "mark" }, bubble()), t("product"),
    h("span", { class: "at" }, t("send.preview.now"))),
  h("p", { class: "title", dir: "auto" }, titleOf(message)),
  h("p", { class: "text", dir: "auto" }, marked(message.desc || t("send.preview.desc"))),
  message.image ? h("img", { src: message.image, alt: t("send.preview.picture"), loading: "lazy" }) : null);

/** The card of a message in the app. */
export const cardOf = (message) =>
  h("article", { class: `card message-card${message.distribution === "Alert" ? " alert" : ""}` },
  h("p", { class: "meta" }, message.distribution === "Alert" ? distributionTag("Alert") : null,
    message.path ? pathOf(message.path) : null,
    h("span", { class: "at" }, clock.format(Date.now()))),
  h("p", { class: "title", dir: "auto" }, titleOf(message)),
  h("p", { class: "text", dir: "auto" }, marked(message.message || t("send.preview.message"))),
  linkOf(message.link));

const titleOf = ({ drill, title }) => [drill ? "[DRILL] " : "", marked(title || t("send.preview.title"))];

/** A text whose blanks are marked. */
const marked = (text) => piecesOf(text).map((piece) => (piece.blank ? h("mark", null, piece.blank) : piece.text));

/** The app's sign. */
const bubble = () => svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" },
  svg("path", { d: "M4 5h16v11.5H11L6.5 20v-3.5H4z" }));

/** Where the message leads: the host, number or address, as far as it is one. */
function linkOf(link) {
  const leads = link ? mainLink(link) : null;
  return leads ? h("p", { class: "link" },
    h("span", null, tn("send.preview.open", { link: h("bdi", { dir: "ltr" }, leads.place) }))) : null;
}

/** Shows a message as phones will: on the lock screens of an iPhone and of Android, and in the app. */
class PhonePreview extends HTMLElement {
  /** The view that a person has chosen. Until then it is where the message appears first. */
  #chosen = null;
  #message = null;
  #show = () => this.show();

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
    // The tabs have all that it shows.
    this.beside = h("div", { class: "beside", "aria-hidden": "true" });
    this.replaceChildren(this.tabs, this.panel, this.beside);
    isWide.addEventListener("change", this.#show);
    this.show();
  }

  disconnectedCallback() {
    isWide.removeEventListener("change", this.#show);
  }

  /** `{path, title, desc, message, distribution, image, link, drill}`, as far as it has been written. */
  set message(message) {
    this.#message = message;
    this.show();
  }

  choose(view) {
    this.#chosen = view;
    this.show();
  }

  key(event) {
    const isBack = event.key === (document.documentElement.dir === "rtl" ? "ArrowRight" : "ArrowLeft");
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    const index = (views.indexOf(event.target.dataset.view) + (isBack ? -1 : 1) + views.length) % views.length;
    this.choose(views[index]);
    this.tabs.children[index].focus();
  }

  show() {
    if (!this.screen) return;
    const message = this.#message ?? {};
    const isInformation = message.distribution === "Information";
    const view = this.#chosen ?? (isInformation ? "app" : "iphone");
    const isSilent = (of) => isInformation && of !== "app";
    for (const tab of this.tabs.children) {
      const isChosen = tab.dataset.view === view;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      if (isChosen) this.panel.setAttribute("aria-labelledby", tab.id);
    }
    const display = (screen, caption, of) => {
      Object.assign(screen.dataset, { view: of, empty: String(!message.title && !message.desc && !message.message) });
      fill(screen, of === "app" ? cardOf(message) : [
        h("p", { class: "clock" }, clock.format(Date.now())), h("p", { class: "date" }, day.format(Date.now())),
        isSilent(of) ? null : popupOf(message)]);
      caption.textContent = isSilent(of) ? t("send.preview.silent") : t(`send.preview.${of}.caption`);
    };
    display(this.screen, this.caption, view);
    const [screen, caption] = [h("div", { class: "screen" }), h("p", { class: "hint" })];
    fill(this.beside, isWide.matches ? [h("div", { class: "phone" }, screen), caption] : null);
    if (isWide.matches) display(screen, caption, view === "app" ? "iphone" : "app");
  }
}

customElements.define("phone-preview", PhonePreview);
