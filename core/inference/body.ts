/** The fields that steer a request and are no part of what the upstream gets. */
const steering = ['timeout', 'extra_headers', 'api_version'];

const space = /[^\t\n\r ]/g;
const bracketOrQuote = /["[\]{}]/g;
const scalarEnd = /[,\]}\t\n\r ]/g;

/** Where a pattern, which must be global, matches next; the text's end where it does not. */
const find = (pattern: RegExp, text: string, from: number): number => {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
};

/** The place after the string literal that begins at a quote. */
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

/** The place after the list or object that begins here. */
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
 * The members of a JSON object, by name, each value as the text that it was written as; of several
 * of one name the last, as JSON.parse has it.
 *
 * @param text JSON that has been parsed before, and is an object: of other text nothing is promised
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
 * What the upstream gets of a request's body: all of it but what steers the request, under the
 * upstream's name of the model. Values are not written anew, so that no number loses a digit.
 *
 * @param text the body as it came, checked
 * @param model the model's name as the upstream knows it
 */
export const upstreamBody = (text: string, model: string): string => {
  const members = membersOf(text);
  for (const name of steering) members.delete(name);
  members.set('model', JSON.stringify(model));
  return `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
};
