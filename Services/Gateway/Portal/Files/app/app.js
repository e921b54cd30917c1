import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { language, t } from "../lib/text.js";
import { copyBox } from "../elements/copy.js";
import { readHealth, waysOf } from "../elements/health-pill.js";
import { qrPicture } from "../elements/qr-picture.js";
import { pageHead, ready } from "../elements/shell.js";

const main = document.getElementById("main");
const address = `${location.origin}/app/`;
const languages = ["en", "ar"];
/** The names of a computer for itself. */
const own = ["localhost", "127.0.0.1", "[::1]"];

/** Whether the hub pushes to browsers, so that the app has notifications. */
const hasPushes = readHealth().then((health) => ["browsers", "both"].includes(waysOf(health)));

/** The poster's texts, which may be in another language than the page. */
async function texts(language) {
  const response = await fetch(new URL(`../text/${language}/app.json`, import.meta.url));
  return response.json();
}

/** What hangs on a wall: it says what the app is, how to get it, and what it does not need. */
function poster(language, words, steps) {
  const word = (key) => words[`poster.${key}`];
  return h("article", { class: "poster", lang: language, dir: language === "ar" ? "rtl" : "ltr",
      "aria-label": t("app.poster") },
    h("p", { class: "poster-name" }, icon("speaker"), word("product")),
    h("h3", null, word("heading")), qrPicture(address, word("qr")),
    h("p", { class: "poster-address", dir: "ltr" }, address),
    h("ol", { class: "plain" }, steps.map((step) => h("li", null, word(step)))),
    h("p", null, word("without")));
}

const about = h("p", { class: "secondary" });
const place = h("div", { class: "poster-place" });
const choice = languages.map((value) => h("button", { type: "button", lang: value, dataset: { value },
  onclick: () => show(value) }, t(`app.language.${value}`)));

async function show(language) {
  for (const button of choice) button.setAttribute("aria-pressed", String(button.dataset.value === language));
  const [words, isPushed] = await Promise.all([texts(language), hasPushes]);
  fill(place, poster(language, words, ["scan", "android", "iphone", ...(isPushed ? ["notifications"] : [])]));
}

await ready;
fill(main, pageHead({ heading: t("app.heading"), intro: t("app.intro") }),
  own.includes(location.hostname) ? h("p", { class: "notice", role: "note" }, icon("info"),
    h("span", null, t("app.own"))) : null,
  h("div", { class: "app-page" },
    h("section", { class: "panel stack" }, h("h2", null, t("app.address")),
      copyBox({ label: t("app.address.label"), text: address }),
      h("div", { class: "actions" }, h("a", { class: "button", href: "/app/", target: "_blank" },
        icon("phone", "small"), t("app.open"))),
      about),
    h("section", { class: "stack" }, h("h2", null, t("app.poster")),
      h("div", { class: "segments", role: "group", "aria-label": t("app.language") }, choice), place,
      h("div", { class: "actions" }, h("button", { class: "button main", type: "button", onclick: () => print() },
        t("app.print"))))));
main.focus();
show(language);
about.textContent = t(await hasPushes ? "app.about.pushes" : "app.about");
