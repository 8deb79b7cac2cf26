import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { type Builtin, builtins, createFinder } from '../../../../foundations/redaction/builtins.ts';
import { Redactor, type Rule } from '../../../../foundations/redaction/index.ts';
import { root } from '../../../support/run/project.ts';
import { sample } from '../../../support/run/sampling.ts';
import { containers, encoders, literals, signs } from '../../../support/values/wrappings.ts';

interface Secret {
  readonly text: string;
  /** What of it must be gone: a scheme or a name before it may stay. */
  readonly secret: string;
}

const whole = (text: string): Secret => ({ text, secret: text });
const awsSecret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';

const secrets: Readonly<Record<Builtin, readonly Secret[]>> = {
  email: ['ada.lovelace@example.com', 'q+x@mail.example.co.uk'].map(whole),
  phone: ['+49 30 5550 98765', '+14155552671', '(415) 555-2671', '212-555-0143', '0171/1234567'].map(whole),
  card: ['4111 1111 1111 1111', '5555555555554444', '3782-822463-10005'].map(whole),
  iban: ['DE89 3704 0044 0532 0130 00', 'GB82WEST12345698765432'].map(whole),
  ipv4: [whole('203.0.113.77')],
  ipv6: ['2001:db8:5ec:1::77', '2001:0db8:85a3:0000:0000:8a2e:0370:7334'].map(whole),
  aws_key: [whole('AKIAIOSFODNN7EXAMPLE'), { text: `aws_secret_access_key=${awsSecret}`, secret: awsSecret }],
  private_key: [whole('-----BEGIN PRIVATE KEY-----\nMIImarkedkeybody/+x\n-----END PRIVATE KEY-----')],
  bearer_token: [
    { text: 'Bearer abcdefghij1234567890', secret: 'abcdefghij1234567890' },
    { text: 'Basic dXNlcjpwYXNzd29yZDE=', secret: 'dXNlcjpwYXNzd29yZDE=' },
    whole('eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc_def-123'),
  ],
  api_key: [
    'sk-proj-abcdefghij1234567890ABCD',
    'ghp_0123456789abcdefghijklmnopqrstuvwxyz',
    'xoxb-123456789012-abcdefGHIJ',
    'AIzaSyA1234567890abcdefghijklmnopqrstuv',
  ].map(whole),
};

/** Everything that can stand beside a secret, once. */
const beside = [...new Set([...Object.values(encoders).flatMap((encode) => signs.map(encode)), ...literals])];

const label = new Redactor(
  builtins.map((builtin) => ({ name: builtin, builtin, action: 'label' })),
  'key',
);

/** What is left of a text, where a secret or half of one is still in it; undefined where it is gone. */
const leakIn = (text: string, builtin: Builtin, secret: string): string | undefined => {
  const left = label.text('exception', text);
  label.forget();
  const pieces = [secret.slice(0, 6), secret.slice(-6)];
  return left.includes(`[${builtin}]`) && !pieces.some((piece) => left.includes(piece)) ? undefined : left;
};

describe.each(builtins)('the rule %s', (builtin) => {
  const leaksIn = (texts: readonly string[], secret: string) =>
    texts.flatMap((text) => {
      const left = leakIn(text, builtin, secret);
      return left === undefined ? [] : [{ text, left }];
    });

  it.each(secrets[builtin])('finds $text beside whatever is escaped', ({ text, secret }) => {
    const wrapped = beside.flatMap((sign) => [
      `x${sign}${text}`,
      `${text}${sign}x`,
      `x${sign}${text}${sign}x`,
    ]);
    expect(wrapped.length).toBeGreaterThan(1500);
    expect(leaksIn(wrapped, secret)).toEqual([]);
  });

  it.each(secrets[builtin])('finds $text where its own signs are escaped', ({ text, secret }) => {
    const written = Object.values(containers).map((write) => write(text));
    expect(leaksIn(written, secret)).toEqual([]);
  });
});

it('what is beside a secret stays as it was', () => {
  for (const sign of beside) {
    const text = `x${sign}ghp_0123456789abcdefghijklmnopqrstuvwxyz${sign}x`;
    expect(label.text('exception', text)).toBe(`x${sign}[api_key]${sign}x`);
  }
});

it('JSON in a text is JSON afterwards', () => {
  const value = { mail: 'ada@example.com', lines: 'a\nada@example.com\n"4111 1111 1111 1111"' };
  const redacted = { mail: '[email]', lines: 'a\n[email]\n"[card]"' };
  for (const write of [
    JSON.stringify,
    containers['JSON of Gson'],
    containers['JSON in small letters only'],
  ]) {
    const text = write?.(JSON.stringify(value)) ?? '';
    expect(JSON.parse(JSON.parse(label.text('exception', text)))).toEqual(redacted);
  }
});

describe('nothing is found', () => {
  const find = createFinder(new Set(builtins));
  const foundIn = (text: string): string[] =>
    find(text).map(
      ({ rule, from, to }) => `${rule}: ${text.slice(from, to)} in ${text.slice(from - 20, to + 20)}`,
    );
  const hash = (name: string, value: number): Buffer => createHash(name).update(String(value)).digest();
  const harmless = [
    '2026-10-01T09:30:00.000001Z',
    '2026-11-23T04:07:07.315014+00:00',
    '09:30:00',
    '1700000000',
    '1700000000000',
    '1700000000000000',
    '0.4111111111111111',
    '128000',
    '$1,234,567.89',
    '50%',
    'call_abcdefghijklmnop',
    'chatcmpl-9xYzAbCdEfGhIjKlMnOpQr',
    'toolu_01A09q90qw90lq917835lq9',
    'gpt-4o-2024-07-18',
    'v1.2.3',
    'Chrome/120.0.0.0',
    'std::string',
    '00:1B:44:11:3A:B7',
    'a[1::2]',
    'C:\\temp\\x1234567890',
    'svc:///acme/shop/object/prompt:HDSuxbBkNkvPkDh0b9q0iGZa2j9XIfamHzzPp-rKiv8',
    'user@host',
    '@scope/name',
  ];

  it.each(harmless)('in %j, whatever is beside it', (text) => {
    expect(beside.flatMap((sign) => foundIn(`x${sign}${text}${sign}x`))).toEqual([]);
  });

  it('in UUIDs, digests and ids, whatever is beside them', () => {
    const ids = Array.from({ length: 50 }, (_, n) => {
      const uuid = hash('md5', n)
        .toString('hex')
        .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
      return [
        uuid,
        hash('md5', n).toString('hex'),
        hash('sha256', n).toString('base64url'),
        hash('sha512', n).toString('base64'),
      ];
    }).flat();
    for (const text of ids)
      expect(sample(beside, 20, text).flatMap((sign) => foundIn(`x${sign}${text}${sign}x`))).toEqual([]);
  });

  it('in what instrumentations sent, whole and text by text', () => {
    const folder = join(root, 'test/otel/captures');
    const files = readdirSync(folder).flatMap((name) =>
      readdirSync(join(folder, name)).map((file) =>
        readFileSync(join(folder, name, file), file.endsWith('.bin') ? 'latin1' : 'utf8'),
      ),
    );
    expect(files.length).toBeGreaterThan(60);
    // The programs wrote to this one.
    const known = /^(?:ipv4: 127\.0\.0\.1|email: [a-z]+@example\.com) /;
    expect(files.flatMap(foundIn).filter((match) => !known.test(match))).toEqual([]);
  });
});

describe('patterns', () => {
  const compilePattern = (pattern: string) => {
    const compiled = RE2JS.compile(pattern);
    return function* (text: string) {
      const matcher = compiled.matcher(text);
      while (matcher.find()) yield [matcher.start(), matcher.end()] as const;
    };
  };
  const rule: Rule = { name: 'id', pattern: '\\bCUST-[0-9]{6}\\b', action: 'label' };
  const own = new Redactor([rule], 'key', compilePattern);

  it('have the ends of words where an escape is beside them', () => {
    const leaks = Object.values(encoders)
      .flatMap((encode) => signs.map(encode))
      .flatMap((sign) => [`x${sign}CUST-424242`, `CUST-424242${sign}x`])
      .filter((text) => own.text('exception', text).includes('424242'));
    expect(leaks).toEqual([]);
  });

  it('find what is escaped itself', () => {
    expect(own.text('exception', 'q=CUST%2D424242&x')).toBe('q=[id]&x');
    expect(own.text('exception', 'CUST\\u002d424242')).toBe('[id]');
  });
});

it('a secret has one hash, however it is escaped', () => {
  const hashing = new Redactor(
    builtins.map((builtin) => ({ name: builtin, builtin, action: 'hash' })),
    'key',
  );
  const hashIn = (text: string): string | undefined =>
    /\[[a-z0-9_]+:[0-9a-f]{20}\]/.exec(hashing.text('exception', text))?.[0];
  // An apostrophe may be a part of an address.
  const single = signs.filter((sign) => sign.length === 1 && sign !== "'");
  for (const { text } of [secrets.email, secrets.card, secrets.api_key].flat())
    for (const sign of Object.values(encoders).flatMap((encode) => single.map(encode)))
      expect([sign, hashIn(`${sign}${text}${sign}`)]).toEqual([sign, hashIn(text)]);
  const [address = ''] = secrets.email.map(({ text }) => text);
  // In a form, `x+ada@example.com` may be one address or a word before one.
  for (const [name, write] of Object.entries(containers))
    if (name !== 'a form') expect([name, hashIn(write(address))]).toEqual([name, hashIn(address)]);
});
