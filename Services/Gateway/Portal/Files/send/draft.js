import { newKey } from "../lib/api.js";
import { beginningOf } from "../lib/payload.js";
import { keep, kept } from "../lib/store.js";
import { blanksOf, filled } from "../lib/template.js";
import { momentOf } from "../lib/time.js";

const optionsOf = (options) => {
  const given = Object.entries(options).filter(([, value]) => value);
  return given.length ? { options: Object.fromEntries(given) } : {};
};

const empty = { topicKey: "", title: "", desc: "", message: "", at: "", isSecond: false, ttl: "", image: "", drill: false, template: null, values: {}, attempt: null };

/**
 * What is being written. The browser keeps it until it has been sent, so that it survives a closed tab. A follow-up or correction
 * has a draft of its own, so that it does not replace another text.
 */
export class Draft {
  constructor(follows, prepared, isCorrection = false) {
    this.follows = follows;
    this.isCorrection = isCorrection;
    this.place = follows ? `draft.${isCorrection ? "correction." : ""}${follows}` : "draft";
    /** That of the corrected message: a correction has the same. */
    this.collapseKey = "";
    const stored = kept(this.place);
    this.isRestored = Boolean(stored);
    Object.assign(this, empty, { values: {} }, prepared, stored);
  }

  /** When it goes out, in milliseconds, if a time is chosen. */
  get time() {
    return momentOf(this.at, this.isSecond);
  }

  get isEmpty() {
    return !this.title && !this.desc && !this.message && !this.template;
  }

  /** Returns whether the browser has kept it. */
  save() {
    const { topicKey, title, desc, message, at, isSecond, ttl, image, drill, template, values, attempt } = this;
    return keep(this.place, this.isEmpty && !topicKey ? null : { topicKey, title, desc, message, at, isSecond, ttl, image, drill, template, values, attempt });
  }

  /** Takes over the present text of its template. If the template is gone, its text becomes free text. */
  refreshTemplate(templates) {
    if (!this.template) return;
    const present = templates.find((template) => template._id === this.template._id);
    if (!present && templates.length) Object.assign(this, filled(this.template, this.values), { template: null });
    else if (present) this.useTemplate(present);
  }

  /** Uses a template; values for blanks of the same names stay. */
  useTemplate(template) {
    this.template = template;
    this.values = Object.fromEntries(blanksOf(template).map((name) => [name, this.values[name] ?? ""]));
  }

  /** What is written, for `restore`. */
  copy() {
    return Object.fromEntries(Object.keys(empty).map((name) => [name, this[name]]));
  }

  restore(copy) {
    Object.assign(this, copy);
    this.save();
  }

  forget() {
    keep(this.place, null);
    Object.assign(this, empty, { values: {} });
  }

  /**
   * The body of `POST /message` for a subject; `undo` is the number of seconds in which it can be taken back, `revision` that of the
   * template, if it is known.
   */
  body(subject, undo, revision) {
    const { distribution } = subject.subject.opt;
    const isAlert = distribution === "Alert";
    const texts = this.template
      ? { template: this.template._id, values: this.values, ...(revision ? { template_revision: revision } : {}) }
      : { title: this.title.trim(), desc: isAlert ? this.desc.trim() || beginningOf(this.message.trim()) : "", message: this.message.trim() };
    return {
      ...texts, topic_key: subject.key, distribution,
      ...(this.ttl === "" ? {} : { ttl: Number(this.ttl) }),
      ...(this.at ? { send_at: this.time } : undo ? { delay: undo } : {}),
      ...(this.drill ? { drill: true } : {}),
      ...(this.follows ? { follows: this.follows } : {}),
      ...(this.isCorrection ? { correction: true } : {}),
      ...optionsOf({ image: isAlert ? this.image.trim() : "", collapse_key: this.collapseKey }),
    };
  }

  /**
   * The key by which the gateway knows a repeated post. It stays the same as long as the message does: a double click, a lost
   * answer and a closed tab then send it once, also after a change of the template that leaves its texts.
   */
  keyFor(body) {
    const print = JSON.stringify({ ...body, template_revision: undefined });
    if (this.attempt?.print !== print) this.attempt = { key: newKey(), print };
    this.save();
    return this.attempt.key;
  }
}
