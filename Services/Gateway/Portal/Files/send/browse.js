import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { distributionTag } from "../elements/tags.js";
import { showDialog } from "../elements/dialogs.js";

/** Lets somebody choose channel → area → subject, one column each. Returns the subject or `null`. */
export function browse(subjects, current) {
  return showDialog((close) => {
    let [channel, area] = [current?.channel._id, current?.area.id];
    const columns = h("div", { class: "columns" });
    const column = (label, items, isChosen, press) =>
      h("section", { "aria-label": label }, h("h3", null, label),
        items.length
          ? h("ul", { class: "plain" }, items.map((item) =>
            h("li", null, h("button",
                { type: "button", "aria-pressed": String(isChosen(item)), onclick: () => press(item) },
              h("bdi", null, item.name), item.tag ?? icon("next", "small")))))
          : h("p", { class: "hint" }, t("send.browse.before")));
    const unique = (items, key) => [...new Map(items.map((item) => [item[key], item])).values()];
    const show = (focus) => {
      const inChannel = subjects.filter((subject) => subject.channel._id === channel);
      const inArea = inChannel.filter((subject) => subject.area.id === area);
      fill(columns,
        column(t("send.browse.channel"), unique(subjects.map((subject) => subject.channel), "_id"),
          (item) => item._id === channel,
          (item) => { channel = item._id; area = undefined; show(1); }),
        column(t("send.browse.area"), unique(inChannel.map((subject) => subject.area), "id"),
          (item) => item.id === area,
          (item) => { area = item.id; show(2); }),
        column(t("send.browse.subject"),
          inArea.map((subject) =>
            ({ name: subject.subject.name, tag: distributionTag(subject.subject.opt.distribution), subject })),
          (item) => item.subject.key === current?.key, (item) => close(item.subject)));
      if (focus) columns.children[focus].querySelector("button")?.focus();
    };
    show();
    return h("div", { class: "stack browse" }, h("h2", null, t("send.browse.heading")), columns,
      h("div", { class: "actions" },
        h("button", { class: "button", type: "button", onclick: () => close(null) }, t("cancel"))));
  });
}
