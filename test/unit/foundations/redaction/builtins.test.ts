import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCalls } from '../../../../bench/harness/calls.ts';
import {
  type Builtin,
  builtins,
  createFinder,
  isCard,
  passesMod97,
} from '../../../../foundations/redaction/builtins.ts';
import { root } from '../../../support/run/project.ts';
import { runs } from '../../../support/run/sampling.ts';

const find = createFinder(new Set(builtins));

/** What is found in a text: `rule: match`. */
const foundIn = (text: string): string[] =>
  find(text).map(({ rule, from, to }) => `${rule}: ${text.slice(from, to)}`);

/** Texts in which one thing is to be found, with what it is. */
const positives: Readonly<Record<Builtin, readonly (readonly [text: string, match: string])[]>> = {
  email: [
    ['write to ada@example.com.', 'ada@example.com'],
    ['<Ada.B+x@Mail.Example.CO.UK>', 'Ada.B+x@Mail.Example.CO.UK'],
    ['mailto:müller@exämple.de?x', 'müller@exämple.de'],
    ['?to=ada%40example.com&x=1', 'ada%40example.com'],
    ['https://ada:pa55@example.com/', 'pa55@example.com'],
    ['{\\"mail\\": \\"ada@example.com\\"}', 'ada@example.com'],
    ['ada@163.com', 'ada@163.com'],
  ],
  phone: [
    ['call +1 (415) 555-2671 now', '+1 (415) 555-2671'],
    ['tel:+14155552671', '+14155552671'],
    ['+49 30 901820', '+49 30 901820'],
    ['+44 (0)20 7946 0958', '+44 (0)20 7946 0958'],
    ['0049 30 1234567', '0049 30 1234567'],
    ['(415) 555-2671', '(415) 555-2671'],
    ['415-555-2671,', '415-555-2671'],
    ['415.555.2671', '415.555.2671'],
    ['1-800-555-0199', '1-800-555-0199'],
    ['030 901820 x', '030 901820'],
    ['0171/1234567', '0171/1234567'],
    ['01 23 45 67 89', '01 23 45 67 89'],
    ['020 7946 0958', '020 7946 0958'],
    ['090-1234-5678', '090-1234-5678'],
    ['(11) 91234-5678', '(11) 91234-5678'],
    ['"a\\n0171 1234567"', '0171 1234567'],
  ],
  card: [
    ['4111 1111 1111 1111', '4111 1111 1111 1111'],
    ['card:4111111111111111.', '4111111111111111'],
    ['5555-5555-5555-4444', '5555-5555-5555-4444'],
    ['3782 822463 10005', '3782 822463 10005'],
    ['6011111111111117', '6011111111111117'],
    ['on 2026-10-01 3530111333300000 was charged', '3530111333300000'],
    ['"\\n4111111111111111"', '4111111111111111'],
  ],
  iban: [
    ['DE89 3704 0044 0532 0130 00 EURO', 'DE89 3704 0044 0532 0130 00'],
    ['GB82WEST12345698765432', 'GB82WEST12345698765432'],
    ['to gb82 west 1234 5698 7654 32.', 'gb82 west 1234 5698 7654 32'],
    ['NO9386011117947', 'NO9386011117947'],
  ],
  ipv4: [
    ['from 192.168.1.1', '192.168.1.1'],
    ['http://10.0.0.1:80/x', '10.0.0.1'],
    ['(203.0.113.9)', '203.0.113.9'],
  ],
  ipv6: [
    ['2001:0db8:85a3:0000:0000:8a2e:0370:7334', '2001:0db8:85a3:0000:0000:8a2e:0370:7334'],
    ['at [2001:db8::8a2e:370:7334]:443', '2001:db8::8a2e:370:7334'],
    ['fe80::1: no answer', 'fe80::1'],
    ['::ffff:10.1.2.3', '::ffff:10.1.2.3'],
  ],
  aws_key: [
    ['AKIAIOSFODNN7EXAMPLE', 'AKIAIOSFODNN7EXAMPLE'],
    [
      'aws_secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"',
      'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    ],
    [
      '\\"SecretAccessKey\\": \\"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\\"',
      'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    ],
  ],
  private_key: [
    [
      'x -----BEGIN RSA PRIVATE KEY-----\nMII1\n-----END RSA PRIVATE KEY----- y',
      '-----BEGIN RSA PRIVATE KEY-----\nMII1\n-----END RSA PRIVATE KEY-----',
    ],
    ['-----BEGIN PRIVATE KEY-----\nMII1 cut', '-----BEGIN PRIVATE KEY-----\nMII1 cut'],
  ],
  bearer_token: [
    ['authorization: Bearer abcdef1234567890', 'abcdef1234567890'],
    ['Basic dXNlcjpwYXNzd29yZA==', 'dXNlcjpwYXNzd29yZA=='],
    [
      't=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc_def-123',
      'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc_def-123',
    ],
    [
      '\\neyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc_def-123',
      'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc_def-123',
    ],
  ],
  api_key: [
    ['OPENAI_API_KEY=sk-proj-abcdefghij1234567890ABCD', 'sk-proj-abcdefghij1234567890ABCD'],
    ['ghp_0123456789abcdefghijklmnopqrstuvwxyz', 'ghp_0123456789abcdefghijklmnopqrstuvwxyz'],
    ['xoxb-123456789012-abcdefGHIJ', 'xoxb-123456789012-abcdefGHIJ'],
    ['AIzaSyA1234567890abcdefghijklmnopqrstuv', 'AIzaSyA1234567890abcdefghijklmnopqrstuv'],
    [`svc_0123456789abcdef_${'0a'.repeat(32)}`, `svc_0123456789abcdef_${'0a'.repeat(32)}`],
  ],
};

describe.each(builtins)('the rule %s', (builtin) => {
  it.each(positives[builtin])('finds in %j: %j', (text, match) => {
    expect(foundIn(text)).toEqual([`${builtin}: ${match}`]);
    const own = createFinder(new Set([builtin]))(text);
    expect(own.map(({ from, to }) => text.slice(from, to))).toEqual([match]);
  });
});

it.each([
  '550e8400-e29b-41d4-a716-446655440000',
  '12345678-1234-4234-8234-123456789012',
  '5b8efff798038103d269b633813fc60c',
  'eee19b7ec3c1b174',
  '0194f2a0-7b5c-7000-8000-000000000000',
  '2026-10-01T09:30:00.000001Z',
  '2024-01-15 10:22:31',
  '01/02/2024 12:00',
  '05.11.2026 14:30',
  '12:30:45',
  '1700000000',
  '1700000000000',
  '1700000000000000',
  '3.14159265358979',
  '0.4111111111111111',
  '$1,234,567.89',
  '1 234 567,89 EUR',
  '{"prompt_tokens": 128000, "completion_tokens": 4096}',
  '10000000000',
  'v1.2.3.4',
  'Chrome/120.0.0.0',
  '1.2.3.4.5',
  '256.1.1.1',
  'std::string',
  'a[1::2]',
  '::1',
  '00:1B:44:11:3A:B7',
  'pkg@1.2.3',
  '@app.route("/x")',
  'user@host',
  'a @ b.com',
  'x@',
  '4111 1111 1111 1112',
  '1234567890123456',
  'DE89370400440532013001',
  'XX89370400440532013000',
  '978-3-16-148410-0',
  'order 0123-4567-8901',
  'gpt-4o-mini-2024-07-18',
  'claude-sonnet-4-5-20250929',
  'task-1234567890abcdefghijklmnop',
  'sk-learn-compatible-estimators',
  'Bearer authentication-required',
  'basic understanding',
  '-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----',
  'svc:///acme/shop/object/prompt:HDSuxbBkNkvPkDh0b9q0iGZa2j9XIfamHzzPp-rKiv8',
  'HAT136 on 2024-05-15',
  '[email:0123456789abcdef0123]',
  '[card] [phone:00000000000000000000]',
  '(2024) 1234567',
  '+10000000',
  '',
])('nothing is found in %j', (text) => {
  expect(foundIn(text)).toEqual([]);
});

/** All texts of a value, keys of objects among them. */
const collectTexts = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, field]) => [
    ...(Array.isArray(value) ? [] : [key]),
    ...collectTexts(field),
  ]);
};

describe('in what real programs report', () => {
  it('nothing but e-mail addresses is found in the calls of an agent', () => {
    const calls = readCalls(join(root, 'bench/data/airline-agent-calls.jsonl.gz'));
    const texts = new Set(calls.flatMap(collectTexts));
    const found = [...texts].flatMap(foundIn);
    expect(found.length).toBeGreaterThan(5);
    expect(found.filter((match) => !/^email: [a-z0-9._]+@(?:example|gmail)\.com$/.test(match))).toEqual([]);
  });

  it('nothing is found in the spans of instrumentations that is not there', () => {
    const folder = join(root, 'test/otel/captures');
    const texts = readdirSync(folder).flatMap((name) =>
      collectTexts(JSON.parse(readFileSync(join(folder, name, 'expect.json'), 'utf8'))),
    );
    expect(texts.length).toBeGreaterThan(500);
    expect([...new Set(texts)].flatMap(foundIn)).toEqual([]);
  });
});

describe('hostile texts', () => {
  const length = runs(200_000, 5_000_000);
  const pieces = [
    'a',
    '1',
    '-',
    '@',
    'a@',
    'a@a.',
    '%40',
    '1 ',
    '1-',
    '+1',
    '(',
    '1.',
    '4111 ',
    '(1) ',
    '0:',
    ':',
    '::',
    'f:',
    'eyJ',
    'eyJ-',
    'eyJaaaaaaaa.',
    'sk-',
    'sk-1',
    'SG.',
    'SG.aaaaaaaaaaaaaaaa1',
    '-----BEGIN ',
    '-----',
    '-----BEGIN PRIVATE KEY-----',
    'Bearer ',
    'bearer 1',
    'AKIA',
    'GB82',
    'de89 ',
    'xoxb-1',
    'secret_key=',
    '\\n',
    'é',
    '\\',
    '\\u',
    '\\u0',
    '\\u0041',
    '\\x9',
    '\\xc3',
    '\\2',
    '\\203.0.113.77 ',
    '%',
    '%2',
    '%20',
    '%25',
    '%e2',
    '&',
    '&#',
    '&amp;',
    '&#6',
    '\u001b',
    '\u001b[',
    '\u001b[0',
    '[1;',
    '=',
    '=3D',
    '=e2',
    '=\n',
    '\u200b',
    '\uff14',
    '%201+',
    '=1+1',
    'eyJaaaaaaaa',
    'eyJaaaaaaaa.b',
    'a_',
    'ada@a.bc\\u003d',
    '4111%201111%201111%201111 ',
  ];

  it.each([
    ...pieces.map((piece) => ({ head: '', piece })),
    { head: '&', piece: 'amp;' },
    { head: '%', piece: '25' },
    { head: '\\u0041', piece: '\\' },
  ])('take time in proportion to their length: $head $piece', ({ head, piece }) => {
    const long = head + piece.repeat(Math.ceil(length / piece.length));
    // A look that took the square of the length would take hours, and this test its time.
    for (const { from, to } of find(long)) expect(to).toBeGreaterThan(from);
  });
});

it('cards and IBANs have check digits: another digit makes them something else', () => {
  fc.assert(
    fc.property(fc.nat(15), fc.integer({ min: 1, max: 9 }), (at, by) => {
      const digits = [...'4111111111111111'];
      digits[at] = String((Number(digits[at]) + by) % 10);
      expect(isCard(digits.join(''))).toBe(false);
    }),
  );
  expect(passesMod97('DE89370400440532013000')).toBe(true);
  expect(passesMod97('DE89370400440532013001')).toBe(false);
});

it('what is found lies within the text, in order, and does not overlap', () => {
  const piece = fc.constantFrom(
    ...Object.values(positives).flatMap((list) => list.map(([text]) => text)),
    ' ',
    '-',
    '1',
    'x',
    '\n',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (parts) => {
      const text = parts.join('');
      let last = 0;
      for (const { from, to } of find(text)) {
        expect(from).toBeGreaterThanOrEqual(last);
        expect(to).toBeGreaterThan(from);
        last = to;
      }
      expect(last).toBeLessThanOrEqual(text.length);
    }),
  );
});
