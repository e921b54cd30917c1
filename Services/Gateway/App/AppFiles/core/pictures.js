// Bytes of pictures: those that the hub has for this person, fetched with the token and kept on this device, and those
// that the hub does not have yet.

import { isIdentifier } from "./checks.js";
import { deviceClock } from "./clock.js";
import { AppError, refusal, unreadable } from "./errors.js";
import { waitOf } from "./hub.js";

const store = "pictures";
/** How long the bytes of a picture may be on their way, in milliseconds. */
const patience = 90_000;
const types = ["image/png", "image/jpeg", "image/webp"];

/** The path of a message's picture at the hub. */
export const pathOfMessage = (id) => `/user/messages/${id}/picture`;
const people = "/users/";
/** The path of a person's picture at the hub. */
export const pathOfPerson = (account) => `${people}${encodeURIComponent(account.toLowerCase())}/picture`;

/**
 * The pictures of the person of an `account`, that of `accountOf`. The store `pictures` has a row for each: its `name`
 * is the path at the hub, or one of this app for a picture that was chosen here; its `blob`, since when it is there
 * (`at`), and the `upload`, its identifier at the hub until something has it.
 */
export function picturesOf({ database, account, clock = deviceClock }) {
  const find = (name) => database.read((tx) => tx.get(store, name));
  const drop = (name) => database.write((tx) => tx.remove(store, name));

  /** Nothing is kept after the person of a device has signed out. */
  const keep = (row, own) => database.write(async (tx) => {
    if (own && (await tx.get("account", "device"))?.id === own.id) await tx.put(store, row);
  });

  async function fetched(path, signal) {
    const answer = await account.open(path, {}, signal);
    if (answer.status === 404) return null;
    if (answer.status !== 200) {
      throw refusal(path, { status: answer.status, wait: waitOf(answer.headers),
        body: await answer.json().catch(() => null) });
    }
    const blob = await answer.blob();
    if (!types.includes(blob.type)) throw unreadable(path);
    return blob;
  }

  /** Sends bytes of this device to the hub, once. Resolves to their identifier there. */
  async function upload(name, signal) {
    const path = "/user/pictures";
    const row = await find(name);
    if (!row) throw refusal(path, { status: 404, body: { detail: "it is not here any more", field: "picture" } });
    if (row.upload) return row.upload;
    const own = await account.device();
    const found = await send(path, row.blob, signal);
    await keep({ ...row, upload: found }, own);
    return found;
  }

  async function send(path, blob, signal) {
    const found = await account.authorized("POST", path, { body: blob, signal });
    if (found.status !== 201) throw refusal(path, found);
    if (!isIdentifier(found.body?.id)) throw unreadable(path);
    return found.body.id;
  }

  return {
    drop,

    /** Forgets the pictures of persons, but for these: who is no friend any more has none here. */
    keepPersons: (accounts) => database.write(async (tx) => {
      const paths = accounts.map(pathOfPerson);
      for (const { name } of await tx.all(store)) {
        if (name.startsWith(people) && !paths.includes(name)) await tx.remove(store, name);
      }
    }),

    /**
     * The bytes at a path of the hub, or of a name of `keepPicture`, as a `Blob`; `null` if there are none, or not any
     * more. They are kept, and fetched again after `maxAge` milliseconds, if the hub can be reached.
     */
    async pictureOf(path, { maxAge = Infinity, signal = AbortSignal.timeout(patience) } = {}) {
      const known = await find(path);
      if (!path.startsWith("/") || (known && clock.now() - known.at < maxAge)) return known?.blob ?? null;
      try {
        const own = await account.device();
        const blob = await fetched(path, signal);
        if (blob) await keep({ name: path, blob, at: clock.now() }, own);
        else if (known) await drop(path);
        return blob;
      } catch (error) {
        if (known) return known.blob;
        throw error;
      }
    },

    /** Keeps the bytes of a picture that was chosen on this device. Resolves to their name. */
    async keepPicture(blob) {
      const name = `own ${crypto.randomUUID()}`;
      await keep({ name, blob, at: clock.now() }, await account.device());
      return name;
    },

    /** Sends the bytes of a picture as those of a message that is reported. Resolves to their identifier at the hub. */
    evidence: (blob, signal = AbortSignal.timeout(patience)) => send("/user/pictures?report=true", blob, signal),

    /** The hub's answer. A `picture` in the body is a name of `keepPicture`: its bytes are sent first. */
    async answer(method, path, { body, key, signal = AbortSignal.timeout(patience) } = {}) {
      const name = body?.picture;
      const sent = name ? { ...body, picture: await upload(name, signal) } : body;
      const found = await account.authorized(method, path, { body: sent, key, signal });
      if (name && found.status === 404 && found.body?.field === "picture") {
        // It has waited for too long at the hub. The next attempt sends it again.
        await database.write(async (tx) => {
          const row = await tx.get(store, name);
          if (row) await tx.put(store, { ...row, upload: undefined });
        });
        throw new AppError("timeout", "the hub does not have the picture any more");
      }
      if (found.status >= 400) throw refusal(path, found);
      return found.body;
    },
  };
}
