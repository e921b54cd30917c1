// Everything that the app's pages show, as the simulated phone's page gets it.

import { badgeOf, quietHours, timeText } from "./badge.js";
import { channelsOff } from "./broadcasts.js";
import { waitingActions } from "./database.js";
import { allMessages } from "./messages.js";
import { subjectTree, subjectsOf } from "./subscriptions.js";

const valuesOf = (rows) => Object.fromEntries(rows.filter(({ action }) => !action)
  .map(({ name, value }) => [name, value]));

/**
 * Who is signed in on this device (`account` and `device`, `null` for nobody), whether the hub has signed them out,
 * what the app knows of them and of the people that they know, and what they have done that `waits` for the hub.
 */
async function peopleState(tx) {
  const [device, ended] = [await tx.get("account", "device"), await tx.get("account", "ended")];
  const rows = await tx.all("people");
  return { account: device?.account ?? null, device: device?.id ?? null, signed_out: Boolean(ended),
    waits: waitingActions(rows), ...valuesOf(rows) };
}

/** The person's classes and study sessions, and what they have done there that `waits` for the hub. */
async function studyState(tx) {
  const rows = await tx.all("study");
  return { waits: waitingActions(rows), ...valuesOf(rows) };
}

/** Of a message whose subject is not in the cube. */
const placeholder = ["Channel", "Area", "Subject"];

/** The state. `storage` is "full" if the browser has no space for what comes. */
export async function stateOf(tx, { clock, hub, database, broadcasts }) {
  const tree = await subjectTree(tx);
  const names = new Map(subjectsOf(tree).map((subject) => [subject.topic_key, subject.names]));
  const messages = await allMessages(tx);
  const off = await channelsOff(tx);
  const hours = await quietHours(tx);
  const push = await tx.memory("push");
  return {
    now: clock.now(), zone: clock.zone(), initialized: Boolean(await tx.memory("initialized")), hub: hub.state,
    storage: database.isFull ? "full" : "good",
    messages: messages.map(({ id, ...message }) => ({ ...message,
      names: names.get(message.topic_key) ?? placeholder, known: names.has(message.topic_key) })),
    badge: badgeOf(messages, hours, clock),
    channels: tree.map((channel) => ({ ...channel, broadcasts: !off.includes(channel.id) })),
    broadcasts: await broadcasts.cards(tx), features: await broadcasts.features(tx),
    broadcast_data: await broadcasts.data(tx),
    settings: { receipts: !(await tx.memory("receipts off")),
      quiet_hours: hours ? { from: timeText(hours.from), to: timeText(hours.to) } : null },
    people: await peopleState(tx), study: await studyState(tx),
    pushes: { on: Boolean(push), off: Boolean(push?.isOff), proven: Boolean(push?.proven),
      information: (await tx.memory("push subjects")) ?? [] },
  };
}
