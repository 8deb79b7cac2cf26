import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { slackMessage } from '../../../../../../core/workers/alerts/tell/slack.ts';
import { plainText } from '../../../../../../core/workers/alerts/tell/text.ts';
import { alertMessage } from '../../../../../support/values/alert-message.ts';

describe('a message as a mail has it', () => {
  it('names alert, project, value, threshold, window, what contributes most, and links', () => {
    expect(plainText(alertMessage())).toBe(`Alert: Too many errors in acme/shop

Error rate is 0.1235; the threshold is above 0.1.
From 2026-11-22 09:15 to 2026-11-22 09:30 UTC. It was OK before.

What contributes most:
- checkout: 12
  https://t.example/api/ui/traces?a=1
- search: 1,235
  https://t.example/api/ui/trace?b=2

https://t.example/api/ui/traces?from=x&to=y`);
  });

  it('says a change in percent with both of its values', () => {
    const change = { compare: 'day_before', value: 35.2, threshold: 20, contributors: [] } as const;
    const text = plainText(alertMessage({ ...change, compared: { current: 12, before: 8.875 } }));
    expect(text).toContain('is +35.2 % (12, a day before 8.875); the threshold is above +20 %.');
    const fromNothing = { ...change, value: null, compared: { current: 12, before: 0 } };
    expect(plainText(alertMessage(fromNothing))).toContain(
      'no change that a percentage tells (12, a day before 0)',
    );
  });

  it.each([
    [{ state: 'no_data', value: null }, 'No data: Too many errors in acme/shop\n\nError rate is no data;'],
    [{ state: 'ok', previous: 'alert' }, 'OK: Too many errors in acme/shop'],
    [{ kind: 'reminder', state: 'warn' }, 'Warning: Too many errors (still) in acme/shop'],
    [{ kind: 'test', previous: null }, 'Test: Too many errors in acme/shop'],
  ] as const)('says what it is about: %j', (fields, beginning) => {
    expect(plainText(alertMessage(fields)).startsWith(beginning)).toBe(true);
  });
});

interface Text {
  readonly type: string;
  readonly text: string;
}

interface Blocks {
  readonly text: string;
  readonly blocks: readonly {
    readonly type: string;
    readonly text?: Text;
    readonly fields?: readonly Text[];
  }[];
}

const inSlack = (...args: Parameters<typeof alertMessage>) => slackMessage(alertMessage(...args)) as Blocks;

const getTexts = ({ text, blocks }: Blocks): string[] => [
  text,
  ...blocks.flatMap((block) => [block.text, ...(block.fields ?? [])].flatMap((text) => text?.text ?? [])),
];

describe('a message as Slack has it', () => {
  it('has blocks with all that a mail has', () => {
    const { text, blocks } = inSlack();
    expect(text).toBe('Alert: Too many errors in acme/shop: Error rate is 0.1235');
    expect(blocks.map(({ type }) => type)).toEqual(['header', 'section', 'section', 'section']);
    expect(blocks[1]?.fields?.map((field) => field.text)).toEqual([
      '*Project*\nacme/shop',
      '*Alert*\nToo many errors',
      '*Error rate*\n0.1235',
      '*Threshold*\nabove 0.1',
      '*Window*\n2026-11-22 09:15 to 2026-11-22 09:30 UTC',
    ]);
    expect(blocks[2]?.text?.text).toBe(
      '*What contributes most*\n• <https://t.example/api/ui/traces?a=1|checkout: 12>\n• <https://t.example/api/ui/trace?b=2|search: 1,235>',
    );
    expect(blocks[3]?.text?.text).toBe(
      'It was OK before. <https://t.example/api/ui/traces?from=x&to=y|Look at it>',
    );
  });

  it('shows what clients have chosen as text: no mentions, links or other blocks', () => {
    const label = '<!channel> <https://evil.example|here> & more\n• fake';
    const contributors = [{ label, value: 1, call_id: null, link: 'https://t.example/ui?a=|b>' }];
    const text = getTexts(inSlack({ metric: '<@U1> tokens', contributors })).join('\n');
    expect(text).not.toMatch(/<!channel>|<@U1>|<https:\/\/evil|\n• fake/);
    expect(text).toContain(
      '<https://t.example/ui?a=%7Cb%3E|&lt;!channel&gt; &lt;https://evil.example|here&gt; &amp; more • fake: 1>',
    );
  });

  it('keeps within what Slack takes, however long names are', () => {
    const long = fc.string({ unit: 'binary', maxLength: 5000, size: 'max' });
    fc.assert(
      fc.property(long, long, long, (name, label, metric) => {
        const link = `https://t.example/ui/${'x'.repeat(600)}`;
        const contributors = [0, 1, 2].map(() => ({ label, value: 1, call_id: null, link }));
        const alert = { object_id: 'o', digest: 'd', name };
        const { blocks } = inSlack({ alert, metric, contributors });
        for (const { type, text, fields = [] } of blocks) {
          expect(text?.text.length ?? 0).toBeLessThanOrEqual(type === 'header' ? 150 : 3000);
          for (const field of fields) expect(field.text.length).toBeLessThanOrEqual(2000);
        }
        expect(blocks[2]?.text?.text.match(/<https[^|]*\|[^>]*>/g)).toHaveLength(3);
      }),
    );
  });
});
