// What the hub says about messages between persons, checked before the app uses it.

import { isIdentifier, isMaybe, isMoment, isName, isObject, isText } from "./checks.js";

const isCount = (value) => Number.isSafeInteger(value) && value >= 0;

/** A picture without its bytes. */
export const isPicture = (value) => isObject(value) && ["png", "jpeg", "webp"].includes(value.type)
  && ["width", "height", "bytes"].every((field) => isCount(value[field]));

/** A message with its text or its picture, or without if the hub has removed it since. */
export const isMessage = (value) => isObject(value) && isIdentifier(value.id) && isName(value.from)
  && isName(value.to) && isCount(value.number) && isMoment(value.at) && isMaybe(value.text, isText)
  && isMaybe(value.picture, isPicture);

const hasContent = ({ text, picture }) => isText(text) || isObject(picture);

const marks = ["seen", "removed", "delivered", "read", "expired"];
const isConversation = (value) => isObject(value) && isName(value.account) && isCount(value.last)
  && marks.every((field) => isMaybe(value[field], isCount));

/** What cannot be read is left out: one message does not keep back those behind it. */
const messagesOf = (list) => list.filter((each) => isMessage(each) && hasContent(each));

export const newsOf = (body) => (Array.isArray(body?.messages) && Array.isArray(body.conversations)
  && isCount(body.after) ? { messages: messagesOf(body.messages),
    conversations: body.conversations.filter(isConversation), after: body.after, more: body.more === true }
  : undefined);

export const conversationOf = (body) => (Array.isArray(body?.messages) && isConversation(body.conversation)
  ? { messages: messagesOf(body.messages), conversations: [body.conversation] } : undefined);

export const verdictOf = (body) => (isText(body?.verdict) ? body.verdict : undefined);
