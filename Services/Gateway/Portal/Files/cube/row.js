import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { charactersOf, folded, language, t } from "../lib/text.js";
import { distributionTag, levelTag } from "../elements/tags.js";
import { countSubjects, lineOf } from "./model.js";

const names = new Intl.ListFormat(language, { type: "conjunction" });

/** "ann and ben", or "ann, ben and 3 more". */
export const listNames = (all, most = 2) =>
  names.format(all.length > most + 1 ? [...all.slice(0, most), t("cube.more", { count: all.length - most })] : all);

/** Everyone whom the lists of a thing and of what it is in name. */
export const namedAt = (thing) => [...new Set(lineOf(thing).flatMap((part) => part.data.access ?? []))];

/** The tags of a thing: who may send, whether a second person approves, level and distribution. */
function tagsOf(thing) {
  const { access = [], approval, opt } = thing.data;
  const named = opt ? namedAt(thing) : access;
  return [
    named.length
      ? h("span", { class: access.length ? "tag" : "tag inherited",
            title: access.length ? t("cube.onlyHere") : t("cube.onlyAbove") },
        icon("people", "small"), h("bdi", null, t("cube.only", { names: listNames(named) })))
      : null,
    approval ? h("span", { class: "tag", title: t("cube.approval.means") }, icon("lock", "small"),
      t("cube.approvalTag")) : null,
    opt ? distributionTag(opt.distribution) : null,
    opt ? levelTag(opt.level) : null,
  ];
}

const sizeOf = (thing) => (thing.kind === "channel"
  ? t("cube.size", { areas: t("cube.areas", { count: thing.parts.length }),
        subjects: t("cube.subjects", { count: countSubjects(thing) }) })
  : t("cube.subjects", { count: thing.parts.length }));

/**
 * A row of the tree, with places for a form below it and for the rows inside it. Its buttons say in `data-act` what
 * they do.
 */
export function makeRow(thing) {
  const isGroup = thing.kind !== "subject";
  const name = h("bdi");
  const title = h("button",
    { class: "title", type: "button", tabIndex: -1, dataset: { act: isGroup ? "toggle" : "edit" } },
    isGroup ? icon("down", "small") : null, h("span", { class: "name" }, name));
  const desc = h("bdi");
  const tags = h("div", { class: "tags" });
  const size = isGroup ? h("span", { class: "hint size" }) : null;
  const menu = h("button", { class: "button plain bare", type: "button", "aria-haspopup": "menu", tabIndex: -1,
      dataset: { act: "menu" } }, icon("more"));
  const slot = h("div", { class: "slot" });
  const list = h("ol", { class: "plain" });
  const newSlot = h("div", { class: "slot" });
  const part = thing.kind === "channel" ? "area" : "subject";
  const add = h("button", { class: "add", type: "button", tabIndex: -1, dataset: { act: "add" } },
    icon("plus", "small"), t(`cube.add.${part}`));
  const parts = isGroup ? h("div", { class: "parts", hidden: true }, list, newSlot, add) : null;
  const heading = thing.kind === "channel" ? "h2" : thing.kind === "area" ? "h3" : "div";
  const head = h("div", { class: "row" },
    h("span", { class: "grip", title: t("cube.grip"), "aria-hidden": "true" }, icon("grip")),
    h("div", { class: "words" }, h(heading, null, title), h("p", { class: "desc" }, desc)), tags, size, menu);
  const element = h("li", { class: thing.kind, dataset: { id: thing.id } }, head, slot, parts);
  let shown = "";

  const update = (now, words) => {
    const inherited = now.kind === "subject" ? namedAt(now).join() : sizeOf(now);
    const next = now.look + inherited + words.join(" ");
    if (shown === next) return;
    shown = next;
    fill(name, markText(now.data.name, words));
    desc.textContent = now.data.desc;
    desc.parentElement.hidden = !now.data.desc;
    fill(tags, tagsOf(now));
    if (size) size.textContent = sizeOf(now);
    const values = { name: now.data.name };
    if (!isGroup) title.title = t("cube.editNamed", values);
    menu.setAttribute("aria-label", t("cube.menuNamed", values));
    add.setAttribute("aria-label", t(`cube.addTo.${part}`, values));
  };
  const setOpen = (isOpen) => {
    if (!parts) return;
    parts.hidden = !isOpen;
    title.setAttribute("aria-expanded", String(isOpen));
  };
  return { element, head, title, menu, add, slot, list, newSlot, parts, update, setOpen };
}

// A hyphen does not count when words are compared, and is marked where it is inside of one.
const lettersOf = (text) => folded(text).replace(/\p{P}/gu, "");

/** A name with the words of the filter marked. */
function markText(text, words) {
  if (!words.length) return text;
  const characters = charactersOf(text);
  const letters = characters.map(lettersOf);
  const line = letters.join("");
  const places = letters.flatMap((part, place) => Array(part.length).fill(place));
  const marked = new Set();
  for (const word of words.map(lettersOf)) {
    const start = word ? line.indexOf(word) : -1;
    if (start < 0) continue;
    for (let place = places[start]; place <= places[start + word.length - 1]; place += 1) marked.add(place);
  }
  const pieces = [];
  for (const [place, character] of characters.entries()) {
    if (place && marked.has(place) === marked.has(place - 1)) pieces.at(-1).text += character;
    else pieces.push({ text: character, isMarked: marked.has(place) });
  }
  return pieces.map((piece) => (piece.isMarked ? h("mark", null, piece.text) : piece.text));
}
