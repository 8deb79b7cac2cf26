import { isIPv4, isIPv6 } from 'node:net';
import { beyondAscii, findInReadings, isEscapeAt, type Range, withoutOverlaps } from './escapes.ts';

/*
 * The built-in rules. One look at each character finds where there may be something: an `@`, a run of
 * digits, a long word. Expressions then look at these places alone. None of them can backtrack over
 * more than a bounded piece, so the time is linear in the text, whatever is in it.
 */

/** What a built-in rule can look for. */
export const builtins = [
  'email',
  'phone',
  'card',
  'iban',
  'ipv4',
  'ipv6',
  'aws_key',
  'private_key',
  'bearer_token',
  'api_key',
] as const;

export type Builtin = (typeof builtins)[number];

/** What a built-in rule has found in a text. */
export interface Span extends Range {
  readonly rule: Builtin;
}

/** Takes what was found. */
type Take = (rule: Builtin, from: number, to: number) => void;

/** Where a text may have something. Pairs are from one unit up to another. */
class Places {
  /** Pairs: long words with a digit, of what keys and tokens are made of. */
  readonly words: number[] = [];
  /** Pairs: many digits, and what may stand between the digits of a number. */
  readonly numbers: number[] = [];
  /** Colons between what may be parts of an address. */
  readonly colons: number[] = [];
  /** Where digits follow upon letters. */
  readonly turns: number[] = [];
  /** Whether there is an `@` or a `%`. */
  hasSign = false;
  hasDash = false;
  /** Whether there is an escape that finders do not know. */
  hasEscape = false;

  clear(): void {
    for (const list of [this.words, this.numbers, this.colons, this.turns]) list.length = 0;
    this.hasSign = false;
    this.hasDash = false;
    this.hasEscape = false;
  }
}

/** Looks at the places that it is about, for some of the rules. */
type Finder = (text: string, places: Places, take: Take, wanted: ReadonlySet<Builtin>) => void;

const word = 1;
const number = 2;
const digit = 4;
const letter = 8;
const colon = 16;
const sign = 32;
const dash = 64;
const dot = 128;
const plus = 256;
const escaping = 512;

/** What each UTF-16 unit may be a part of. */
const kinds = new Uint16Array(0x10000);
for (const [units, kind] of [
  [beyondAscii, escaping],
  ['ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', word | letter],
  ['0123456789', word | number | digit],
  ['_~', word],
  ['=', word | escaping],
  // A space that does not break, and dashes.
  [' ()\u00a0\u2010\u2011\u2012\u2013\u2014\u2015', number],
  ['/', word | number],
  ['.', word | number | dot],
  ['-', word | number | dash],
  ['+', word | number | plus | escaping],
  [':', colon],
  ['@', sign],
  ['%', sign | escaping],
  ['\\&[\u001b', escaping],
] as const)
  for (let at = 0; at < units.length; at++) kinds[units.charCodeAt(at)] = kind;

const kindAt = (text: string, at: number): number => kinds[text.charCodeAt(at)] ?? 0;

const minWord = 16;
/** The fewest digits of a number that is found without and with a `+`, and of an IPv4 address. */
const minDigits = 9;
const minDigitsWithPlus = 8;
const minDigitsOfIpv4 = 4;
const addressUnit = /^[0-9A-Fa-f:]$/;

const scratch = new Places();

/** Looks at each run of alike characters once. What it gives holds until the next text. */
const placesIn = (text: string): Places => {
  const places = scratch;
  places.clear();
  let wordFrom = -1;
  let wordHasDigit = false;
  let numberFrom = -1;
  let digits = 0;
  let dots = 0;
  let hasPlus = false;
  let before = 0;
  let all = 0;
  let hasEscape = false;
  const { length } = text;
  for (let at = 0; at <= length; ) {
    const from = at;
    const kind = from < length ? kindAt(text, from) : 0;
    at++;
    while (at < length && kindAt(text, at) === kind) at++;
    all |= kind;
    if (kind & word) {
      if (wordFrom < 0) wordFrom = from;
      if (kind & digit) wordHasDigit = true;
    } else if (wordFrom >= 0) {
      if (wordHasDigit && from - wordFrom >= minWord) places.words.push(wordFrom, from);
      wordFrom = -1;
      wordHasDigit = false;
    }
    if (kind & number) {
      if (numberFrom < 0) numberFrom = from;
      if (kind & digit) {
        digits += at - from;
        if (before & letter) places.turns.push(from);
      } else if (kind & dot) dots++;
      else if (kind & plus) hasPlus = true;
    } else if (numberFrom >= 0) {
      const least = dots > 2 ? minDigitsOfIpv4 : hasPlus ? minDigitsWithPlus : minDigits;
      if (digits >= least) places.numbers.push(numberFrom, from);
      numberFrom = -1;
      digits = 0;
      dots = 0;
      hasPlus = false;
    }
    if (kind & colon && addressUnit.test(text.charAt(at)) && at - from < 3) places.colons.push(from);
    if (kind & escaping && !hasEscape)
      for (let unit = from; unit < at && !hasEscape; unit++) hasEscape = isEscapeAt(text, unit);
    before = kind;
  }
  places.hasSign = (all & sign) !== 0;
  places.hasDash = (all & dash) !== 0;
  places.hasEscape = hasEscape;
  return places;
};

/** Calls back for each pair of places. */
const eachRange = (pairs: readonly number[], look: (from: number, to: number) => void): void => {
  for (let i = 0; i < pairs.length; i += 2) look(pairs[i] ?? 0, pairs[i + 1] ?? 0);
};

/** What is joined by `_` are words of their own: `key_AKIA...`. */
const wordUnit = /^[0-9A-Za-z]$/;
const escapeUnit = /^[nrtbf]$/;
/** C, Python and Go have some more. */
const rareEscapeUnit = /^[nrtbfav0]$/;

/** Whether a unit is the letter of an escape: JSON inside of a text has line breaks as `\n`. */
const isEscaped = (text: string, at: number): boolean =>
  text.charAt(at - 1) === '\\' && escapeUnit.test(text.charAt(at));

/** Whether something may begin here: not in the middle of a word. */
const begins = (text: string, at: number): boolean =>
  !wordUnit.test(text.charAt(at - 1)) ||
  (text.charAt(at - 2) === '\\' && rareEscapeUnit.test(text.charAt(at - 1)));

/** Whether something may end here: not in the middle of a word. */
const ends = (text: string, at: number): boolean => !wordUnit.test(text.charAt(at));

/** The match of a sticky expression at a place; undefined without one. */
const matchAt = (expression: RegExp, text: string, at: number): string | undefined => {
  expression.lastIndex = at;
  return expression.exec(text)?.[0];
};

// E-mail addresses.

const maxLocal = 64;
const localUnit = /^[\p{L}\p{N}\p{M}._%+'-]$/u;
const domainText = /[\p{L}\p{N}\p{M}.-]{4,255}/uy;
/** Labels with a dot after each, and a last one of letters. A version such as `1.2.3` has none. */
const domain = /^(?!v?\d+\.\d)(?:[\p{L}\p{N}\p{M}-]+\.)+(?:xn--[a-z0-9-]{2,59}|[\p{L}\p{M}]{2,63})/iu;

/** The beginning of the local part before an `@`; the place of the `@` if there is none. */
const localStart = (text: string, at: number): number => {
  let from = at;
  while (from > 0 && at - from < maxLocal && localUnit.test(text.charAt(from - 1))) from--;
  if (isEscaped(text, from)) from++;
  while (from < at && /^[.%'-]$/.test(text.charAt(from))) from++;
  return from;
};

const addressesAround = (text: string, sign: string, take: Take): void => {
  for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) {
    const from = localStart(text, at);
    if (from === at) continue;
    const after = at + sign.length;
    const found = domain.exec(matchAt(domainText, text, after) ?? '')?.[0];
    if (found !== undefined) take('email', from, after + found.length);
  }
};

const findEmails: Finder = (text, { hasSign }, take) => {
  if (!hasSign) return;
  addressesAround(text, '@', take);
  // As a part of a URL.
  addressesAround(text, '%40', take);
};

// Cards, phones and IPv4 addresses: groups of digits.

/** A group of digits, and what is between it and the one before. */
interface Group {
  readonly from: number;
  readonly to: number;
  readonly digits: string;
  /** The text before it, up to the group before; empty for the first. */
  readonly before: string;
}

const digitGroup = /\d+/g;

const splitGroups = (text: string, from: number): Group[] => {
  const groups: Group[] = [];
  let last = 0;
  for (const { 0: digits, index } of text.matchAll(digitGroup)) {
    const to = index + digits.length;
    const before = groups.length === 0 ? '' : text.slice(last, index);
    groups.push({ from: from + index, to: from + to, digits, before });
    last = to;
  }
  return groups;
};

/** The check digit of payment cards (ISO/IEC 7812-1). */
const passesLuhn = (digits: string): boolean => {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48;
    const doubled = i % 2 === 0 ? digit : 2 * digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
};

/** The numbers that issuers of cards have: their first digits, and how long they are. */
const issuers: readonly (readonly [prefix: RegExp, lengths: readonly number[]])[] = [
  [/^4/, [13, 16, 19]],
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]],
  [/^3[47]/, [15]],
  [/^(?:6011|64[4-9]|65)/, [16, 19]],
  [/^35(?:2[89]|[3-8])/, [16]],
  [/^(?:30[0-5]|3095|36|38|39)/, [14]],
  [/^62/, [16, 17, 18, 19]],
  [/^(?:50[12]|5[6-8]|6304|6759|676[1-3])/, [16, 18, 19]],
  [/^220[0-4]/, [16]],
];

/** Whether digits are the number of a payment card: an issuer's, with the right check digit. */
export const isCard = (digits: string): boolean =>
  issuers.some(([prefix, lengths]) => lengths.includes(digits.length) && prefix.test(digits)) &&
  passesLuhn(digits);

const maxCardDigits = 19;
const cardSeparator = /^[ +\-\u00a0\u2010-\u2015]$/;

/** Where the card that begins with a group ends; undefined if none does. */
const cardEnd = (groups: readonly Group[], start: number): number | undefined => {
  let digits = '';
  for (let i = start; i < groups.length; i++) {
    const group = groups[i];
    if (!group) return undefined;
    const isFirst = i === start;
    if (!isFirst && !cardSeparator.test(group.before)) return undefined;
    // Numbers in a row are no card that somebody wrote in groups.
    if (isFirst && group.digits.length !== 4 && group.digits.length < 13) return undefined;
    if (!isFirst && (group.digits.length > 7 || group.digits.length < 1)) return undefined;
    digits += group.digits;
    if (digits.length > maxCardDigits) return undefined;
    const next = groups[i + 1];
    const isJoined = next !== undefined && cardSeparator.test(next.before) && next.before !== ' ';
    if (!isJoined && isCard(digits)) return group.to;
  }
  return undefined;
};

const plainSeparator = /^[ .\-/\u00a0\u2010-\u2015]$/;
/** What may stand between the groups of a phone's number. */
const phoneSeparator = /^(?:[ .\-/\u00a0\u2010-\u2015]|\)|[ ]\(|\)[ \-/]|[ ]?\(0\)[ ]?)$/;

/** The groups of one number: they follow each other, with a separator of phones between. */
const phoneGroups = (groups: readonly Group[], start: number, maxDigits: number): Group[] => {
  const taken: Group[] = [];
  let digits = 0;
  for (let i = start; i < groups.length; i++) {
    const group = groups[i];
    if (!group || (i > start && !phoneSeparator.test(group.before))) break;
    digits += group.digits.length;
    if (digits > maxDigits) break;
    taken.push(group);
  }
  return taken;
};

const joinLengths = (groups: readonly Group[]): string => groups.map(({ digits }) => digits.length).join('-');
const joinDigits = (groups: readonly Group[]): string => groups.map(({ digits }) => digits).join('');

const areaCode = /^[2-9]\d\d$/;

/** Whether groups are a number of North America: 415-555-2671, (415) 555-2671, 1-800-555-0199. */
const isNorthAmerican = (groups: readonly Group[]): boolean => {
  const own = groups[0]?.digits === '1' ? groups.slice(1) : groups;
  return joinLengths(own) === '3-3-4' && own.slice(0, 2).every(({ digits }) => areaCode.test(digits));
};

/** How a date begins: 01-02-2026, 1.2.26. */
const isDate = ([first, second, third]: readonly Group[]): boolean =>
  first !== undefined &&
  second !== undefined &&
  third !== undefined &&
  first.digits.length <= 2 &&
  second.digits.length <= 2 &&
  /^(?:19|20)\d\d$/.test(third.digits);

/** The digits of an international number (E.164), of one after `00`, and of a national one. */
const maxInternational = 15;
const maxAfterZeros = 17;
const maxNational = 12;

/** Where an international number ends: +49 30 901820, 0049 30 901820. */
const internationalEnd = (text: string, groups: readonly Group[], start: number): number | undefined => {
  const first = groups[start];
  if (!first) return undefined;
  const plus = [first.from - 1, first.from - 2].find((at) => text.charAt(at) === '+');
  if (plus !== undefined) {
    if (first.digits.startsWith('0') || !begins(text, plus)) return undefined;
    const taken = phoneGroups(groups, start, maxInternational);
    return joinDigits(taken).length >= (taken.length > 1 ? 8 : 9) ? taken.at(-1)?.to : undefined;
  }
  if (start > 0 || !/^00[1-9]/.test(first.digits) || !begins(text, first.from)) return undefined;
  const taken = phoneGroups(groups, start, maxAfterZeros);
  return taken.length > 1 && joinDigits(taken).length >= 11 ? taken.at(-1)?.to : undefined;
};

/** Whether groups are a number with a leading zero, or with its area in brackets. */
const isNational = (groups: readonly Group[], inBrackets: boolean): boolean => {
  const [first, second] = groups;
  const { length } = joinDigits(groups);
  if (!first || first.digits.length < 2 || length < 9 || length > 11) return false;
  const isYear = /^(?:19|20)\d\d$/.test(first.digits);
  if (inBrackets && second?.before.startsWith(')') && !isYear) return true;
  return /^0[1-9]/.test(first.digits) && !isDate(groups);
};

/** How a national number begins, without brackets: with a zero, or as in North America. */
const nationalHead = /^(?:0[1-9]\d*|1|[2-9]\d\d)$/;

/** Where a national number ends. */
const nationalEnd = (text: string, groups: readonly Group[], start: number): number | undefined => {
  const first = groups[start];
  if (!first) return undefined;
  const inBrackets = text.charAt(first.from - 1) === '(';
  if (!inBrackets && !nationalHead.test(first.digits)) return undefined;
  if (first.digits === '1' && groups[start + 1]?.digits.length !== 3) return undefined;
  // The seconds of a time: `04:07:07.315014 00`.
  if (/\d:$/.test(text.slice(Math.max(0, first.from - 2), first.from))) return undefined;
  if (!begins(text, inBrackets ? first.from - 1 : first.from)) return undefined;
  for (let taken = phoneGroups(groups, start, maxNational); taken.length > 1; taken = taken.slice(0, -1)) {
    const next = groups[start + taken.length];
    // A longer number that is joined by the same signs is something else.
    if (next && plainSeparator.test(next.before) && next.before !== ' ') continue;
    if (isNational(taken, inBrackets) || isNorthAmerican(taken)) return taken.at(-1)?.to;
  }
  return undefined;
};

/** Where the address that begins with a group ends; undefined if none does. */
const ipv4End = (text: string, groups: readonly Group[], start: number): number | undefined => {
  const four = groups.slice(start, start + 4);
  const [first] = four;
  const last = four.at(-1);
  if (four.length < 4 || !first || !last) return undefined;
  if (!four.slice(1).every(({ before }) => before === '.')) return undefined;
  if (groups[start + 4]?.before === '.' || !isIPv4(text.slice(first.from, last.to))) return undefined;
  // `Chrome/120.0.0.0` is the version of a product.
  return /[A-Za-z]\/$/.test(text.slice(Math.max(0, first.from - 2), first.from)) ? undefined : last.to;
};

/** Where what begins with a group ends, and what it is. */
const numberAt = (
  text: string,
  groups: readonly Group[],
  start: number,
  wanted: ReadonlySet<Builtin>,
): readonly [rule: Builtin, from: number, to: number] | undefined => {
  const first = groups[start];
  if (!first) return undefined;
  const isInside = first.before !== '' && first.before !== ' ' && !/[ (+]$/.test(first.before);
  const startsPlainly = !isInside && begins(text, first.from) && !/\.$/.test(text.charAt(first.from - 1));
  const found = (rule: Builtin, from: number, to: number | undefined) =>
    to !== undefined && wanted.has(rule) && ends(text, to) ? ([rule, from, to] as const) : undefined;
  const opening = /^[+(]+$/.exec(text.slice(Math.max(0, first.from - 2), first.from).replace(/^[^+(]/, ''));
  return (
    (startsPlainly
      ? (found('card', first.from, cardEnd(groups, start)) ??
        found('ipv4', first.from, ipv4End(text, groups, start)))
      : undefined) ??
    (isInside
      ? undefined
      : found(
          'phone',
          first.from - (opening?.[0].length ?? 0),
          internationalEnd(text, groups, start) ?? nationalEnd(text, groups, start),
        ))
  );
};

const findNumbers: Finder = (text, { numbers }, take, wanted) =>
  eachRange(numbers, (from, to) => {
    const groups = splitGroups(text.slice(from, to), from);
    for (let i = 0; i < groups.length; ) {
      const found = numberAt(text, groups, i, wanted);
      if (found) take(...found);
      const next = found ? found[2] : 0;
      do i++;
      while ((groups[i]?.from ?? next) < next);
    }
  });

// IPv6 addresses.

const maxIpv6 = 45;
const dottedText = /(?:\.\d{1,3}){3}/y;

/** Whether an address is more than a part of a program: `a::b`, `[1::2]`. */
const tellsMore = (address: string): boolean =>
  !address.includes('::') ||
  /^::ffff:\d+\./i.test(address) ||
  (/^[\da-f]{3}/i.test(address) && /\d/.test(address));

const hexText = /[0-9A-Fa-f:]+/y;
const hexUnit = /^[0-9A-Fa-f]$/;

const findIpv6: Finder = (text, { colons }, take) => {
  let looked = 0;
  for (const at of colons) {
    if (at < looked) continue;
    let from = at;
    while (from > looked && at - from < 5 && hexUnit.test(text.charAt(from - 1))) from--;
    if (isEscaped(text, from)) from++;
    looked = from + (matchAt(hexText, text, from)?.length ?? 0);
    let to = looked;
    // The last part may be in the form of version 4. A colon at the end belongs to the sentence.
    if (text.charAt(to) === '.') to += matchAt(dottedText, text, to)?.length ?? 0;
    if (text.charAt(to - 1) === ':' && text.charAt(to - 2) !== ':') to--;
    if (to - from > maxIpv6 || !begins(text, from) || !ends(text, to)) continue;
    const address = text.slice(from, to);
    if (tellsMore(address) && isIPv6(address)) take('ipv6', from, to);
  }
};

// IBANs (ISO 13616).

/** How long the IBANs of each country are. */
const ibanLengths: Readonly<Record<string, number>> = Object.fromEntries(
  'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

const ibanHead = /(?:[A-Z]{2}|[a-z]{2})\d{2}/y;
const ibanUnit = /^[A-Za-z0-9]$/;
const ibanSeparator = /^[ +\-\u00a0]$/;

/** Whether the remainder of an IBAN, whose first four characters belong at its end, is 1. */
export const passesMod97 = (iban: string): boolean => {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4))
    for (const digit of String(Number.parseInt(character, 36))) rest = (rest * 10 + Number(digit)) % 97;
  return rest === 1;
};

const findIbans: Finder = (text, { turns }, take) => {
  for (const turn of turns) {
    const index = turn - 2;
    const head = index < 0 ? undefined : matchAt(ibanHead, text, index);
    const length = ibanLengths[head?.slice(0, 2).toUpperCase() ?? ''];
    if (length === undefined || !begins(text, index)) continue;
    let iban = '';
    let at = index;
    for (; iban.length < length && at < text.length; at++) {
      const unit = text.charAt(at);
      if (ibanUnit.test(unit)) iban += unit.toUpperCase();
      else if (!ibanSeparator.test(unit) || !ibanUnit.test(text.charAt(at + 1))) break;
    }
    if (iban.length === length && ends(text, at) && passesMod97(iban)) take('iban', index, at);
  }
};

// Keys and tokens.

const keyBegin = '-----BEGIN';
const keyHead = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;
const keyEnd = '-----END';

/** A private key in PEM. One that is cut off goes on to the end of the text. */
const findPrivateKeys: Finder = (text, { hasDash }, take) => {
  if (!hasDash) return;
  for (let at = text.indexOf(keyBegin); at >= 0; at = text.indexOf(keyBegin, at + 1)) {
    const head = matchAt(keyHead, text, at);
    if (head === undefined) continue;
    const end = text.indexOf(keyEnd, at + head.length);
    const dashes = end < 0 ? -1 : text.indexOf('-----', end + keyEnd.length);
    const to = dashes < 0 ? text.length : dashes + 5;
    take('private_key', at, to);
    at = to - 1;
  }
};

const awsHead = /A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}|(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)[A-Za-z0-9/+=]{50,}/g;
/** The secret half of a key has no form of its own, so it is known by the name before it. */
const awsSecret = /secret_?(?:access_?)?key[\\"'\s:=>]{1,12}([A-Za-z0-9/+]{40})/gi;

/** The least and the most characters of a field that has the secret half of a key and little else. */
const minSecret = 40;
const maxSecret = 200;
const secretName = /secret_?(?:access_?)?key/i;
const secretValue = /(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/g;

/** The secret halves of AWS keys in a field, by its name and their form. */
export const awsSecretsIn = (key: string, value: string): readonly Range[] => {
  if (value.length < minSecret || value.length > maxSecret || !secretName.test(key)) return [];
  return findInReadings(value, (text) =>
    Array.from(text.matchAll(secretValue), ({ 0: secret, index }) => ({
      from: index,
      to: index + secret.length,
    })),
  );
};

/** How far before a word the name of what it is may begin. */
const contextUnits = 40;

const findAwsKeys: Finder = (text, { words }, take) =>
  eachRange(words, (from, to) => {
    if (to - from < 20) return;
    for (const { 0: key, index } of text.slice(from, to).matchAll(awsHead)) {
      const end = from + index + key.length;
      if (begins(text, from + index) && !/^[A-Za-z0-9]$/.test(text.charAt(end)))
        take('aws_key', from + index, end);
    }
    if (to - from < 40) return;
    const start = Math.max(0, from - contextUnits);
    for (const { 0: whole, 1: secret = '', index } of text.slice(start, to).matchAll(awsSecret)) {
      const end = start + index + whole.length;
      if (!/^[A-Za-z0-9/+=]$/.test(text.charAt(end))) take('aws_key', end - secret.length, end);
    }
  });

const scheme = /(?:bearer|basic)\s{1,4}$/i;
/** Parts of a JSON Web Token: the least that its first two have, and how many there are after the first. */
const tokenHead = 'eyJ';
const minTokenPart = 8;
const minFurther = 2;
const maxFurther = 4;
const tokenUnit = /^[\w-]$/;
const tokenUnits = /^[\w-]*/;

/** Where a token begins in the part of a word before a dot; -1 if none does. */
const tokenStart = (text: string, from: number, part: string): number => {
  let run = part.length;
  while (run > 0 && tokenUnit.test(part.charAt(run - 1))) run--;
  const last = part.length - minTokenPart - tokenHead.length;
  for (let at = part.indexOf(tokenHead, run); at >= 0 && at <= last; at = part.indexOf(tokenHead, at + 1))
    if (begins(text, from + at)) return from + at;
  return -1;
};

/** JSON Web Tokens: parts of a word with dots between. Each is looked at a few times, whatever it has. */
const findWebTokens = (text: string, from: number, to: number, take: Take): void => {
  const parts = text.slice(from, to).split('.');
  let at = from;
  for (const [i, part] of parts.entries()) {
    const start = tokenStart(text, at, part);
    at += part.length + 1;
    if (start < 0) continue;
    let end = at - 1;
    let further = 0;
    for (const next of parts.slice(i + 1, i + 1 + maxFurther)) {
      const run = tokenUnits.exec(next)?.[0].length ?? 0;
      if (further === 0 && run < minTokenPart) break;
      further++;
      end += 1 + run;
      if (run < next.length) break;
    }
    if (further >= minFurther) take('bearer_token', start, end);
  }
};

/** What follows `Bearer` or `Basic`, and JSON Web Tokens wherever they are. */
const findTokens: Finder = (text, { words }, take) =>
  eachRange(words, (from, to) => {
    const head = scheme.exec(text.slice(Math.max(0, from - 12), from));
    // A word without a digit is more likely the rest of a sentence.
    if (head && begins(text, from - head[0].length) && /[\d=]/.test(text.slice(from, to)))
      take('bearer_token', from, to);
    findWebTokens(text, from, to, take);
  });

/** The keys of common services, by how they begin. */
const keyForms: readonly string[] = [
  // OpenAI, Anthropic, OpenRouter, Langfuse and others.
  '[ps]k-[A-Za-z0-9_-]{20,}',
  // Stripe.
  '(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}',
  'whsec_[A-Za-z0-9+/=]{20,}',
  // GitHub and GitLab.
  'gh[pousr]_[A-Za-z0-9]{30,}',
  'github_pat_[A-Za-z0-9_]{22,}',
  'gl(?:pat|dt|rt|ptt|soat|cbt)-[A-Za-z0-9_-]{20,}',
  // Slack.
  'xox[abeoprs]-[A-Za-z0-9-]{10,}',
  'xapp-[A-Za-z0-9-]{10,}',
  'hooks\\.slack\\.com/services/[A-Za-z0-9/]{20,}',
  // Google.
  'AIza[A-Za-z0-9_-]{35}',
  'ya29\\.[A-Za-z0-9_-]{20,}',
  'GOCSPX-[A-Za-z0-9_-]{20,}',
  // Models and what is around them.
  'hf_[A-Za-z0-9]{30,}',
  'gsk_[A-Za-z0-9]{40,}',
  'xai-[A-Za-z0-9]{40,}',
  'pplx-[A-Za-z0-9]{40,}',
  'r8_[A-Za-z0-9]{30,}',
  'fw_[A-Za-z0-9]{20,}',
  'tvly-[A-Za-z0-9-]{20,}',
  'lsv2_(?:pt|sk)_[A-Za-z0-9_]{30,}',
  // Others that agents use.
  'npm_[A-Za-z0-9]{36}',
  'pypi-[A-Za-z0-9_-]{50,}',
  'SG\\.[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}',
  'SK[0-9a-f]{32}',
  'dapi[0-9a-f]{32}',
  'dop_v1_[0-9a-f]{64}',
  'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}',
  'hvs\\.[A-Za-z0-9_-]{24,}',
  'ntn_[A-Za-z0-9]{40,}',
  'lin_api_[A-Za-z0-9]{30,}',
  'sbp_[0-9a-f]{40}',
  // This service's own.
  '(?:svc|weave)_[0-9a-z]{16}_[0-9a-f]{64}',
];

const apiKey = new RegExp(keyForms.join('|'), 'g');

const findApiKeys: Finder = (text, { words }, take) =>
  eachRange(words, (from, to) => {
    if (to - from < 15) return;
    for (const { 0: key, index } of text.slice(from, to).matchAll(apiKey))
      if (begins(text, from + index) && /\d/.test(key))
        take('api_key', from + index, from + index + key.length);
  });

/** Each finder with what it looks for. One that finds something wins over those below it. */
const finders: readonly (readonly [rules: readonly Builtin[], find: Finder])[] = [
  [['private_key'], findPrivateKeys],
  [['api_key'], findApiKeys],
  [['bearer_token'], findTokens],
  [['aws_key'], findAwsKeys],
  [['email'], findEmails],
  [['iban'], findIbans],
  [['card', 'phone', 'ipv4'], findNumbers],
  [['ipv6'], findIpv6],
];

/** Ids that are nothing else: UUIDs, and trace ids of OpenTelemetry. */
const plainId = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$|^[0-9a-f]{32}$/;

/** Makes what looks through texts for some of the built-in rules. It gives what it finds in order. */
export const createFinder = (wanted: ReadonlySet<Builtin>): ((text: string) => readonly Span[]) => {
  const needed = finders.filter(([rules]) => rules.some((rule) => wanted.has(rule)));
  const findIn = (text: string, places: Places): readonly Span[] => {
    const spans: Span[] = [];
    const take: Take = (rule, from, to) => {
      spans.push({ rule, from, to });
    };
    for (const [, find] of needed) find(text, places, take, wanted);
    return spans;
  };
  return (text) => {
    if ((text.length === 36 || text.length === 32) && plainId.test(text)) return [];
    const places = placesIn(text);
    return places.hasEscape
      ? findInReadings(text, (reading) => findIn(reading, placesIn(reading)))
      : withoutOverlaps(findIn(text, places));
  };
};
