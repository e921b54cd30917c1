// The person's account on this device. The device has a key that never leaves it. Who signs with it gets tokens of an
// hour from the hub. No secret is sent, shown or stored.

import { isIdentifier, isMoment, isObject, isText } from "./checks.js";
import { deviceClock } from "./clock.js";
import { deviceName } from "./device-name.js";
import { AppError, refusal, unreadable } from "./errors.js";
import { connectionTo } from "./hub.js";

/** How long before its end a token is replaced, in milliseconds. */
const early = 300_000;
/** How long a request may take with all that it needs, in milliseconds. */
const patience = 60_000;
/** The stores of the person's data. They are empty while nobody is signed in. */
const personal = ["account", "people", "study"];
/** The fields of a refusal that say that the hub no longer knows this device. */
const ends = ["device", "proof"];
const curve = { name: "ECDSA", namedCurve: "P-256" };
const signing = { name: "ECDSA", hash: "SHA-256" };

const bytesOf = (text) => new TextEncoder().encode(text);
const hashOf = (bytes) => crypto.subtle.digest("SHA-256", bytes);
/** Bytes in URL-safe Base64. */
const textOf = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_")
  .replace(/=+$/, "");
const hexOf = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** What the proof of a sign-in is about. */
const provenText = ({ id_token: id, access_token: access, authorization_code: code, account }) =>
  id ?? access ?? code ?? account.toLowerCase();

const isToken = (body) => isObject(body) && isText(body.token) && isMoment(body.expires);
const isSignedIn = (body) => isToken(body) && isIdentifier(body.device) && isObject(body.person)
  && isText(body.person.account);

/** The version of the app's files, which is in their path; `undefined` in tests. */
const version = /\/files\/(\w{1,40})\//.exec(import.meta.url)?.[1];

/**
 * The account. `hub` is as `gateway`; `language` returns the person's language, or is absent in the worker, which has
 * the one that a page has told. `tell` is called after changes of what the app's state says about the person.
 *
 * The store `account` has: `key`, with the private key, its public point and the `thumbprint` of that; `device`, with
 * the `id` of this device at the hub and the `account`; `token`, with when it `renews`; `told`, what the hub knows of
 * how this device is reached; and `ended`, if the hub has signed the device out. Without `device` nobody is signed in.
 */
export function accountOf({ name, database, hub, clock = deviceClock, language, tell }) {
  const connection = connectionTo(hub, clock);
  /** Does one thing after another, whichever tab or worker does it. */
  const alone = (work) => navigator.locks.request(`${name} account`, work);
  const rows = (...names) => database.read((tx) => Promise.all(names.map((each) => tx.get("account", each))));
  const device = async () => (await rows("device"))[0];
  /** Whether a device is the one that is signed in. While the hub is asked, somebody may sign out, or in. */
  const isStill = async (tx, { id }) => (await tx.get("account", "device"))?.id === id;
  const signedOut = () => new AppError("signed out", "nobody is signed in on this device");

  /** The hub's answer without a token. Other statuses than the expected one are errors. */
  async function ask(method, path, expected, { body, key, signal }) {
    const answer = await connection.answer(method, path, { body, key, signal });
    if (answer.status !== expected) throw refusal(path, answer);
    return answer.body;
  }

  /** The device's key, which is made when it is needed first. */
  async function deviceKey() {
    const [known] = await rows("key");
    if (known) return known;
    if (!globalThis.crypto?.subtle || !navigator.locks) throw new AppError("insecure", "this address has no https");
    const { privateKey, publicKey } = await crypto.subtle.generateKey(curve, false, ["sign"]);
    const point = await crypto.subtle.exportKey("raw", publicKey);
    const made = { name: "key", key: privateKey, point: textOf(point), thumbprint: textOf(await hashOf(point)) };
    return database.write(async (tx) => {
      // Another tab may have made one at the same time.
      const other = await tx.get("account", "key");
      if (!other) await tx.put("account", made);
      return other ?? made;
    });
  }

  async function prove(purpose, subject, { key }, signal) {
    const found = await ask("GET", "/user/challenge", 200, { signal });
    if (!isText(found?.nonce)) throw unreadable("/user/challenge");
    const text = `msi device proof\n${purpose}\n${found.nonce}\n${subject}`;
    return { nonce: found.nonce, proof: textOf(await crypto.subtle.sign(signing, key, bytesOf(text))) };
  }

  /** Sends something with a proof. A hub that has forgotten the challenge gives another one, once. */
  async function proven(purpose, subject, key, signal, send) {
    try {
      return await send(await prove(purpose, subject, key, signal));
    } catch (error) {
      if (error.field !== "nonce") throw error;
      return send(await prove(purpose, subject, key, signal));
    }
  }

  /**
   * A request that signs in or registers: its credential, what identifies the device, and the proof. Errors have the
   * `provider` of the credential.
   */
  async function authorize(method, expected, { credential, ...more }, key, signal) {
    const own = await deviceKey();
    const subject = hexOf(await hashOf(bytesOf(provenText(credential))));
    const described = { key: own.point, platform: "web", name: deviceName(), language: language?.(),
      app_version: version };
    return proven("sign-in", subject, own, signal, (proof) => ask(method, "/user", expected,
      { key, signal, body: { ...more, credential, device: described, ...proof } }))
      .catch((error) => { throw Object.assign(error, { provider: credential.provider }); });
  }

  /**
   * The row of a new token. If it seems to have ended already, or nearly so, this device's clock is wrong: then the
   * token is used until the hub refuses it.
   */
  function tokenRow({ token, expires }) {
    const renews = expires - early;
    return { name: "token", token, renews: renews > clock.now() ? renews : Infinity };
  }

  /** Deletes everything of the person from this device. `ended`: the device that the hub has signed out, if it has. */
  async function forget(ended = null) {
    await database.write(async (tx) => {
      if (ended && !(await isStill(tx, ended))) return;
      for (const store of personal) await tx.clear(store);
      if (ended) await tx.put("account", { name: "ended", at: clock.now() });
    });
    tell();
  }

  /** A token that counts for some minutes. `refused` is one that the hub has not taken. */
  const token = (refused, signal) => alone(async () => {
    const [own, known, key] = await rows("device", "token", "key");
    if (!own) throw signedOut();
    const isUsable = known && known.token !== refused;
    if (isUsable && clock.now() < known.renews) return known.token;
    try {
      const next = await proven("token", own.id, key, signal, (proof) => ask("POST", "/user/token", 200,
        { signal, body: { device: own.id, ...proof } }));
      if (!isToken(next)) throw unreadable("/user/token");
      await database.write(async (tx) => { if (await isStill(tx, own)) await tx.put("account", tokenRow(next)); });
      return next.token;
    } catch (error) {
      if (error.status === 401 && ends.includes(error.field)) {
        await forget(own);
        throw signedOut();
      }
      // Gateways take it for longer while the service that gives tokens is away.
      if (isUsable && !signal.aborted) return known.token;
      throw error;
    }
  });

  /** Sends something with a token. If the hub does not take it, another one is tried, once. */
  async function withToken(signal, send) {
    const secret = await token(null, signal);
    const answer = await send(secret);
    // Refusals of something in the body name it.
    const isRefused = answer.status === 401 && (answer.body?.field ?? "Authorization") === "Authorization";
    return isRefused ? send(await token(secret, signal)) : answer;
  }

  /** The hub's answer to the person, of any status. `key` tells the hub that a request is a repeated one. */
  const authorized = (method, path, { body, key, signal = AbortSignal.timeout(patience) } = {}) =>
    withToken(signal, (secret) => connection.answer(method, path, { body, secret, key, signal }));

  return {
    device, authorized,

    /** What a provider puts into an ID token for this device: its `nonce`. */
    thumbprint: async () => (await deviceKey()).thumbprint,

    /** The hub's answer to anyone; an AppError if it is not the expected one. */
    ask: (method, path, expected, { signal = AbortSignal.timeout(patience), ...more } = {}) =>
      ask(method, path, expected, { signal, ...more }),

    /**
     * Signs a person in. Throws an AppError: "refused" with the status 404 if nobody has an account with this
     * credential, with 401 and the field of what is wrong, or for another reason of the hub.
     */
    signIn: (credential, signal = AbortSignal.timeout(patience)) => alone(async () => {
      const body = await authorize("PUT", 200, { credential }, undefined, signal);
      if (!isSignedIn(body)) throw unreadable("/user");
      await database.write(async (tx) => {
        const key = await tx.get("account", "key");
        for (const store of personal) await tx.clear(store);
        await tx.put("account", key);
        await tx.put("account", { name: "device", id: body.device, account: body.person.account });
        await tx.put("account", tokenRow(body));
        await tx.put("people", { name: "person", value: body.person });
      });
      tell();
    }),

    /**
     * Makes the record of a new person, without signing in. `key` is that of all attempts of the same registration.
     * Throws as `signIn`; the status is 409 if the name or the credential has an account.
     */
    register: (account, credential, accessCode, key, signal = AbortSignal.timeout(patience)) => authorize("POST", 201,
      { account, credential, access_code: accessCode || undefined }, key, signal),

    /** The next request gets another token, which says what the person may do now. */
    renew: () => alone(() => database.write(async (tx) => {
      const known = await tx.get("account", "token");
      if (known) await tx.put("account", { ...known, renews: 0 });
    })),

    /** The answer to GET as the browser has it. */
    open: (path, headers = {}, signal = AbortSignal.timeout(patience)) => withToken(signal, (secret) =>
      hub.open(path, { ...headers, Authorization: `Bearer ${secret}` }, signal)),

    /** Tells the hub how this device is reached, if it does not know yet. */
    async registerDevice(signal = AbortSignal.timeout(patience)) {
      const [own, told, push] = await database.read((tx) => Promise.all([tx.get("account", "device"),
        tx.get("account", "told"), tx.memory("push")]));
      if (!own) return;
      const wanted = { subscription: push?.id, name: deviceName(), language: language?.() ?? told?.language,
        app_version: version };
      const text = JSON.stringify(wanted);
      if (text === told?.text) return;
      const path = `/user/devices/${own.id}`;
      const answer = await authorized("PUT", path, { body: wanted, signal });
      if (answer.status !== 200) throw refusal(path, answer);
      await database.write(async (tx) => {
        if (await isStill(tx, own)) await tx.put("account", { name: "told", text, language: wanted.language });
      });
    },

    /**
     * Signs the person out on this device. Resolves to whether the hub knows. A hub that cannot be reached still lists
     * the device, whose key is gone, so that it gets no token any more.
     */
    async signOut() {
      const own = await device();
      const isKnown = own ? await authorized("DELETE", `/user/devices/${own.id}`).then(({ status }) => status < 400,
        ({ kind }) => kind === "signed out") : true;
      await forget();
      return isKnown;
    },

    /** Erases the person at the hub and on this device. Resolves to the hub's report. */
    async erase(signal = AbortSignal.timeout(patience)) {
      const [own, key] = await rows("device", "key");
      if (!own) throw signedOut();
      const report = await proven("erasure", own.id, key, signal, async (proof) => {
        const answer = await authorized("POST", "/user/erasure", { body: proof, signal });
        if (answer.status !== 200) throw refusal("/user/erasure", answer);
        return answer.body;
      });
      await forget();
      return report;
    },
  };
}
