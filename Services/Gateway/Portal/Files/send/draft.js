import { newKey } from "../lib/api.js";
import { beginningOf } from "../lib/payload.js";
import { keep, kept } from "../lib/store.js";
import { blanksOf, filled } from "../lib/template.js";
import { momentOf } from "../lib/time.js";

const optionsOf = (options) => {
  const given = Object.entries(options).filter(([, value]) => value);
  return given.length ? { options: Object.fromEntries(given) } : {};
};

const empty = { topicKey: "", title: "", desc: "", message: "", at: "", isSecond: false, ttl: "", image: "", link: "",
  drill: false, template: null, values: {}, attempt: null };

/**
 * What is being written. The browser keeps it until it has been sent, so that it survives a closed tab. A follow-up or
 * correction has a separate draft, so that it does not replace another text.
 */
export class Draft {
  constructor(follows, prepared, isCorrection = false, place = null) {
    this.follows = follows;
    this.isCorrection = isCorrection;
    this.prepared = prepared;
    this.place = place ?? (follows ? `draft.${isCorrection ? "correction." : ""}${follows}` : "draft");
    /** That of the corrected message: a correction has the same. */
    this.collapseKey = "";
    const stored = kept(this.place);
    this.isRestored = Boolean(stored);
    Object.assign(this, empty, { values: {} }, prepared, stored);
  }

  /** When it goes out, in milliseconds, if a time is chosen. */
  get time() {
    return momentOf(this.at, this.isSecond, this.edit?.message.send_at);
  }

  get isEmpty() {
    return !this.title && !this.desc && !this.message && !this.template;
  }

  /** Whether it is no longer the text with which it began. */
  get isChanged() {
    return Object.entries(this.prepared).some(([name, value]) => this[name] !== value);
  }

  /** Returns whether the browser has kept it. */
  save() {
    return keep(this.place, this.isEmpty && !this.topicKey ? null : this.copy());
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

  /** The message for a subject, or for none yet, as phones show it, as far as it is written. */
  shownFor(subject) {
    const distribution = subject?.subject.opt.distribution;
    const isAlert = distribution === "Alert";
    const { title, desc, message } = this.template ? filled(this.template, this.values) : this;
    const shown = {
      title: title.trim(), desc: desc.trim(), message: message.trim(), distribution, drill: this.drill,
      path: subject?.path,
      image: isAlert ? this.image : "", link: this.link.trim(),
    };
    if (distribution && !isAlert) shown.desc = "";
    else if (!this.template && !shown.desc) shown.desc = beginningOf(shown.message);
    return shown;
  }

  /**
   * The body of `POST /message` for a subject; `undo` is the number of seconds in which it can be taken back,
   * `revision` that of the template, if it is known.
   */
  body(subject, undo, revision) {
    const { distribution } = subject.subject.opt;
    const isAlert = distribution === "Alert";
    const texts = this.template
      ? { template: this.template._id, values: this.values, ...(revision ? { template_revision: revision } : {}) }
      : { title: this.title.trim(), desc: isAlert ? this.desc.trim() || beginningOf(this.message.trim()) : "",
          message: this.message.trim() };
    return {
      ...texts, topic_key: subject.key, distribution,
      ...(this.ttl === "" ? {} : { ttl: Number(this.ttl) }),
      ...(this.at ? { send_at: this.time } : undo ? { delay: undo } : {}),
      ...(this.drill ? { drill: true } : {}),
      ...(this.follows ? { follows: this.follows } : {}),
      ...(this.isCorrection ? { correction: true } : {}),
      ...optionsOf({ image: isAlert ? this.image.trim() : "", link: this.link.trim(), collapse_key: this.collapseKey }),
    };
  }

  /**
   * The key by which the gateway knows a repeated post. It stays the same as long as the message does: a double click,
   * a lost answer and a closed tab then send it once, also after a change of the template that leaves its texts.
   */
  keyFor(body) {
    const print = JSON.stringify({ ...body, template_revision: undefined });
    if (this.attempt?.print !== print) this.attempt = { key: newKey(), print };
    this.save();
    return this.attempt.key;
  }
}
