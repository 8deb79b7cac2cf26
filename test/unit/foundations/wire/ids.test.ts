import { describe, expect, it } from 'vitest';
import { isId, parseProjectId, parseRef, storedRefs } from '../../../../foundations/wire/index.ts';

describe('parseRef', () => {
  it('splits an object ref, with its path', () => {
    expect(parseRef('svc:///acme/air.line/object/prompt:a1b2/attr/x/index/0')).toEqual({
      kind: 'object',
      projectId: 'acme/air.line',
      name: 'prompt',
      digest: 'a1b2',
      path: 'attr/x/index/0',
    });
  });

  it('splits op and call refs', () => {
    expect(parseRef('svc:///a/b/op/agent.turn:0a8e')).toMatchObject({
      kind: 'op',
      name: 'agent.turn',
      digest: '0a8e',
    });
    expect(parseRef('svc:///a/b/call/some/id')).toMatchObject({ kind: 'call', callId: 'some/id' });
  });

  it.each([
    '',
    'agent.turn',
    'other:///a/b/op/x:1',
    'svc:///a/b/op/x',
    'svc:///a/b/op/x:1/path',
    'svc:///a/b/op/x:1:2',
    'svc:///a/op/x:1',
    'svc:///a/b/call/',
    'svc:///a/../object/x:1',
    'svc:///a/b/thing/x:1',
  ])('refuses %j', (text) => {
    expect(parseRef(text)).toBeUndefined();
  });

  it('takes the scheme of Weave, too', () => {
    expect(parseRef('weave:///a/b/op/x:1')).toEqual(parseRef('svc:///a/b/op/x:1'));
  });
});

describe('storedRefs', () => {
  const weave = 'weave:///a/b/call/c';

  it('gives every text that is a ref our scheme, and keys', () => {
    const stored = { list: ['svc:///a/b/call/c', 1], 'svc:///a/b/op/x:1': { ref: 'svc:///a/b/call/c' } };
    const sent = { list: [weave, 1], 'weave:///a/b/op/x:1': { ref: weave } };
    expect(JSON.parse(storedRefs(JSON.stringify(sent)))).toEqual(stored);
  });

  it('leaves texts that only have one in them', () => {
    const sent = JSON.stringify([`see ${weave}`, JSON.stringify({ ref: weave }), `\\"${weave}`]);
    expect(storedRefs(sent)).toBe(sent);
  });
});

describe('parseProjectId', () => {
  it.each(['acme/airline', 'a/b', `${'x'.repeat(128)}/A_z-0.9`])('accepts %s', (text) => {
    expect(parseProjectId(text)).toBe(text);
  });

  it.each([
    '',
    'acme',
    'acme/',
    '/x',
    'a/b/c',
    'a b/c',
    'a/.',
    '../b',
    `${'x'.repeat(129)}/a`,
    'a/b\n',
    'é/a',
  ])('refuses %j', (text) => {
    expect(parseProjectId(text)).toBeUndefined();
  });
});

describe('isId', () => {
  it.each(['x', ' ', 'call 1', '日本', '😀'.repeat(256), 'a/b#c'])('accepts %j', (text) => {
    expect(isId(text)).toBe(true);
  });

  it.each(['', 'a\u0000', 'a\nb', '\u2028', '\ud800', 'x'.repeat(257), '😀'.repeat(257)])(
    'refuses %j',
    (text) => {
      expect(isId(text)).toBe(false);
    },
  );
});
