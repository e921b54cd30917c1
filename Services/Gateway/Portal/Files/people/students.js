import { get, withQuery } from "../lib/api.js";

/** How many are read at once, and at most when those that are shown are read again. */
const [pageSize, maxPage] = [50, 200];
/** How long nobody types before the gateway is asked, in milliseconds. */
const pause = 250;
/** The most characters of the beginning of an account. */
const longest = 64;

/**
 * The students, page by page as the gateway finds them: there may be tens of thousands. `changed` is called after each
 * answer.
 */
export class Students {
  /** Those that are known, by their names and in their order. */
  accounts = new Map();
  /** The path of the page after them; `null` if there is none. */
  next = null;
  /** Why the last reading failed; `null` if it did not. */
  problem = null;
  /** Whether there was an answer. */
  isKnown = false;
  #text = "";
  #timer = null;
  #question = null;
  #changed;

  constructor(changed) {
    this.#changed = changed;
  }

  /** Whether only some are wanted. */
  get isFiltered() { return this.#text !== ""; }

  /** Finds those whose accounts begin with a text, as soon as nobody types any more. */
  find(text) {
    this.#text = text.trim().slice(0, longest);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.read(), pause);
  }

  read(limit = pageSize) {
    return this.#ask(withQuery("/account", { role: "student", q: this.#text, limit }), new Map());
  }

  /** Reads those that are known again. */
  readAgain() {
    return this.read(Math.min(maxPage, Math.max(pageSize, this.accounts.size)));
  }

  /** Reads the next page. */
  async more() {
    if (this.next && !this.#question) await this.#ask(this.next, this.accounts);
  }

  /** Shows one that was added, as a search for it would. */
  showOnly(account) {
    clearTimeout(this.#timer);
    this.#question?.abort();
    this.#question = null;
    this.#text = account.account;
    this.accounts = new Map([[account.account, account]]);
    this.next = null;
    this.isKnown = true;
  }

  /** The answer to an earlier question is not waited for. */
  async #ask(path, known) {
    this.#question?.abort();
    const question = new AbortController();
    this.#question = question;
    try {
      const page = await get(path, { signal: question.signal });
      for (const account of page.accounts) known.set(account.account, account);
      this.accounts = known;
      this.next = page.next ?? null;
      this.problem = null;
      this.isKnown = true;
    } catch (error) {
      if (question.signal.aborted) return;
      this.problem = error;
    }
    if (this.#question !== question) return;
    this.#question = null;
    this.#changed();
  }
}
