import { isIPv4, isIPv6 } from 'node:net';

/*
 * The formats of JSON Schema that texts are checked for. Each takes time in proportion to the text,
 * whatever the text: the validator's own take exponential time for some texts.
 * docs/decisions/0250 says why there are no others.
 */

/** Whether a text has a format. */
type Format = (text: string) => boolean;

const dateForm = /^(\d{4})-(\d{2})-(\d{2})$/;
const timeForm = /^(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,30})?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

const isDate: Format = (text) => {
  const [, year, month, day] = (dateForm.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  // Day 0 of a month is the last one of the month before. In 400 years leap years come again.
  const days = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
  return month >= 1 && month <= 12 && day >= 1 && day <= days;
};

/** A leap second is the last one of a day of UTC. */
const isTime: Format = (text) => {
  const [, hour, minute, second, sign, offHour = '0', offMinute = '0'] = timeForm.exec(text) ?? [];
  const [h, m, s, oh, om] = [hour, minute, second, offHour, offMinute].map(Number);
  if (h === undefined || m === undefined || s === undefined || oh === undefined || om === undefined)
    return false;
  const offset = (sign === '-' ? -1 : 1) * (oh * 60 + om);
  const ofDay = (h * 60 + m - offset + 2880) % 1440;
  return h <= 23 && m <= 59 && oh <= 23 && om <= 59 && (s <= 59 || (s === 60 && ofDay === 1439));
};

const isDateTime: Format = (text) =>
  isDate(text.slice(0, 10)) && /^[Tt ]/.test(text[10] ?? '') && isTime(text.slice(11));

const durationForm =
  /^P(?!$)(?:\d{1,20}W|(?:\d{1,20}Y)?(?:\d{1,20}M)?(?:\d{1,20}D)?(?:T(?=\d)(?:\d{1,20}H)?(?:\d{1,20}M)?(?:\d{1,20}(?:\.\d{1,20})?S)?)?)$/;

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

const isHostname: Format = (text) => text.length <= 253 && text.split('.').every((part) => label.test(part));

/** An address without a zone, which names an interface of one machine. */
const isIpv6: Format = (text) => isIPv6(text) && !text.includes('%');

/** An address between brackets, as URLs and mail addresses have it. */
const isBracketed = (text: string, isAddress: Format): boolean =>
  text.startsWith('[') && text.endsWith(']') && isAddress(text.slice(1, -1));

const localForm = /^[a-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}$/i;
const quotedForm = /^"(?:[ !#-[\]-~]|\\[ -~]){0,62}"$/;

const isLocalPart: Format = (text) =>
  quotedForm.test(text) ||
  (localForm.test(text) && !text.startsWith('.') && !text.endsWith('.') && !text.includes('..'));

const isMailAddress: Format = (text) => {
  const at = text.lastIndexOf('@');
  const host = text.slice(at + 1);
  const isHost =
    isHostname(host) ||
    isBracketed(host, (address) => isIPv4(address) || (/^ipv6:/i.test(address) && isIpv6(address.slice(5))));
  return at > 0 && isHost && isLocalPart(text.slice(0, at));
};

const uriForm = /^[a-z][a-z0-9+.-]{0,99}:[\w.~:/?#[\]@!$&'()*+,;=%-]*$/i;

/** RFC 3986's characters, a scheme before them, and at most one fragment. */
const isUri: Format = (text) =>
  uriForm.test(text) && !/%(?![0-9a-f]{2})/i.test(text) && text.indexOf('#') === text.lastIndexOf('#');

/** A URI of the web, with a host. */
const isUrl: Format = (text) => {
  const scheme = /^(?:https?|ftp):\/\//i.exec(text)?.[0];
  if (scheme === undefined || !isUri(text)) return false;
  const end = text.slice(scheme.length).search(/[/?#]/);
  const authority = end < 0 ? text.slice(scheme.length) : text.slice(scheme.length, scheme.length + end);
  const hostAndPort = authority.slice(authority.lastIndexOf('@') + 1);
  const host = hostAndPort.replace(/:\d{1,5}$/, '');
  return isHostname(host) || isBracketed(host, isIpv6);
};

/** The formats that there are. A schema with another one is refused. */
export const formats: Readonly<Record<string, Format>> = {
  'date-time': isDateTime,
  date: isDate,
  time: isTime,
  duration: (text) => durationForm.test(text),
  email: isMailAddress,
  hostname: isHostname,
  ipv4: isIPv4,
  ipv6: isIpv6,
  uri: isUri,
  url: isUrl,
  uuid: (text) => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text),
};
