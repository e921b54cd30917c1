import { withQuery } from "../lib/api.js";

const names = ["account", "action", "object", "period", "from", "to"];
const days = { today: 0, week: 6, month: 29 };

/** The kinds of change, in the groups in which people look for them. */
export const groups = {
  messages: ["message.send", "message.edit", "message.recall", "message.retry", "message.approve"],
  cube: [
    ...["channel", "area", "subject"].flatMap((kind) => [`${kind}.add`, `${kind}.update`, `${kind}.delete`]),
    "subject.move", "access.set", "approval.set", "order.set", "cube.foreign_edit",
  ],
  templates: ["template.add", "template.update", "template.delete"],
  broadcasts: ["broadcast.add", "broadcast.update", "broadcast.withdraw"],
  people: [
    "account.add", "account.update", "account.link", "account.invite", "account.password", "account.remove",
    "account.second_factor.begin", "account.second_factor.confirm", "account.second_factor.remove", "token.add",
    "token.remove",
  ],
  students: ["account.import", "account.unused", "access_code.add", "access_code.remove", "access_code.use",
    "device.end", "device.rotate", "person.erase"],
  study: ["class.add", "class.update", "class.give", "class_key.add", "class_key.replace", "class_key.remove",
    "class_member.update", "class_member.remove", "study_session.end", "study_post.remove"],
  signIns: ["sign_in.begin", "sign_in.invitation.accept", "sign_in.confirm", "sign_in.code", "sign_in.oidc.finish",
    "sign_in.end", "sign_in.limited"],
  log: ["audit.substitute"],
};

/** What is shown, as the address of the page says it. */
export function filtersFrom(search) {
  const query = new URLSearchParams(search);
  return Object.fromEntries(names.map((name) => [name, query.get(name) ?? ""]));
}

/** The page's address for filters. */
export const pathFor = (filters) => withQuery("/portal/audit/", filters);

export const isUnfiltered = (filters) => names.every((name) => !filters[name]);

/** Midnight of a date, or that of the day after it. */
function midnight(date, later = 0) {
  const [year, month, day] = date.split("-").map(Number);
  return new Date(year, month - 1, day + later).getTime();
}

/** The parameters of `GET /audit`. */
export function parametersFor({ account, action, object, period, from, to }) {
  const parameters = { account: account.trim(), action, object };
  if (period in days) {
    const day = new Date();
    day.setHours(0, 0, 0, 0);
    day.setDate(day.getDate() - days[period]);
    parameters.from = day.getTime();
  } else if (period === "dates") {
    if (from) parameters.from = midnight(from);
    if (to) parameters.to = midnight(to, 1);
  }
  return parameters;
}
