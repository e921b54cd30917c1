import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { formatDay, formatTime } from "../lib/phone-time.js";
import { send } from "../lib/requests.js";
import { t } from "../lib/text.js";

const signs = { downtime: "downtime", greetings: "greeting", others: "speaker" };

/**
 * Broadcasts over the app when it is started: one card after another. What cannot be closed stays as a strip at the
 * top.
 */
export function broadcastCards() {
  const strip = h("div", { class: "broadcast-strips" });
  const place = h("div", { class: "broadcast-place" });
  /** The versions of cards that were put aside, until the app is started again. */
  const aside = new Set();
  /** The app's own cards that the app knows to be on the screen. */
  const told = new Set();
  let cards = [];
  let shown = "";

  function update(broadcasts) {
    const print = JSON.stringify(broadcasts);
    if (print === shown) return;
    shown = print;
    cards = broadcasts;
    render();
  }

  function render() {
    const waiting = cards.filter((card) => !aside.has(keyOf(card)));
    fill(strip, cards.filter((card) => aside.has(keyOf(card))).map(stripOf));
    const [first] = waiting;
    const hadFocus = place.contains(document.activeElement);
    fill(place, first ? cardOf(first, waiting.length - 1) : null);
    const { parentElement } = place;
    if (parentElement) for (const other of parentElement.children) other.inert = Boolean(first) && other !== place;
    if (first) place.querySelector("button").focus({ preventScroll: true });
    else if (hadFocus) (parentElement?.querySelector("h1[tabindex]"))?.focus({ preventScroll: true });
    if (first?.origin === "app") tellShown(first);
  }

  const keyOf = ({ id, version }) => `${id} ${version}`;

  /** The app shows its own cards in one run only. */
  async function tellShown(card) {
    if (told.has(keyOf(card))) return;
    told.add(keyOf(card));
    if (!(await act("shown", card, { isQuiet: true }))) told.delete(keyOf(card));
  }

  const act = (what, { id, version }, options) => send("POST", `/broadcasts/${id}/${what}`, { version }, options);

  function cardOf(card, more) {
    const heading = `broadcast-${card.id}`;
    return h("section", { class: "broadcast", role: "alertdialog", "aria-modal": "true", "aria-labelledby": heading,
        "aria-describedby": `${heading}-text` },
      card.poster ? poster(card.poster) : null,
      h("div", { class: "broadcast-body" },
        h("p", { class: "broadcast-kind" }, icon(signs[card.kind], "small"), t(`broadcast.${card.kind}`),
          more ? h("span", { class: "hint" }, t("broadcast.more", { count: more })) : null),
        h("h2", { id: heading, dir: "auto" }, card.title),
        h("p", { class: "text", id: `${heading}-text`, dir: "auto" }, card.message),
        card.cancellable || card.expires === null ? null : h("p", { class: "hint" }, until(card)),
        card.cancellable
          ? h("button", { class: "button main wide", type: "button", onclick: () => act("close", card) },
              t("broadcast.close"))
          : h("button", { class: "button main wide", type: "button",
                onclick: () => { aside.add(keyOf(card)); render(); } }, t("broadcast.aside"))));
  }

  /** A picture that cannot be loaded is left out. */
  const poster = (address) =>
    h("img", { class: "broadcast-poster", src: address, alt: "", referrerPolicy: "no-referrer",
      onerror: (event) => event.target.remove() });

  const stripOf = (card) =>
    h("button", { class: "broadcast-strip", type: "button", onclick: () => { aside.delete(keyOf(card)); render(); } },
    icon(signs[card.kind], "small"), h("span", { class: "broadcast-strip-title", dir: "auto" }, card.title),
    icon("next", "small"));

  const until = (card) => t("broadcast.until", { day: formatDay(card.expires), time: formatTime(card.expires) });

  return { strip, place, update, started: () => { aside.clear(); told.clear(); shown = ""; } };
}
