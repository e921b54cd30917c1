// The app's data, in IndexedDB.

import { AppError } from "./errors.js";

/** Their number is that of the data's form. A released step stays as it is, and changes are further steps. */
const steps = [(db) => {
  // The identifiers say in which order messages came.
  db.createObjectStore("messages", { keyPath: "id", autoIncrement: true })
    .createIndex("msi_key", "msi_key", { unique: true });
  // Messages that were deleted or cleared. A later copy of one is dropped.
  db.createObjectStore("removed", { keyPath: "msi_key" });
  // They outlive the correction itself: the old text stays marked after the person has deleted the new one.
  db.createObjectStore("corrections", { keyPath: "msi_key" });
  // The topics that the app knows from the cube.
  db.createObjectStore("subscriptions", { keyPath: "topic_key" });
  // They outlive the message: a receipt is given once. Only those that wait have `waits`.
  db.createObjectStore("receipts", { keyPath: ["msi_key", "kind"] }).createIndex("waits", "waits");
  // Those that were withdrawn have no document.
  db.createObjectStore("broadcasts", { keyPath: "id" });
  // Small things: the last cube, the position in the hub's messages.
  db.createObjectStore("memory", { keyPath: "name" });
}, (db) => {
  // The person's account on this device: its key, its id, its token. No script can read the bytes of the private key.
  db.createObjectStore("account", { keyPath: "name" });
  // What the app knows of the person and of their friends, and what it has still to tell the hub.
  db.createObjectStore("people", { keyPath: "name" });
}, (db) => {
  // The person's classes and study sessions, as far as pages have shown them, and what the hub is still to be told.
  db.createObjectStore("study", { keyPath: "name" });
}];

const result = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

/** The stores in a transaction. Between its requests nothing else may be awaited: IndexedDB would end it. */
function storesOf(transaction) {
  const store = (name) => transaction.objectStore(name);
  return {
    get: (name, key) => result(store(name).get(key)),
    all: (name) => result(store(name).getAll()),
    put: (name, value) => result(store(name).put(value)),
    remove: (name, key) => result(store(name).delete(key)),
    clear: (name) => result(store(name).clear()),
    message: (key) => result(store("messages").index("msi_key").get(key)),
    waitingReceipts: () => result(store("receipts").index("waits").getAll()),
    /** What the app has kept under a name. */
    memory: async (name) => (await result(store("memory").get(name)))?.value,
    /** Keeps a value under a name, or forgets it if it is `undefined`. */
    keep: (name, value) => result(value === undefined ? store("memory").delete(name)
      : store("memory").put({ name, value })),
  };
}

/** Of the rows of a store of the person's data, the actions that wait for the hub, in their order. */
export const waitingActions = (rows) => rows.filter(({ action }) => action).sort((one, other) => one.at - other.at);

async function explained(error, name) {
  if (!(error instanceof DOMException)) return error;
  if (error.name === "QuotaExceededError") {
    return new AppError("full", "the browser has no space left for the app's data; what it has stays");
  }
  if (error.name !== "VersionError") {
    return new AppError("failed", `the browser does not keep the app's data: ${error.message}`);
  }
  const found = (await indexedDB.databases?.() ?? []).find((each) => each.name === name);
  return new AppError("newer", `${name} has the format ${found?.version ?? "of a later version"}, which this version `
    + `of the app does not know; the highest one that it knows is ${steps.length}`);
}

/**
 * Opens the data, and creates what is missing. `fill` writes into new data. `lost` is called after the browser has
 * evicted the data while the app runs: the next transaction begins with new data. `outdated` is called after a later
 * version of the app has asked for them: each transaction fails from then on.
 *
 * `read` and `write` run a transaction of all stores. They throw an AppError.
 */
export async function openDatabase(name, { fill, lost, outdated }) {
  let connecting = null;
  let end = null;

  async function connect() {
    const request = indexedDB.open(name, steps.length);
    request.onupgradeneeded = ({ oldVersion }) => {
      for (const step of steps.slice(oldVersion)) step(request.result);
      if (oldVersion === 0) fill(storesOf(request.transaction)).catch(() => {});
    };
    const connection = await result(request);
    const forget = () => { connecting = null; lost(); };
    connection.onclose = forget;
    connection.onversionchange = ({ newVersion }) => {
      connection.close();
      if (newVersion === null) return forget();
      end = ["outdated", "a later version of the app is open in another tab: load this page again"];
      outdated();
    };
    return connection;
  }

  async function begin(mode, isRepeated = false) {
    if (end) throw new AppError(...end);
    const connection = await (connecting ??= connect()).catch((error) => { connecting = null; throw error; });
    if (end) throw new AppError(...end);
    try {
      return connection.transaction(connection.objectStoreNames, mode);
    } catch (error) {
      // The browser has closed it, and has not said so yet.
      if (isRepeated || error.name !== "InvalidStateError") throw error;
      connecting = null;
      return begin(mode, true);
    }
  }

  async function transact(mode, body) {
    try {
      const transaction = await begin(mode);
      const done = new Promise((resolve, reject) => {
        transaction.oncomplete = resolve;
        transaction.onabort = () => reject(transaction.error);
      });
      done.catch(() => {});
      let value;
      try {
        value = await body(storesOf(transaction));
      } catch (error) {
        try { transaction.abort(); } catch { /* it has ended */ }
        throw transaction.error ?? error;
      }
      await done;
      return value;
    } catch (error) {
      const explanation = await explained(error, name);
      data.isFull ||= explanation.kind === "full";
      throw explanation;
    }
  }

  const data = {
    read: (body) => transact("readonly", body),
    write: (body) => transact("readwrite", body),
    /** Whether there was no space for something. The next look that stores everything ends it: small things may fit. */
    isFull: false,
    /** Ends the use of the data. */
    close() {
      end ??= ["ended", "the app has ended"];
      connecting?.then((connection) => connection.close(), () => {});
    },
  };
  await data.read(() => {});
  return data;
}
