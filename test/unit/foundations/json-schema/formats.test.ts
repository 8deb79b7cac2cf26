import { describe, expect, it } from 'vitest';
import { formats } from '../../../../foundations/json-schema/formats.ts';

const samples: Readonly<Record<string, readonly [good: readonly string[], bad: readonly string[]]>> = {
  'date-time': [
    [
      '2026-10-01T09:30:00Z',
      '2026-10-01t09:30:00.123456+05:30',
      '2024-02-29 00:00:00z',
      '2016-12-31T23:59:60Z',
    ],
    [
      '2026-10-01',
      '2026-10-01T09:30:00',
      '2026-13-01T00:00:00Z',
      '2026-10-01T24:00:00Z',
      '2026-10-01T12:00:60Z',
    ],
  ],
  date: [
    ['2026-10-01', '2024-02-29', '2000-02-29'],
    ['2026-2-1', '2023-02-29', '1900-02-29', '2026-04-31', '2026-00-10', '2026-10-00', ''],
  ],
  time: [
    ['09:30:00Z', '09:30:00.5-08:00', '15:59:60-08:00'],
    ['09:30Z', '09:30:00', '9:30:00Z', '09:60:00Z'],
  ],
  duration: [
    ['P1Y2M3DT4H5M6S', 'P2W', 'PT1.5S', 'P1D'],
    ['P', 'PT', '1D', 'P1D2W', 'PT1D', 'P1H'],
  ],
  email: [
    ['a@b', 'ada.l+x@example.org', '"a b"@example.org', 'a@[127.0.0.1]', 'a@[IPv6:::1]'],
    ['a', '@b', 'a@', '.a@b', 'a..b@c', 'a b@c', 'a@-b', `${'a'.repeat(65)}@b`],
  ],
  hostname: [
    ['a', 'example.org', 'xn--bcher-kva.example', 'a-b.c'],
    ['', '-a', 'a-', 'a..b', 'a_b', `${'a'.repeat(64)}`],
  ],
  ipv4: [
    ['127.0.0.1', '255.255.255.255'],
    ['256.0.0.1', '1.2.3', '01.2.3.4', '1.2.3.4 '],
  ],
  ipv6: [
    ['::1', '2001:db8::ff00:42:8329', '::ffff:1.2.3.4'],
    ['1', ':::', '12345::', 'fe80::1%eth0'],
  ],
  uri: [
    ['https://example.org/a?b=c#d', 'urn:isbn:1', 'mailto:a@b', 'data:text/plain,a%20b'],
    ['/a', 'a', '1a:b', 'a:b c', 'a:%2', 'a:b#c#d', 'http://é'],
  ],
  url: [
    [
      'http://localhost',
      'https://ada:x@example.org:8080/a?b#c',
      'ftp://[::1]/x',
      'http://averyveryverylongsinglelabelhostname',
    ],
    [
      'urn:a',
      'http://',
      'http:///a',
      'http://-a',
      'https://a b',
      'javascript:alert(1)',
      'http://a:99999999/',
    ],
  ],
  uuid: [
    ['123e4567-e89b-12d3-a456-426614174000', '123E4567-E89B-12D3-A456-426614174000'],
    ['123e4567e89b12d3a456426614174000', '{123e4567-e89b-12d3-a456-426614174000}', ''],
  ],
};

it('there are samples of every format', () => {
  expect(Object.keys(samples).toSorted()).toEqual(Object.keys(formats).toSorted());
});

describe.each(Object.entries(samples))('the format %s', (name, [good, bad]) => {
  const matchesFormat = formats[name] ?? expect.fail(`there is no format ${name}`);

  it('takes what it should, and nothing else', () => {
    expect(good.filter((text) => !matchesFormat(text))).toEqual([]);
    expect(bad.filter((text) => matchesFormat(text))).toEqual([]);
  });

  // A text that takes more than linear time would take hours here: hundreds of thousands of times
  // each beginning of a good text, and what repeats in it, with an end that does not fit.
  it('takes no longer for what repeats than its length explains', () => {
    const pieces = new Set(
      [...good, ...bad].flatMap((text) => [
        text,
        text.slice(0, 1),
        text.slice(-1),
        text.slice(0, 2),
        text.slice(1, 3),
      ]),
    );
    for (const piece of pieces)
      for (const start of ['', ...good])
        for (const end of ['', '!', '@', ':'])
          expect(
            typeof matchesFormat(start + piece.repeat(Math.ceil(20_000 / (piece.length || 1))) + end),
          ).toBe('boolean');
  });
});
