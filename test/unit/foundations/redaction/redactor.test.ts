import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import {
  builtins,
  needsKey,
  RedactionFailed,
  Redactor,
  type Rule,
} from '../../../../foundations/redaction/index.ts';
import { type JsonObject, type JsonValue, parseJson } from '../../../../foundations/wire/index.ts';

const everything: Rule[] = builtins.map((builtin) => ({ name: builtin, builtin, action: 'label' }));
const label = new Redactor(everything, 'key');

const compilePattern = (pattern: string) => {
  const compiled = RE2JS.compile(pattern);
  return function* (text: string) {
    const matcher = compiled.matcher(text);
    while (matcher.find()) yield [matcher.start(), matcher.end()] as const;
  };
};
const createRedactor = (...rules: Rule[]) => new Redactor(rules, 'key', compilePattern);

describe('a label', () => {
  it('says what stood there, in values and in keys, however deep', () => {
    const value = {
      'ada@example.com': [{ to: 'ada@example.com or bob@example.com' }, 'eve@example.com', 7, null, true],
    };
    expect(label.value('inputs', value)).toEqual({
      '[email]': [{ to: '[email] or [email]' }, '[email]', 7, null, true],
    });
  });

  it('leaves each value where several keys become one', () => {
    const value = { 'a@example.com': 1, 'b@example.com': 2, '[email] 2': 3, 'c@example.com': 4 };
    expect(Object.values(label.value('inputs', value) as JsonObject)).toEqual([1, 2, 3, 4]);
  });

  it('stands for the number of a card that is a number, and no other number', () => {
    const value = parseJson(
      '{"card": 4111111111111111, "tokens": 4111, "id": 12345678901234567890, "one": 1.0, "micros": 1700000000000000}',
    );
    const text = JSON.stringify(label.value('inputs', value as JsonValue));
    expect(text).toBe(
      '{"card":"[card]","tokens":4111,"id":12345678901234567890,"one":1.0,"micros":1700000000000000}',
    );
  });

  it('stands for a secret that its field tells of', () => {
    const secret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
    expect(label.value('inputs', { aws_secret_access_key: secret, other: secret })).toEqual({
      aws_secret_access_key: '[aws_key]',
      other: secret,
    });
  });
});

describe('a hash', () => {
  const hash = createRedactor(
    { name: 'email', builtin: 'email', action: 'hash' },
    { name: 'card', builtin: 'card', action: 'hash' },
  );

  it('is the same for equal values in any spelling, and another for others and under another key', () => {
    const redact = (text: string, redactor = hash) => redactor.text('exception', text);
    expect(redact('ada@example.com')).toMatch(/^\[email:[0-9a-f]{20}\]$/);
    expect(redact('Ada@Example.com')).toBe(redact('ada@example.com'));
    expect(redact('4111 1111 1111 1111')).toBe(redact('4111111111111111'));
    expect(redact('bob@example.com')).not.toBe(redact('ada@example.com'));
    expect(
      redact('ada@example.com', new Redactor([{ name: 'email', builtin: 'email', action: 'hash' }], 'other')),
    ).not.toBe(redact('ada@example.com'));
  });

  it('takes the place of names, whatever the action, within their length', () => {
    const drop = createRedactor({ name: 'email', builtin: 'email', action: 'drop' });
    expect(drop.name('thread_id', 'of ada@example.com', 256)).toMatch(/^of \[email:[0-9a-f]{20}\]$/);
    expect(drop.name('thread_id', `a@b.co${' x'.repeat(125)}`, 256)).toMatch(/^\[name:[0-9a-f]{20}\]$/);
    expect(drop.value('attributes', { user: { id: 'ada@example.com', mail: 'ada@example.com' } })).toEqual({
      user: { id: expect.stringMatching(/^\[email:/), mail: '' },
    });
  });
});

describe('rules with paths', () => {
  it('take whole fields: nothing, a label or a hash is left', () => {
    const redactor = createRedactor(
      { name: 'gone', paths: ['inputs.a.b', 'inputs.list.*'], action: 'drop' },
      { name: 'token', paths: ['inputs.*.token', 'inputs.dotted\\.key'], action: 'label' },
      { name: 'same', paths: ['output'], action: 'hash' },
    );
    const value = {
      a: { b: 1, c: 2 },
      x: { token: { deep: 1 } },
      token: 'stays',
      list: [1, 2],
      'dotted.key': 3,
    };
    expect(redactor.value('inputs', value)).toEqual({
      a: { c: 2 },
      x: { token: '[token]' },
      token: 'stays',
      list: [null, null],
      'dotted.key': '[token]',
    });
    expect(redactor.value('output', { a: 1, b: 2 })).toEqual(redactor.value('output', { b: 2, a: 1 }));
    expect(redactor.value('attributes', { a: { b: 1 } })).toEqual({ a: { b: 1 } });
  });

  it('look for forms below their paths alone', () => {
    const redactor = createRedactor(
      { name: 'mail', builtin: 'email', paths: ['inputs.customer'], action: 'label' },
      { name: 'id', pattern: 'C-\\d+', paths: ['inputs.*.ref'], action: 'label' },
    );
    const value = { customer: { deep: ['ada@example.com'], ref: 'C-12' }, agent: 'ada@example.com C-12' };
    expect(redactor.value('inputs', value)).toEqual({
      customer: { deep: ['[mail]'], ref: '[id]' },
      agent: 'ada@example.com C-12',
    });
  });
});

describe('patterns', () => {
  it('have matches where they stand, beside signs of any kind', () => {
    const redactor = createRedactor({ name: 'id', pattern: '(?i)cust-[0-9]+', action: 'label' });
    expect(redactor.text('exception', '😀 é CUST-1, cust-22!')).toBe('😀 é [id], [id]!');
  });

  it('take time in proportion to the text', () => {
    const redactor = createRedactor({ name: 'x', pattern: '(a+)+b', action: 'label' });
    expect(redactor.text('exception', 'a'.repeat(20_000))).toHaveLength(20_000);
  });
});

describe('numbers', () => {
  const parse = (text: string) => parseJson(text) as JsonValue;
  const left = (redactor: Redactor, text: string): string =>
    JSON.stringify(redactor.value('inputs', parse(text)));

  it.each([
    '4111111111111111',
    '-4111111111111111',
    '4111111111111111.0',
    '4.111111111111111e15',
    '4111222233334444007',
  ])('are cards: %s', (card) => {
    expect(left(label, `{"a": ${card}, "list": [${card}]}`)).toBe('{"a":"[card]","list":["[card]"]}');
  });

  it('have what patterns look for, and stay as they are without it', () => {
    const redactor = createRedactor({ name: 'customer', pattern: '^77[0-9]{4}$', action: 'label' });
    expect(
      left(redactor, '{"id": 771234, "exact": 12345678901234567890, "one": 1.0, "other": 7712345}'),
    ).toBe('{"id":"[customer]","exact":12345678901234567890,"one":1.0,"other":7712345}');
    const below = createRedactor({ name: 'pin', pattern: '[0-9]{4}', paths: ['inputs.pin'], action: 'drop' });
    expect(left(below, '{"pin": 1234, "port": 8787}')).toBe('{"pin":"","port":8787}');
  });
});

describe('what says of which class a value is', () => {
  const names = {
    _type: 'Evaluator',
    _class_name: 'Evaluator',
    _bases: ['Object'],
    base_object_class: 'Evaluator',
  };
  const secret = '-----BEGIN PRIVATE KEY-----x';

  it.each([
    createRedactor({ name: 'p', pattern: '.*', action: 'drop' }),
    createRedactor({ name: 'p', pattern: '[A-Z]', paths: ['val'], action: 'label' }),
    createRedactor({ name: 'p', paths: ['val.*', 'val.*.*'], action: 'drop' }),
  ])('is out of reach of patterns and paths', (redactor) => {
    expect(redactor.value('val', { ...names, deep: [names] })).toMatchObject(names);
    expect(JSON.stringify(redactor.value('val', { ...names, deep: names }))).not.toContain('undefined');
  });

  it('never becomes the name of another class, whatever the action', () => {
    for (const action of ['drop', 'label', 'hash'] as const) {
      const redactor = createRedactor(...everything.map((rule) => ({ ...rule, action })));
      const value = {
        _type: `Evaluator${secret}`,
        _bases: [`Object${secret}`],
        _class_name: { text: secret },
      };
      const made = redactor.value('inputs', value) as JsonObject;
      expect(made._type).toMatch(/^Evaluator\[private_key:[0-9a-f]{20}\]$/);
      expect(made._bases).toEqual([expect.stringMatching(/^Object\[private_key:/)]);
      expect(JSON.stringify(made)).not.toContain('BEGIN');
    }
  });

  it('cannot be brought in by the name of a field: what is dropped leaves its label there', () => {
    const redactor = createRedactor(...everything.map((rule) => ({ ...rule, action: 'drop' as const })));
    const value = { [`_type${secret}`]: 'Evaluator', 'judge 4111 1111 1111 1111': 1 };
    expect(redactor.value('val', value)).toEqual({ '_type[private_key]': 'Evaluator', 'judge [card]': 1 });
  });
});

describe('refs', () => {
  const digest = 'HDSuxbBkNkvPkDh0b9q0iGZa2j9XIfamHzzPp-rKiv8';
  const refs = [
    `svc:///acme/shop/object/prompt:${digest}`,
    `weave:///acme/shop/object/data:${digest}/attr/rows/id/${digest}`,
    'svc:///acme/shop/op/charge:v3',
    'svc:///acme/shop/call/call_0123456789',
    `svc:///acme/shop/table/${'0a'.repeat(32)}`,
  ];
  const redactor = createRedactor({ name: 'p', pattern: '[a-z0-9:/]+', action: 'drop' });

  it('are whole where a pattern would take them apart', () => {
    expect(redactor.value('inputs', refs)).toEqual(refs);
    for (const ref of refs) expect(redactor.name('op_name', ref, 1024)).toBe(ref);
  });

  it('with a secret become no other ref, and their digests are no secrets', () => {
    const drop = createRedactor(...everything.map((rule) => ({ ...rule, action: 'drop' as const })));
    expect(drop.text('exception', `svc:///acme/shop/object/limits ada@example.com:${digest}`)).toMatch(
      /^svc:\/\/\/acme\/shop\/object\/limits \[email:[0-9a-f]{20}\]:/,
    );
    const chance = `svc:///acme/shop/object/x:-sk-${'a1'.repeat(19)}x`;
    expect(drop.text('exception', chance)).toBe(chance);
    expect(drop.foundIn('ref', chance)).toBeUndefined();
  });

  it('within other texts are like all else', () => {
    expect(redactor.text('exception', `SEE ${refs[0]}`)).not.toContain('acme');
  });
});

it('a rule that fails tells where, and nothing of the value', () => {
  const failing = new Redactor([{ name: 'x', pattern: 'x', action: 'label' }], undefined, () => (text) => {
    throw new RangeError(`cannot read ${text}`);
  });
  expect(() => failing.value('inputs', { a: 'secret text' })).toThrow(
    new RedactionFailed('inputs', 'RangeError'),
  );
});

it('the key of hashes is needed where something can be hashed', () => {
  const rule = (paths: string[] | undefined, action: Rule['action']): Rule => ({
    name: 'r',
    builtin: 'email',
    action,
    paths,
  });
  expect(needsKey([rule(['inputs.a'], 'hash')])).toBe(true);
  expect(needsKey([rule(undefined, 'label')])).toBe(true);
  expect(needsKey([rule(['attributes.*.id'], 'label')])).toBe(true);
  expect(needsKey([rule(['inputs.a', 'attributes.token'], 'drop')])).toBe(false);
});

it('values nest to any depth', () => {
  let value: JsonValue = 'ada@example.com';
  for (let i = 0; i < 100_000; i++) value = i % 2 ? [value] : { a: value };
  let left: JsonValue | undefined = label.value('inputs', value);
  for (let i = 100_000; i > 0; i--) left = Array.isArray(left) ? left[0] : (left as JsonObject).a;
  expect(left).toBe('[email]');
});

describe('for any value', () => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom('ada@example.com', 'to a@b.co', '4111 1111 1111 1111', '__proto__', '+4930901820'),
  );
  const anyValue = fc
    .jsonValue({ maxDepth: 4 })
    .chain((value) => fc.tuple(fc.constant(value as JsonValue), text, text))
    .map(([value, key, leaf]): JsonValue => ({ value, [key]: leaf, list: [leaf, value] }));
  const hashing = createRedactor(...everything.map((rule) => ({ ...rule, action: 'hash' as const })));

  it('what was redacted is not changed again', () => {
    for (const redactor of [label, hashing])
      fc.assert(
        fc.property(anyValue, (value) => {
          const once = redactor.value('inputs', value);
          expect(redactor.value('inputs', once)).toBe(once);
        }),
      );
  });

  it('the value that came is never changed, and comes back itself if nothing is found', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const before = JSON.stringify(value);
        const left = label.value('inputs', value);
        expect(JSON.stringify(value)).toBe(before);
        if (JSON.stringify(left) === before) expect(left).toBe(value);
      }),
    );
  });
});
