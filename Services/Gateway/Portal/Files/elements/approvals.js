import { get } from "../lib/api.js";
import { isReader, listen } from "../lib/events.js";
import { h, newIdentifier } from "../lib/dom.js";
import { session } from "../lib/session.js";
import { kept } from "../lib/store.js";
import { t } from "../lib/text.js";

/** How many messages are held, and how many of them this person can approve. */
let [held, forMe] = [0, 0];
/** The page's title without the number, and with it. */
let [bare, shown] = [document.title, document.title];
const told = new Set();

/**
 * Says how many messages are held: beside "Messages" in the navigation, and in the title. Tells of each new one, if
 * that is wanted.
 */
export function followApprovals(shell) {
  let isWaiting = false;
  const soon = () => {
    if (isWaiting) return;
    isWaiting = true;
    setTimeout(() => { isWaiting = false; count(shell); }, 3_000);
  };
  listen("message", (message) => { soon(); if (message.state === "held") tell(message); });
  listen("reset", soon);
  new MutationObserver(showTitle).observe(document.querySelector("title"), { childList: true });
  count(shell);
}

async function count(shell) {
  try {
    const { states } = await get("/statistics", { remedy: false });
    held = states.held ?? 0;
    forMe = 0;
    if (held) {
      for (const message of (await get("/message?state=held&limit=200", { remedy: false })).messages) {
        if (await canApprove(message)) {
          forMe += 1;
        }
      }
    }
  } catch {
    // The next event asks again.
  }
  showTitle();
  for (const link of shell.querySelectorAll('nav a[href="/portal/messages/"]')) {
    link.querySelector(".badge")?.remove();
    link.removeAttribute("aria-describedby");
    if (!held) continue;
    // A description, so that the link keeps its name.
    const badge = h("span", { class: "badge", id: newIdentifier("held"), "aria-hidden": "true" },
      t("number", { number: held }), h("span", { class: "unseen" }, " ", t("nav.held")));
    link.append(badge);
    link.setAttribute("aria-describedby", badge.id);
  }
}

function showTitle() {
  if (document.title !== shown) bare = document.title;
  shown = forMe > 0 ? t("title.held", { number: forMe, title: bare }) : bare;
  if (document.title !== shown) document.title = shown;
}

/** Not what a restore holds, nor what this person has written or edited. Few visits need the rules. */
const canApprove = async (message) => (await import("./message-actions.js")).possibleActions(message)
  .includes("approve");

/** A notification of the browser, by one of the tabs, once. */
async function tell({ msi_key: key, title, sender }) {
  if (!isReader() || sender === session.account || told.has(key) || !kept("approvals")) return;
  told.add(key);
  try {
    if (!(await canApprove(await get(`/message/${key}`, { remedy: false })))) return;
    const { nameOf, readNames } = await import("../lib/people.js");
    await readNames([sender]);
    const note = new Notification(t("approvals.waits", { title }),
      { body: t("approvals.by", { sender: nameOf(sender) }), tag: key, lang: document.documentElement.lang,
        dir: document.documentElement.dir });
    note.onclick = () => { note.close(); window.open(`/portal/message/?key=${key}`); };
  } catch {
    // Browsers on phones show none for pages. The page says what waits as well.
  }
}
