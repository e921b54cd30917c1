// The hub's routes of persons in memory: as the hub does, it checks what a device signs.

import { identifierOf } from "./names.js";

const tokenTime = 3_600_000;
const nonceTime = 120_000;
const curve = { name: "ECDSA", namedCurve: "P-256" };
/** The password of everybody. */
const password = "right";

const bytesOf = (text) => new TextEncoder().encode(text);
const fromBase64 = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")),
  (letter) => letter.charCodeAt(0));
const refused = (status, field) => ({ status, body: { detail: `no ${field ?? "such thing"}`, field } });

/** Whether a device has signed a proof. */
async function isProven(point, purpose, subject, { nonce, proof }) {
  const key = await crypto.subtle.importKey("raw", fromBase64(point), curve, false, ["verify"]);
  return crypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, key, fromBase64(proof),
    bytesOf(`msi device proof\n${purpose}\n${nonce}\n${subject}`));
}

async function subjectOf({ id_token: token, account }) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytesOf(token ?? account.toLowerCase())));
  return [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The persons of a hub. An ID token is the name of its person. */
export function personsOfHub(clock) {
  const accounts = new Set();
  /** By their ids: the account and the public key. Those that have ended are gone. */
  const devices = new Map();
  const nonces = new Map();
  /** In the order of their numbers, from 1: the device, when it ends, and whether it still counts. */
  const tokens = [];
  const keys = new Map();
  let ahead = 0;
  let challengeStatus = 200;
  let tokenStatus = 200;
  let forgetsNext = false;
  let takesTokens = true;

  const now = () => clock.now() + ahead;

  const changes = {
    accounts(names) { for (const name of names) accounts.add(name); },
    ends(names) { for (const [id, { account }] of devices) if (names.includes(account)) devices.delete(id); },
    forgets(what) {
      forgetsNext = what.includes("next challenge");
      if (what.includes("tokens")) for (const token of tokens) token.counts = false;
    },
    ahead(seconds) { ahead = seconds * 1_000; },
    challenge_status(status) { challengeStatus = status; },
    token_status(status) { tokenStatus = status; },
    takes_tokens(does) { takesTokens = does; },
  };

  function newToken(device) {
    tokens.push({ device, ends: now() + tokenTime, counts: true });
    return { token: `token-${tokens.length}`, expires: now() + tokenTime };
  }

  /** The device of a request's token, as an array with its id; `undefined` if the token does not count. */
  function deviceOf({ Authorization: text }) {
    const token = tokens[Number(/^Bearer token-(\d+)$/.exec(text ?? "")?.[1]) - 1];
    const counts = takesTokens && token?.counts && now() < token.ends && devices.has(token.device);
    return counts ? [token.device, devices.get(token.device)] : undefined;
  }

  /** What is wrong with a proof, as an answer; `null` if nothing is. `request` notes whether it is right. */
  async function proofProblem(request, point, purpose, subject) {
    request.proof = await isProven(point, purpose, subject, request.body);
    const ends = nonces.get(request.body.nonce);
    nonces.delete(request.body.nonce);
    if (!(now() < ends)) return refused(401, "nonce");
    return request.proof ? null : refused(401, "proof");
  }

  /** Whose credential it is; `null` if the password is wrong. */
  const personOf = ({ provider, id_token: token, account, password: given }) => (provider === "google" ? token
    : given === password ? account : null);

  async function signIn(request) {
    const { credential, device } = request.body;
    const problem = await proofProblem(request, device.key, "sign-in", await subjectOf(credential));
    if (problem) return problem;
    const account = personOf(credential);
    if (!account) return refused(401, "password");
    if (!accounts.has(account)) return refused(404);
    const known = [...devices].find(([, each]) => each.key === device.key);
    const id = known?.[1].account === account ? known[0] : identifierOf(`${account} ${tokens.length}`);
    if (known && known[0] !== id) devices.delete(known[0]);
    devices.set(id, { account, key: device.key });
    return { status: 200, body: { person: { account, role: "student", created: 0, identities: [] }, device: id,
      ...newToken(id) } };
  }

  async function register(request) {
    const { account, credential, device } = request.body;
    const problem = await proofProblem(request, device.key, "sign-in", await subjectOf(credential));
    if (problem) return problem;
    const key = request.headers["Idempotency-Key"];
    if (accounts.has(account) && keys.get(account) !== key) return refused(409, "account");
    accounts.add(account);
    keys.set(account, key);
    return { status: 201, body: { account, role: "student", created: 0, identities: [] } };
  }

  async function exchange(request) {
    if (tokenStatus !== 200) return refused(tokenStatus);
    const { device } = request.body;
    if (!devices.has(device)) return refused(401, "device");
    return (await proofProblem(request, devices.get(device).key, "token", device))
      ?? { status: 200, body: newToken(device) };
  }

  return {
    changes,
    /** The answer to a request; `null` for the path of something else. */
    async answer(request) {
      const { method, path, headers } = request;
      switch (`${method} ${path}`) {
        case "GET /user/challenge": {
          if (challengeStatus !== 200) return refused(challengeStatus);
          const nonce = crypto.randomUUID();
          if (!forgetsNext) nonces.set(nonce, now() + nonceTime);
          forgetsNext = false;
          return { status: 200, body: { nonce, expires: now() + nonceTime } };
        }
        case "PUT /user": return signIn(request);
        case "POST /user": return register(request);
        case "POST /user/token": return exchange(request);
        default: {
          if (!path.startsWith("/user")) return null;
          const [id, device] = deviceOf(headers) ?? [];
          if (!id) return refused(401, "Authorization");
          if (`${method} ${path}` === "GET /user") {
            return { status: 200, body: { account: device.account, role: "student", created: 0, identities: [] } };
          }
          if (method !== "DELETE" || !path.startsWith("/user/devices/")) return refused(404);
          return { status: devices.delete(path.split("/").at(-1)) ? 204 : 404 };
        }
      }
    },
  };
}
