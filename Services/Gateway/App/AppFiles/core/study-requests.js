// What the app asks the hub about classes and study sessions: paths, and how the documents are read.

import { classesOf, matesOf, ownOf, pastOf, postsOf, rulesOf, sessionOf, sessionsOf } from "./study-documents.js";

/** How many posts or past sessions a page has. */
const pageSize = 50;

export const sessionPath = ({ class: id, session }) => `/classes/${id}/sessions/${session}`;
const after = (position) => (position ? `&after=${encodeURIComponent(position)}` : "");

/** Lists of which a page shows more on demand. */
export const pages = {
  posts: (next, id, session) => [`/classes/${id}/sessions/${session}/posts?limit=${pageSize}${after(next)}`, postsOf],
  past: (next) => [`/user/sessions/past?limit=${pageSize}${after(next)}`, pastOf],
  mates: (next, id) => [`/classes/${id}/classmates${after(next).replace("&", "?")}`, matesOf],
};

/** What the app keeps of the hub: the path of each part, and what of its document. */
export const parts = {
  rules: () => ["/study", rulesOf],
  classes: () => ["/user/classes", classesOf],
  own: () => ["/user/sessions", ownOf],
  sessions: (id) => [`/classes/${id}/sessions`, sessionsOf],
  session: (id, session) => [`/classes/${id}/sessions/${session}`, sessionOf],
  posts: (id, session) => pages.posts(null, id, session),
};
/** Those of which only the last one is kept: the one that a page shows. */
export const single = ["session", "posts"];

/** What a person does, and what is kept until the hub has answered: the request, by what it is about. */
export const kept = {
  "join class": (key) => ["POST", "/user/classes", { key }],
  "leave class": ({ id }) => ["DELETE", `/user/classes/${id}`],
  "class pushes": ({ id, on }) => ["PUT", `/user/classes/${id}`, { new_sessions: on }],
  post: ({ text, ...about }) => ["POST", `${sessionPath(about)}/posts`, { text }],
  "remove post": ({ post, ...about }) => ["DELETE", `${sessionPath(about)}/posts/${post}`],
  invite: ({ accounts, ...about }) => ["POST", `${sessionPath(about)}/invite`, { accounts }],
};

/** What a person does, and what is worth nothing later. */
export const direct = {
  start: ({ class: id, draft }) => ["POST", `/classes/${id}/sessions`, draft],
  join: ({ leave = false, ...about }) => ["POST", sessionPath(about), { leave }],
  /** Its host ends it so. */
  leave: (about) => ["DELETE", sessionPath(about)],
  /** Of another host, as the class's staff. */
  end: (about) => ["POST", `${sessionPath(about)}/end`],
  change: ({ edit, ...about }) => ["PUT", sessionPath(about), edit],
  report: ({ position, ...about }) => ["POST", `${sessionPath(about)}/position`, position],
};
