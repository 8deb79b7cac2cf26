/*
 * What failures have in common: their message, without what varies from one to the next. Deterministic, and bounded:
 * only the beginning of a message counts, and no expression looks at a character more often than a bound says.
 */

/** How much of an exception is looked at, from its beginning and from its end, in UTF-16 units. */
const looked = 2000;
/** How long a headline may be, and what becomes of it. */
const maxHeadline = 500;
const maxMessage = 200;

/** Colors of terminals, which begin with a control character. */
const colors = /\p{Cc}\[[\d;]{0,16}[A-Za-z]/gu;

/** What nobody sees: marks of direction, blanks without width, and tags. They could hide what a title says. */
const unseen = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** What Python says between the exceptions of a chain, and above a stack. */
const betweenExceptions =
  /^(?:Traceback \(most recent|During handling of|The above exception|Exception Group)/;

/** Cut so that no half of a character is left. */
const cut = (text: string, most: number): string => text.slice(0, most).replace(/[\ud800-\udbff]$/, '');

const linesOf = (text: string): string[] => text.split(/\r\n|[\r\n\u2028\u2029]/);

/**
 * The line that says what went wrong: the first that is not blank; of a traceback of Python the last that is not
 * indented. A line that ends with a colon has the next behind it.
 */
export const toHeadline = (exception: string): string => {
  const begin = cut(exception.trimStart(), looked).replace(colors, '');
  if (begin.startsWith('Traceback (most recent')) {
    const lines = linesOf(exception.trimEnd().slice(-looked).replace(colors, ''));
    const last = lines.findLast((line, i) => i > 0 && /^\S/.test(line) && !betweenExceptions.test(line));
    if (last !== undefined) return cut(last.trim(), maxHeadline);
  }
  const [first = '', second = ''] = linesOf(begin)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return cut(first.endsWith(':') ? `${first} ${second}` : first, maxHeadline);
};

type Rule = readonly [pattern: RegExp, replacement: string];

/** A quoted text is what varies, unless it is what a field of this name says. */
const saying = /^(?:message|msg|error|detail|details|reason|description|type|code|status|title|param)$/i;
/** What stands before the status of an HTTP answer, which does not vary. */
const beforeStatus = /(?:status|code|http(?:\/\d(?:\.\d)?)?|error)[\s:=("]{0,3}$/i;

const quoted = /(["'`“‘«])((?:(?!["'`”’»]).){0,300})["'`”’»](?!\p{L})/gu;
const keyBefore = /["'“‘]?([A-Za-z_]{1,20})["'”’]?\s?[:=]\s?$/;

/** Takes quoted values out. Names of fields stay, and so does what fields say that hold messages. */
const withoutQuoted = (text: string): string =>
  text.replace(quoted, (match: string, _quote: string, inner: string, offset: number) => {
    const before = text.slice(Math.max(0, offset - 30), offset);
    // An apostrophe within a word is none.
    if (/\p{L}$/u.test(before)) return match;
    const after = text.slice(offset + match.length, offset + match.length + 2);
    if (/^\s?[:=]/.test(after) && /^[\w.-]{1,40}$/.test(inner)) return inner;
    const [, key = ''] = keyBefore.exec(before) ?? [];
    return saying.test(key) ? inner : '<value>';
  });

const withoutNumbers = (text: string): string =>
  text.replace(
    /(?<![\p{L}\p{Nd}_])[-+]?\p{Nd}[\p{Nd}_.,]{0,40}(?:e[-+]?\p{Nd}{1,4})?(?=(?:ms|s|sec|min|[mhdbkx]|[kmg]i?b|°c|tok)?(?![\p{L}\p{Nd}]))/giu,
    (number: string, offset: number) => {
      const end = /[.,]+$/.exec(number)?.[0] ?? '';
      const bare = number.slice(0, number.length - end.length);
      if (/^[1-5]\d\d$/.test(bare) && beforeStatus.test(text.slice(Math.max(0, offset - 12), offset)))
        return number;
      return `<n>${end}`;
    },
  );

/** Words of letters and at least four digits, or long ones with digits, are ids; `base64` and `gpt-4o` are not. */
const withoutIds = (text: string): string =>
  text.replace(/(?<![\p{L}\p{Nd}_<])[\p{L}\p{Nd}_-]{6,200}/gu, (word: string) => {
    const digits = word.replace(/\P{Nd}/gu, '').length;
    const hasLetters = /\p{L}/u.test(word);
    if (!hasLetters || digits === 0) return word;
    const isHex = word.length >= 8 && /^[0-9a-f]+$/i.test(word);
    const isLong = word.length >= 20 && digits >= 2 && !/^(?:\p{L}+[-_])+v?\d{1,2}$/u.test(word);
    // A date behind the name of a model or an API is its version.
    const isDated = /^[a-z][a-z\d_-]*[-_]20\d\d-?\d\d-?\d\d$/i.test(word);
    return (digits >= 4 || isHex || isLong) && !isDated ? '<id>' : word;
  });

const rules: readonly Rule[] = [
  [/\b[a-z][a-z\d+.-]{1,20}:\/\/[^\s"'`<>)\]}”’]{1,500}/gi, '<url>'],
  [/\bdata:[a-z]{1,20}\/[^\s"'`<>)\]}”’]{1,500}/gi, '<data>'],
  [/[\p{L}\p{Nd}._%+-]{1,64}@[\p{L}\p{Nd}-]{1,63}(?:\.[\p{L}\p{Nd}-]{1,63}){1,8}/gu, '<email>'],
  [/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi, '<id>'],
  [
    /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:\s?(?:Z|UTC|GMT)|\s?[-+]\d\d:?\d\d)?)?(?![\p{L}\d-])/gu,
    '<time>',
  ],
  [/(?<![\p{L}\d-])\d{1,2}[./]\d{1,2}[./]\d{4}(?!\d)/gu, '<time>'],
  [/(?<!\d)\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:\s?[ap]m\b)?(?![\d:])/gi, '<time>'],
  [/(?<!\d)(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?!\d)/g, '<address>'],
  [
    /(?<![\p{L}\p{Nd}<])(?:~|\.{1,2}|[A-Za-z]:)?(?:[\\/][^\s\\/:"'`<>|,;()[\]{}=]{1,100}){2,40}[\\/]?(?::\d{1,7}){0,2}/gu,
    '<path>',
  ],
  [
    /(?<![\p{L}\p{Nd}<\\/])[\p{L}\p{Nd}_.-]{1,60}(?:[\\/][\p{L}\p{Nd}_.-]{1,60}){1,20}\.[a-z]{1,5}\b(?::\d{1,7}){0,2}/gu,
    '<path>',
  ],
  [/\b0x[\da-f]{1,40}\b/gi, '<id>'],
];

/** Several of the same, one after the other, are as one. */
const runs = /(<[a-z]{1,10}>)(?:(?:,| and|\s){1,3}\1){1,200}/g;

/**
 * A message without ids, numbers, times, paths, URLs, addresses and quoted values. Placeholders stand for them. The
 * statuses of HTTP answers stay.
 *
 * @returns one line of at most 200 characters
 */
export const withoutVariables = (message: string): string => {
  const line = cut(message, maxHeadline)
    .normalize('NFC')
    .replace(unseen, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  const plain = rules.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), line);
  const result = withoutNumbers(withoutIds(withoutQuoted(plain)))
    .replace(runs, '$1')
    .trim();
  return result.length <= maxMessage ? result : `${cut(result, maxMessage - 1)}…`;
};

/** What an exception is grouped by. */
export const toMessage = (exception: string): string => withoutVariables(toHeadline(exception)) || 'error';
