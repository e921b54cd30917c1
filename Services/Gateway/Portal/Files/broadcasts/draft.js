import { newKey } from "../lib/api.js";
import { keep, kept } from "../lib/store.js";
import { localOf, momentOf } from "../lib/time.js";
import { epochOf } from "./epoch.js";

/** How many minutes broadcasts of each type last if nothing else is chosen. */
const usualExpiry = { 1: 120, 2: 1_440, 3: 1_440, 4: 40_320 };

const empty = {
  type: 2, translations: {}, poster: "", cancellable: true, popup: true, feature: "", isOn: true, share: "", group: "",
  data: "",
  audience: "everyone", channels: [], condition: "", begins: "now", at: "", isSecond: false, epoch: "", expiry: null,
  repeat: 0,
  /** What the document has besides, such as `notificationtype`, and the type that it fits. */
  rest: {}, restType: 0, tag: null, attempt: null,
};
const names = Object.keys(empty);

/** A document of the hub as it is edited. */
export function written(broadcast) {
  const { type, actiondata, channels, condition, expiry, repeat = 0, starts } = broadcast;
  const { translations = {}, poster = "", cancellable = true, popup = true, feature = "", share = "", group = "",
    data = "", notificationtype, ...rest } = actiondata;
  const isSwitch = type === 4;
  return {
    type, translations: structuredClone(translations), poster, cancellable, popup, feature, share: String(share), group,
    isOn: notificationtype !== "disable-feature",
    data: isSwitch ? data : "", audience: condition ? "condition" : channels?.length ? "channels" : "everyone",
    channels: [...(channels ?? [])], condition: condition ?? "",
    begins: "kept", ...localOf(starts), epoch: broadcast.epoch || epochOf(starts), expiry, repeat,
    rest: { ...rest, ...(isSwitch ? {} : { ...(notificationtype ? { notificationtype } : {}),
          ...(data ? { data } : {}) }) }, restType: type,
  };
}

/**
 * What is being written. The browser keeps it until it has been sent: one new broadcast, and one draft for each that is
 * edited.
 */
export class Draft {
  /** `broadcast` is the one that is edited, `null` for a new one; `tag` is its version for `If-Match`. */
  constructor({ broadcast = null, tag = null, language }) {
    this.broadcast = broadcast;
    this.language = language;
    this.place = Draft.placeOf(broadcast?.id);
    const stored = kept(this.place);
    this.isRestored = Boolean(stored);
    Object.assign(this, structuredClone(empty), broadcast ? { ...written(broadcast), tag } : {}, stored);
    if (!Object.hasOwn(this.translations, language)) {
      this.translations = { [language]: { title: "", msg: "" }, ...this.translations };
    }
  }

  static placeOf = (id) => (id === undefined ? "broadcast-draft" : `broadcast-draft.${id}`);

  /** Keeps a copy of a broadcast as the draft of a new one. Returns the draft that it replaces, for `restore`. */
  static copy(broadcast) {
    const before = kept(Draft.placeOf());
    keep(Draft.placeOf(), { ...written(broadcast), begins: "now", at: "", epoch: "" });
    return before;
  }

  get isSwitch() {
    return Number(this.type) === 4;
  }

  /** Only a downtime may have a pop-up. */
  get isDowntime() {
    return Number(this.type) === 1;
  }

  get isEmpty() {
    const isBlank = ({ title, msg }) => !title && !msg;
    return !this.broadcast && Object.values(this.translations).every(isBlank) && !this.poster && !this.feature &&
      !this.data;
  }

  /** Minutes from its beginning to its end. */
  get lasts() {
    return this.expiry ?? usualExpiry[this.type];
  }

  /** When it begins, in milliseconds. */
  starts(now) {
    if (this.begins === "kept") return this.broadcast.starts;
    return this.begins === "later" && this.at ? momentOf(this.at, this.isSecond) : now;
  }

  copy() {
    return structuredClone(Object.fromEntries(names.map((name) => [name, this[name]])));
  }

  /** Returns whether the browser has kept it. */
  save() {
    return keep(this.place, this.isEmpty ? null : this.copy());
  }

  forget() {
    keep(this.place, null);
  }

  /** The body of `POST /broadcast` or `PUT /broadcast/:id`. */
  body() {
    const epoch = this.begins === "kept" ? this.epoch : this.begins === "later" && this.at
      ? epochOf(momentOf(this.at, this.isSecond)) : undefined;
    return {
      type: Number(this.type), ...(epoch ? { epoch } : {}), expiry: this.lasts,
      actiondata: { ...this.content(), ...(this.restType === Number(this.type) ? this.rest : {}) },
      ...(this.audience === "channels" ? { channels: this.channels } : this.audience === "condition"
        ? { condition: this.condition.trim() } : {}),
      ...(this.repeat ? { repeat: this.repeat } : {}),
    };
  }

  content() {
    if (!this.isSwitch) {
      const translations = Object.entries(this.translations)
        .map(([tag, { title, msg }]) => [tag, { title: title.trim(), msg: msg.trim() }]);
      return {
        translations: Object.fromEntries(translations), ...(this.poster.trim() ? { poster: this.poster.trim() } : {}),
        cancellable: this.cancellable,
        ...(this.isDowntime && !this.popup ? { popup: false } : {}),
      };
    }
    return {
      notificationtype: this.isOn ? "enable-feature" : "disable-feature",
      ...(this.feature.trim() ? { feature: this.feature.trim() } : {}),
      ...(this.share === "" ? {} : { share: Number(this.share), ...(this.group ? { group: this.group } : {}) }),
      ...(this.data.trim() ? { data: this.data.trim() } : {}),
    };
  }

  /** The key by which the gateway knows a repeated post; it stays the same as long as the broadcast does. */
  keyFor(body) {
    const print = JSON.stringify(body);
    if (this.attempt?.print !== print) this.attempt = { key: newKey(), print };
    this.save();
    return this.attempt.key;
  }
}
