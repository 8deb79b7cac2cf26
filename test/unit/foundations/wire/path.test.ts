import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../../foundations/wire/index.ts';
import { parsePath, walkIntoRows } from '../../../../foundations/wire/path.ts';

const noRows = async () => undefined;

const follow = async (value: JsonValue, path: string): Promise<JsonValue | undefined> => {
  const steps = parsePath(path);
  return steps && walkIntoRows(value, steps, noRows);
};

/** Every value within a value, with the path that leads to it. */
const within = (value: JsonValue, path: readonly string[] = []): [path: string, value: JsonValue][] => {
  const here: [string, JsonValue] = [path.join('/'), value];
  if (Array.isArray(value))
    return [here, ...value.flatMap((item, i) => within(item, [...path, `index/${i}`]))];
  if (typeof value !== 'object' || value === null) return [here];
  const entries = Object.entries(value);
  return [
    here,
    ...entries.flatMap(([name, item], i) =>
      within(item, [...path, `${i % 2 ? 'attr' : 'key'}/${encodeURIComponent(name)}`]),
    ),
  ];
};

describe('a path', () => {
  it('leads to everything that is in a value, whatever its names', async () => {
    const names = fc.string({ unit: 'grapheme' }).filter((name) => name.isWellFormed());
    const value = fc.letrec<{ value: JsonValue }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.oneof(fc.constant(null), fc.boolean(), fc.string(), fc.double({ noNaN: true })),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(names, tie('value'), { maxKeys: 4 }),
      ),
    })).value;
    await fc.assert(
      fc.asyncProperty(value, async (value) => {
        for (const [path, item] of within(value)) expect(await follow(value, path)).toBe(item);
      }),
    );
  });

  it('never fails, whatever it is', async () => {
    const part = fc.oneof(
      fc.constantFrom('attr', 'key', 'index', '0', '1', 'a', '%', '%2F', ''),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part), fc.jsonValue(), async (parts, value) => {
        const found = await follow(value as JsonValue, parts.join('/'));
        if (found !== undefined) expect(JSON.stringify(value)).toContain(JSON.stringify(found));
      }),
    );
  });

  const value: JsonValue = {
    x: [{ y: 1 }, null],
    'a/b': 'slash',
    '100%': 'percent',
    '': 'empty',
    '0': 'zero',
  };

  it.each<[string, JsonValue]>([
    ['', value],
    ['attr/x/index/0', { y: 1 }],
    ['key/x/index/0/attr/y', 1],
    ['attr/x/index/1', null],
    ['key/a%2Fb', 'slash'],
    ['key/100%25', 'percent'],
    ['key/100%', 'percent'],
    ['key/', 'empty'],
    ['attr/0', 'zero'],
  ])('%j leads to what it names', async (path, expected) => {
    expect(await follow(value, path)).toEqual(expected);
  });

  it.each([
    'attr',
    'attr/x/index',
    'attr/y',
    'attr/x/index/2',
    'attr/x/index/-1',
    'attr/x/index/00',
    'attr/x/index/1e0',
    'attr/x/attr/length',
    'index/0',
    'attr/toString',
    'attr/__proto__',
    'attr/a%2Fb/attr/length',
    'x/0',
    'attr/x/',
  ])('%j leads nowhere', async (path) => {
    expect(await follow(value, path)).toBeUndefined();
  });
});
