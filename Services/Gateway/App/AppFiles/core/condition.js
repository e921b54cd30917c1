// Conditions over topics, such as `'dogs' in topics && !('cats' in topics || 'birds' in topics)`. Without parentheses
// they are read from left to right.

const maxTopics = 5;
const maxDepth = 20;
const token = / *(&&|\|\||!|\(|\)|'([\w\-.~%]{1,900})' *in *topics)/y;

/** Whether topics fulfil a condition. None fulfil an invalid one. */
export function isFulfilled(condition, topics) {
  const tokens = tokensOf(condition);
  let at = 0;
  let isValid = tokens !== null && tokens.filter(({ topic }) => topic).length <= maxTopics;

  function terms(depth) {
    let value = term(depth);
    while (isValid && ["&&", "||"].includes(tokens[at]?.sign)) {
      const isBoth = tokens[at++].sign === "&&";
      const right = term(depth);
      value = isBoth ? value && right : value || right;
    }
    return value;
  }

  function term(depth) {
    const { sign, topic } = tokens[at++] ?? {};
    isValid &&= depth < maxDepth && Boolean(topic || sign === "!" || sign === "(");
    if (!isValid) return false;
    if (topic) return topics.has(topic);
    if (sign === "!") return !term(depth + 1);
    const value = terms(depth + 1);
    isValid &&= tokens[at++]?.sign === ")";
    return value;
  }

  const value = isValid && terms(0);
  return isValid && at === tokens.length && value;
}

/** The signs and topics of a condition; `null` if it has anything else. */
function tokensOf(condition) {
  const tokens = [];
  const text = condition.trimEnd();
  for (let end = 0; end < text.length; end = token.lastIndex) {
    token.lastIndex = end;
    const [, sign, topic] = token.exec(text) ?? [];
    if (!sign) return null;
    tokens.push({ sign, topic });
  }
  return tokens;
}
