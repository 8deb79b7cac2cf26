/*
 * How secrets are written into other texts: each sign that can stand beside one, in each way of
 * escaping that programs have.
 */

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0');
const units = (text: string): number[] => Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));
const bytes = (text: string): number[] => [...Buffer.from(text, 'utf8')];
const writeAll = (codes: readonly number[], write: (code: number) => string): string =>
  codes.map(write).join('');

/** Ways to write a sign, by their names. Those that cannot write it leave it as it is. */
export const encoders: Readonly<Record<string, (sign: string) => string>> = {
  plain: (sign) => sign,
  json: (sign) => writeAll(units(sign), (code) => `\\u${hex(code, 4)}`),
  'json in capitals': (sign) => writeAll(units(sign), (code) => `\\u${hex(code, 4).toUpperCase()}`),
  'json in json': (sign) => writeAll(units(sign), (code) => `\\\\u${hex(code, 4)}`),
  'json in json in json': (sign) => writeAll(units(sign), (code) => `\\\\\\\\u${hex(code, 4)}`),
  'short json': (sign) => JSON.stringify(sign).slice(1, -1),
  'short json in json': (sign) => JSON.stringify(JSON.stringify(sign).slice(1, -1)).slice(1, -1),
  braces: (sign) => writeAll(units(sign), (code) => `\\u{${code.toString(16)}}`),
  'long python': (sign) => writeAll(units(sign), (code) => `\\U${hex(code, 8)}`),
  'python bytes': (sign) => writeAll(bytes(sign), (code) => `\\x${hex(code, 2)}`),
  'python text': (sign) =>
    writeAll(units(sign), (code) => (code < 256 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`)),
  octal: (sign) => writeAll(bytes(sign), (code) => `\\${code.toString(8).padStart(3, '0')}`),
  url: (sign) => writeAll(bytes(sign), (code) => `%${hex(code, 2).toUpperCase()}`),
  'url in small letters': (sign) => writeAll(bytes(sign), (code) => `%${hex(code, 2)}`),
  'url in url': (sign) => writeAll(bytes(sign), (code) => `%25${hex(code, 2).toUpperCase()}`),
  'url in url in url': (sign) => writeAll(bytes(sign), (code) => `%2525${hex(code, 2).toUpperCase()}`),
  'html decimal': (sign) => writeAll(units(sign), (code) => `&#${code};`),
  'html hexadecimal': (sign) => writeAll(units(sign), (code) => `&#x${hex(code, 2).toUpperCase()};`),
  'html in html': (sign) => writeAll(units(sign), (code) => `&amp;#${code};`),
  'html in json': (sign) => writeAll(units(sign), (code) => `\\u0026#${code};`),
  'json in url': (sign) => writeAll(units(sign), (code) => `%5Cu${hex(code, 4)}`),
  'json in html': (sign) => writeAll(units(sign), (code) => `&#92;u${hex(code, 4)}`),
  'url in json': (sign) => writeAll(bytes(sign), (code) => `\\u0025${hex(code, 2).toUpperCase()}`),
};

/** What can stand beside a secret without being a part of it. */
export const signs: readonly string[] = [
  '"',
  "'",
  '<',
  '>',
  '&',
  ' ',
  '\n',
  '\t',
  '\r\n',
  ';',
  ',',
  '{',
  '|',
  '`',
  '\\',
  '*',
  '!',
  '?',
  '\u201c',
  '\u201d',
  '\u00ab',
  '\u00a0',
  '\u2003',
  '\u2028',
  '\u3000',
  '\u2026',
  '\ufffd',
  '\u20ac',
  // Colours, and signs that nobody sees.
  '\u001b[31m',
  '\u001b[1;38;5;196m',
  '\u001b[0m',
  '\u001b(B',
  '\u001b[K',
  '\u009b1m',
  '\u200b',
  '\u200d',
  '\u2060',
  '\ufeff',
  '\u00ad',
  '\u202e',
  '\ufe0f',
];

/** What else stands beside secrets: escapes of other kinds, what is left of one, markup, names. */
export const literals: readonly string[] = [
  '_',
  '__',
  '\\n',
  '\\\\n',
  '\\t',
  '\\"',
  '\\\\\\"',
  '[31m',
  '[01;31m[K',
  '[2K',
  '^[[0m',
  '\\e[32m',
  '\\033[32m',
  '\\x1b[32m',
  '&quot;',
  '&lt;',
  '&amp;',
  '&nbsp;',
  '&apos;',
  '&amp;quot;',
  '<b>',
  '](',
  '=20=\n',
];

/** Ways to write a whole text into another one. */
export const containers: Readonly<Record<string, (text: string) => string>> = {
  'JSON.stringify': (text) => JSON.stringify(text),
  'JSON in JSON': (text) => JSON.stringify(JSON.stringify(text)),
  'JSON in JSON in JSON': (text) => JSON.stringify(JSON.stringify(JSON.stringify(text))),
  'JSON of PHP': (text) => JSON.stringify(text).replaceAll('/', '\\/'),
  'JSON of Gson': (text) =>
    JSON.stringify(text).replaceAll(/[<>&='/]/g, (sign) => `\\u${hex(sign.charCodeAt(0), 4)}`),
  'JSON in small letters only': (text) =>
    JSON.stringify(text).replaceAll(/[^\w"\\]/g, (sign) => `\\u${hex(sign.charCodeAt(0), 4)}`),
  encodeURIComponent,
  'encodeURIComponent twice': (text) => encodeURIComponent(encodeURIComponent(text)),
  'every sign of a URL': (text) =>
    text.replaceAll(/[^\w]/g, (sign) => `%${hex(sign.charCodeAt(0), 2).toUpperCase()}`),
  'a form': (text) => new URLSearchParams({ q: `x ${text}` }).toString(),
  HTML: (text) => text.replaceAll(/[&<>"'/=`+@]/g, (sign) => `&#x${hex(sign.charCodeAt(0), 2)};`),
  'HTML in JSON': (text) =>
    JSON.stringify(text.replaceAll(/[&<>"'/=`+@]/g, (sign) => `&#${sign.charCodeAt(0)};`)),
  'HTML with named signs': (text) =>
    text
      .replaceAll('@', '&commat;')
      .replaceAll(' ', '&nbsp;')
      .replaceAll('+', '&plus;')
      .replaceAll('=', '&equals;'),
  'quoted-printable': (text) => text.replaceAll('=', '=3D').replaceAll(/(.{20})(?=.)/g, '$1=\r\n'),
  'wide spaces': (text) => text.replaceAll(' ', '\u2009'),
  'wide digits': (text) =>
    text.replaceAll(/[0-9]/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0)),
  'a sign that nobody sees within': (text) => `${text.slice(0, -4)}\u200b${text.slice(-4)}`,
  'a color within': (text) => `${text.slice(0, -4)}\u001b[1m${text.slice(-4)}\u001b[0m`,
};
