import { describe, expect, it } from 'vitest';
import { findPlaces } from '../../../../../core/doors/otel/threads.ts';
import type { SpanOfTrace } from '../../../../../core/records/calls/index.ts';

interface Said {
  readonly thread?: string;
  readonly user?: string;
  readonly isRun?: boolean;
  readonly isPlain?: boolean;
  readonly hasRemoteParent?: boolean;
}

const span = (id: string, parentId: string | null, { thread, user, ...fields }: Said = {}): SpanOfTrace => ({
  id,
  parentId,
  span: {
    isRun: false,
    isPlain: false,
    hasRemoteParent: false,
    pauses: false,
    givenUser: null,
    ...fields,
    threadId: thread ?? null,
  },
  userId: user ?? null,
});

/** Thread, turn and user of each span. */
const places = (...spans: SpanOfTrace[]): Record<string, unknown> =>
  Object.fromEntries(
    Array.from(findPlaces(spans), ([id, { threadId, turnId, userId }]) => [id, [threadId, turnId, userId]]),
  );
const t = { thread: 't' };
const u = { thread: 'u' };
const run = { isRun: true };
const nowhere = [null, null, null];

describe('a turn', () => {
  it('is a root with a thread, and what is below it belongs to it, in any order', () => {
    const inTurn = ['t', 'a', 'ada'];
    expect(places(span('c', 'b'), span('b', 'a', t), span('a', null, { ...t, user: 'ada' }))).toEqual({
      a: inTurn,
      b: inTurn,
      c: inTurn,
    });
  });

  it('is the topmost span with a thread, below one without', () => {
    expect(places(span('a', null), span('b', 'a', t), span('c', 'b'))).toEqual({
      a: nowhere,
      b: ['t', 'b', null],
      c: ['t', 'b', null],
    });
  });

  it('is not known while the parent has not come', () => {
    expect(places(span('b', 'a', t), span('c', 'b'))).toEqual({
      b: ['t', null, null],
      c: ['t', null, null],
    });
  });

  it('is below a parent in another process', () => {
    expect(places(span('b', 'a', { ...t, hasRemoteParent: true }))).toEqual({ b: ['t', 'b', null] });
  });

  it('holds for all below it, whatever a sub-agent calls its own conversation', () => {
    expect(
      places(span('a', null, { ...run, ...t }), span('b', 'a'), span('c', 'b', { ...run, ...u })),
    ).toEqual({
      a: ['t', 'a', null],
      b: ['t', 'a', null],
      c: ['t', 'a', null],
    });
  });

  it('is of the thread that agents within name, whatever a session of something else is called', () => {
    const inTurn = ['t', 'graph', null];
    expect(
      places(
        span('graph', null, run),
        span('agent', 'graph', { ...run, ...t }),
        span('http', 'graph', { isPlain: true, thread: 'cookie' }),
      ),
    ).toMatchObject({ graph: inTurn, agent: inTurn });
  });

  it('is the run around agents that name one thread, and one user', () => {
    const agent = { ...run, ...t, user: 'ada' };
    const inTurn = ['t', 'graph', 'ada'];
    expect(
      places(
        span('graph', null, run),
        span('one', 'graph', agent),
        span('other', 'graph', agent),
        span('tool', 'other'),
        span('node', 'graph'),
      ),
    ).toEqual({ graph: inTurn, one: inTurn, other: inTurn, tool: inTurn, node: inTurn });
  });

  it('is each topmost session of a job that serves several', () => {
    expect(
      places(
        span('job', null, run),
        span('one', 'job', t),
        span('two', 'job', u),
        span('three', 'job', t),
        span('step', 'three'),
      ),
    ).toEqual({
      job: nowhere,
      one: ['t', 'one', null],
      two: ['u', 'two', null],
      three: ['t', 'three', null],
      step: ['t', 'three', null],
    });
  });

  it('is below a server, whose own session gives way to a conversation', () => {
    const server = { isPlain: true, thread: 'cookie', user: 'ada' };
    expect(
      places(
        span('server', null, server),
        span('agent', 'server', { ...run, ...t }),
        span('query', 'server'),
      ),
    ).toEqual({
      server: ['cookie', 'server', 'ada'],
      agent: ['t', 'agent', 'ada'],
      query: ['cookie', 'server', 'ada'],
    });
  });
});

describe('a user', () => {
  it('that a span names is its own', () => {
    expect(
      places(
        span('a', null, { user: 'ada' }),
        span('b', 'a', { user: 'ben' }),
        span('c', 'b'),
        span('d', 'a'),
      ),
    ).toEqual({
      a: [null, null, 'ada'],
      b: [null, null, 'ben'],
      c: [null, null, 'ben'],
      d: [null, null, 'ada'],
    });
  });

  it('of whom there are several in a run is not the user of the run', () => {
    expect(
      places(span('a', null, run), span('b', 'a', { user: 'ada' }), span('c', 'a', { user: 'ben' })).a,
    ).toEqual(nowhere);
  });
});

describe('parents', () => {
  it('that make a circle end nothing and lose nobody, in any order', () => {
    const circle = [span('a', 'c', t), span('b', 'a'), span('c', 'b')];
    expect(Object.keys(places(...circle)).sort()).toEqual(['a', 'b', 'c']);
    expect(places(...circle.toReversed())).toEqual(places(...circle));
  });

  it('may be 50,000 deep', () => {
    const line = Array.from({ length: 50_000 }, (_, i) =>
      span(`${i}`, i === 0 ? null : `${i - 1}`, i === 0 ? t : {}),
    );
    expect(findPlaces(line.toReversed()).get('49999')).toMatchObject({ threadId: 't', turnId: '0' });
  });
});
