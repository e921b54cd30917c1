// Tells the hub which messages have reached this device, and which were opened. A report has no name: it has a random
// identifier of this installation, so that the hub counts a repeated report once. The person can switch reports off.

import { backoff, wakeUps } from "./clock.js";
import { refused } from "./errors.js";

const path = "/receipt";
/** The random delay within which a message is reported, in milliseconds. */
const spread = 60_000;
const maxPerReport = 200;
/** What could not be reported for this long is not reported: the hub has forgotten what came before. */
const waitingPeriod = 8 * 86_400_000;

/**
 * Notes that a message has arrived or was opened. Opening counts only if the arrival did: the person may have switched
 * reports on since.
 */
export async function noteReceipt(tx, kind, key, at) {
  if (await tx.memory("receipts off")) return;
  if (kind === "opened" && !(await tx.get("receipts", [key, "received"]))) return;
  if (!(await tx.get("receipts", [key, kind]))) await tx.put("receipts", { msi_key: key, kind, at, waits: 1 });
}

const removeAll = async (tx, receipts) => {
  for (const { msi_key, kind } of receipts) await tx.remove("receipts", [msi_key, kind]);
};

/** The report that was not acknowledged, or a new one; `null` if nothing waits. */
async function nextReport(tx, now) {
  const isOld = ({ at }) => at < now - waitingPeriod;
  await removeAll(tx, (await tx.waitingReceipts()).filter(isOld));
  const waiting = await tx.waitingReceipts();
  if (!waiting.length) return null;
  let report = waiting.find((each) => each.report)?.report;
  if (!report) {
    report = ((await tx.memory("last report")) ?? 0) + 1;
    await tx.keep("last report", report);
    for (const each of waiting.slice(0, maxPerReport)) await tx.put("receipts", Object.assign(each, { report }));
  }
  const keys = (kind) => waiting.filter((each) => each.report === report && each.kind === kind)
    .map(({ msi_key }) => msi_key);
  return { installation: await tx.memory("installation"), report, received: keys("received"), opened: keys("opened") };
}

/** The reports. `reported` is called after each. */
export function receiptsOf({ database, clock, hub, reported }) {
  const requests = wakeUps(clock);
  let sending = Promise.resolve();

  async function sendWaiting(signal) {
    for (;;) {
      const body = await database.write((tx) => nextReport(tx, clock.now()));
      if (!body) return;
      const { status } = await hub.answer("POST", path, { body, signal });
      // A hub of another version refuses it always. It would stand in the way of all others.
      const isOver = status < 500 && ![408, 429].includes(status);
      if (!isOver) throw refused(path, status);
      await database.write(async (tx) => {
        for (const { waits, ...sent } of await tx.waitingReceipts()) {
          if (sent.report === body.report) await tx.put("receipts", sent);
        }
      });
      reported();
    }
  }

  /** Sends all that waits, such as before the app leaves the screen. What could not be sent still waits. */
  function send(signal) {
    // The hub takes reports in their order only.
    const turn = sending.then(() => sendWaiting(signal));
    sending = turn.catch(() => {});
    return turn;
  }

  return {
    send,
    wake: requests.add,
    /** Switches reports on or off. Switching them off discards those that wait. */
    set: (areOn) => database.write(async (tx) => {
      await tx.keep("receipts off", areOn ? undefined : true);
      if (!areOn) await removeAll(tx, await tx.waitingReceipts());
    }),
    /** Reports each message within a minute, until the signal is aborted. */
    async run(signal, failed) {
      const pauses = backoff(spread);
      for (;;) {
        try {
          if ((await database.read((tx) => tx.waitingReceipts())).length) {
            await clock.sleep(spread * Math.random(), signal);
            await send(signal);
            pauses.succeeded();
          }
          await requests.next(signal, spread);
        } catch (error) {
          signal.throwIfAborted();
          failed(error);
          await clock.sleep(pauses.failed(), signal);
        }
      }
    },
  };
}
