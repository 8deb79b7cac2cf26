/** Fields for this service, which the upstream does not get. */
const ownFields = ['timeout', 'extra_headers', 'api_version'];

const space = /[^\t\n\r ]/g;
const bracketOrQuote = /["[\]{}]/g;
const scalarEnd = /[,\]}\t\n\r ]/g;

/** The index of the next match of a global pattern; the text's length if there is none. */
const find = (pattern: RegExp, text: string, from: number): number => {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
};

/** The index after the string literal that begins at a quote. */
const stringEnd = (text: string, quote: number): number => {
  let at = quote;
  for (;;) {
    at = text.indexOf('"', at + 1);
    if (at < 0) return text.length;
    let backslashes = 0;
    while (text[at - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
};

/** The index after the list or object that begins here. */
const bracketsEnd = (text: string, from: number): number => {
  let depth = 0;
  let at = from;
  do {
    at = find(bracketOrQuote, text, at);
    const character = text[at];
    if (character === '"') at = stringEnd(text, at);
    else {
      depth += character === '[' || character === '{' ? 1 : -1;
      at += 1;
    }
  } while (depth > 0 && at < text.length);
  return at;
};

const valueEnd = (text: string, from: number): number => {
  if (text[from] === '"') return stringEnd(text, from);
  return text[from] === '[' || text[from] === '{' ? bracketsEnd(text, from) : find(scalarEnd, text, from);
};

/**
 * Reads the members of a JSON object by name, each value as its original text. The last of several
 * members with one name counts, as in JSON.parse.
 *
 * @param text a JSON object that was parsed before; the result for other text is undefined
 */
export const membersOf = (text: string): Map<string, string> => {
  const members = new Map<string, string>();
  let at = find(space, text, text.indexOf('{') + 1);
  while (at < text.length && text[at] !== '}') {
    const nameEnd = stringEnd(text, at);
    const from = find(space, text, text.indexOf(':', nameEnd) + 1);
    const to = valueEnd(text, from);
    members.set(JSON.parse(text.slice(at, nameEnd)), text.slice(from, to));
    at = find(space, text, to);
    if (text[at] === ',') at = find(space, text, at + 1);
  }
  return members;
};

/**
 * Makes the upstream's body from a client's. It drops the service's own fields and sets the
 * upstream's name of the model. Values keep their text, so that no number loses a digit.
 *
 * @param text the body as received, validated
 * @param model the model's name at the upstream
 */
export const upstreamBody = (text: string, model: string): string => {
  const members = membersOf(text);
  for (const name of ownFields) members.delete(name);
  members.set('model', JSON.stringify(model));
  return `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
};
