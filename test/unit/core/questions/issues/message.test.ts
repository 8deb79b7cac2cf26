import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toHeadline, toMessage, withoutVariables } from '../../../../../core/questions/issues/message.ts';

describe('a message without its variables', () => {
  const cases: readonly (readonly [message: string, grouped: string])[] = [
    // What agents of the captures and of the bench failed with.
    [
      'Error: payment amount does not add up, total price is 305, but paid 255',
      'Error: payment amount does not add up, total price is <n>, but paid <n>',
    ],
    ['Error: not enough seats on flight HAT139', 'Error: not enough seats on flight HAT139'],
    [
      'Error: not enough balance in payment method gift_card_5094406',
      'Error: not enough balance in payment method <id>',
    ],
    ['429 Rate limit reached for gpt-4o-mini', '<n> Rate limit reached for gpt-4o-mini'],
    ['no weather for Atlantis', 'no weather for Atlantis'],
    // What providers and libraries say.
    [
      "RateLimitError: Error code: 429 - {'error': {'message': 'Rate limit reached for gpt-4o in organization org-8sKx92Lmq1 on tokens per min (TPM): Limit 30000, Used 29512, Requested 1204. Please try again in 1.432s.', 'type': 'tokens', 'code': 'rate_limit_exceeded'}}",
      'RateLimitError: Error code: 429 - {error: {message: Rate limit reached for gpt-4o in organization <id> on tokens per min (TPM): Limit <n>, Used <n>, Requested <n>. Please try again in <n>s., type: to…',
    ],
    ['HTTP 503: upstream connect error', 'HTTP 503: upstream connect error'],
    ['Request failed with status code 404', 'Request failed with status code 404'],
    ['read ECONNRESET 10.0.12.7:5432', 'read ECONNRESET <address>'],
    [
      "ENOENT: no such file or directory, open '/home/ada/app/config.json'",
      'ENOENT: no such file or directory, open <value>',
    ],
    ['File "/srv/app/tools/search.py", line 88, in run', 'File <value>, line <n>, in run'],
    ['cannot open C:\\Users\\ada\\notes.txt', 'cannot open <path>'],
    ['src/agents/planner.ts:42:7 is not valid', '<path> is not valid'],
    [
      "ValueError: invalid literal for int() with base 10: 'abc'",
      'ValueError: invalid literal for int() with base <n>: <value>',
    ],
    ["KeyError: 'customer_id'", 'KeyError: <value>'],
    ['GET https://api.example.com/v1/orders/991?x=1 failed', 'GET <url> failed'],
    ['no user with ada.lovelace@example.co.uk', 'no user with <email>'],
    ['call 0190f1c2-7b7e-7cc3-98c4-dc0c0c07398f timed out after 30s', 'call <id> timed out after <n>s'],
    ['trace 4bf92f3577b34da6a3ce929d0e0e4736 is unknown', 'trace <id> is unknown'],
    ['<Session object at 0x7f3a2c1d> is closed', '<Session object at <id>> is closed'],
    ['token expired at 2026-11-28T10:00:00.123Z', 'token expired at <time>'],
    ['no slot on 28.11.2026 at 14:30', 'no slot on <time> at <time>'],
    ['expected 3, 4, 5 and 6 items', 'expected <n> items'],
    ['order SKU-123 is sold out', 'order SKU-<n> is sold out'],
    // What agents of the captures failed with.
    ['RuntimeError: order A-1001 is already shipped', 'RuntimeError: order <id> is already shipped'],
    [
      "anthropic.RateLimitError: Error code: 429 - {'type': 'error', 'error': {'type': 'rate_limit_error', 'message': 'Rate limit reached'}}",
      'anthropic.RateLimitError: Error code: 429 - {type: error, error: {type: rate_limit_error, message: Rate limit reached}}',
    ],
    [
      'litellm.exceptions.RateLimitError: litellm.RateLimitError: RateLimitError: OpenAIException - Rate limit reached for gpt-4o-mini',
      'litellm.exceptions.RateLimitError: litellm.RateLimitError: RateLimitError: OpenAIException - Rate limit reached for gpt-4o-mini',
    ],
    ['ConnectionError: tide service down for Paris', 'ConnectionError: tide service down for Paris'],
    [
      'Error code: 429 - Rate limit reached for gpt-4o-mini in organization org-fake: Limit 3, Used 3.',
      'Error code: 429 - Rate limit reached for gpt-4o-mini in organization org-fake: Limit <n>, Used <n>.',
    ],
    // Words with digits that do not vary.
    ['unsupported encoding base64 for utf8', 'unsupported encoding base64 for utf8'],
    ['model claude-sonnet-4-5-20250929 not found', 'model claude-sonnet-<n>-<n>-<n> not found'],
    ['model gpt-4o-2024-08-06 is overloaded', 'model gpt-4o-<time> is overloaded'],
    // An apostrophe is no quote.
    ["It doesn't work and can't be retried", "It doesn't work and can't be retried"],
    // Scripts, and forms of one text.
    ['文件「报告」不存在，编号 12345', '文件「报告」不存在，编号 <n>'],
    ['Konto für „Jörg“ nicht gefunden: ١٢٣٤', 'Konto für „Jörg“ nicht gefunden: <n>'],
    ['cafe\u0301 is closed', 'café is closed'],
  ];
  it.each(cases)('%s', (message, grouped) => {
    expect(withoutVariables(message)).toBe(grouped);
  });

  it('is the same whatever the ids are', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.nat(), fc.nat(), fc.domain(), (id, number, user, domain) => {
        const email = `user.${user}@${domain}`;
        const url = `https://${domain}/items/${number}?of=${id}`;
        const text = `user ${email} has no item ${id} (${number}), see ${url} for help`;
        expect(withoutVariables(text)).toBe('user <email> has no item <id> (<n>), see <url> for help');
      }),
    );
  });

  it('is one short line, and stays as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 700 }), (text) => {
        const once = withoutVariables(text);
        expect(once.length).toBeLessThanOrEqual(200);
        expect(once).not.toMatch(/[\r\n\t]/);
      }),
    );
  });

  it.each([
    ['a', 'a'.repeat(1_000_000)],
    ['slashes', '/'.repeat(1_000_000)],
    ['quotes', `"'`.repeat(500_000)],
    ['digits', '1'.repeat(1_000_000)],
    ['dots', '1.'.repeat(500_000)],
    ['at', 'a@'.repeat(500_000)],
    ['dashes', 'a1-'.repeat(300_000)],
    ['paths', 'a/'.repeat(500_000)],
    ['placeholders', '<n> '.repeat(250_000)],
    ['lines', '\n'.repeat(1_000_000)],
    ['blanks before a traceback', `${' '.repeat(900_000)}Traceback (most recent call last):\n x`],
  ])('takes no longer for a hostile message of %s', (_, text) => {
    const begun = performance.now();
    for (let i = 0; i < 10; i++) toMessage(text);
    expect(performance.now() - begun).toBeLessThan(1000);
  });
});

describe('the headline of an exception', () => {
  it('is its first line', () => {
    expect(toHeadline('\n  TimeoutError: no answer\n    at run (/srv/a.js:1:2)')).toBe(
      'TimeoutError: no answer',
    );
  });

  it('is the last line of a traceback, which may have several exceptions', () => {
    const traceback = [
      'Traceback (most recent call last):',
      '  File "a.py", line 1, in f',
      'KeyError: 1',
      '',
      'During handling of the above exception, another exception occurred:',
      '',
      'Traceback (most recent call last):',
      '  File "a.py", line 3, in g',
      'ValueError: no such order',
      '',
    ].join('\n');
    expect(toHeadline(traceback)).toBe('ValueError: no such order');
  });

  it('has the next line behind a colon', () => {
    expect(toHeadline('Error:\nout of stock')).toBe('Error: out of stock');
  });

  it('is empty for nothing, whose message is an error', () => {
    expect(toHeadline(' \n ')).toBe('');
    expect(toMessage(' \n ')).toBe('error');
  });

  it('says the same with what nobody sees in it', () => {
    const hidden = 'E:\u202e no\u200b such\u2066 order\u{e0041}\u{e0042}\ufeff';
    expect(toMessage(hidden)).toBe('E: no such order');
    expect(toMessage('\u202e\u200b')).toBe('error');
    expect(toMessage('می‌خواهم 👩‍💻')).toBe('می‌خواهم 👩‍💻');
  });

  it('has no colors of terminals', () => {
    expect(toHeadline('\u001b[31mfailed\u001b[0m')).toBe('failed');
  });
});
