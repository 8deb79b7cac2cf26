import { describe, expect, it } from 'vitest';
import { className, fromRepr } from '../../../../../../core/doors/otel/messages/python.ts';

describe('what repr shows', () => {
  it.each([
    ['a text', "'it\\'s \\x41\\u00e4\\n'", "it's Aä\n"],
    ['a text in double quotes', `"it's"`, "it's"],
    ['an empty text', "''", ''],
    [
      'a dict of lists',
      "{'a': [1, -2.5, None], 'b': (True, False)}",
      { a: [1, -2.5, null], b: [true, false] },
    ],
    ['an object', "Tool(name='x', kind=<Kind.A: 'a'>)", { [className]: 'Tool', name: 'x', kind: 'a' }],
  ])('is read: %s', (_, source, value) => {
    expect(fromRepr(source)).toEqual(value);
  });

  it.each(["'no end", "'no end\\", '[1, 2', 'Tool(1)', '1 2', ''])('is none: %s', (source) => {
    expect(fromRepr(source)).toBeUndefined();
  });

  it('may be as long as a request', () => {
    const long = 'a'.repeat(30_000_000);
    expect(fromRepr(`['${long}']`)).toEqual([long]);
    expect(fromRepr(`['${long}`)).toBeUndefined();
  });
});
