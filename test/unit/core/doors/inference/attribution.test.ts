import { describe, expect, it } from 'vitest';
import { attribute, getEndUser } from '../../../../../core/doors/inference/index.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

describe('the end user', () => {
  it.each([
    [{ user: 'ada' }, 'ada'],
    [{ metadata: { user_id: 'ada' } }, 'ada'],
    [{ user: 'ada', metadata: { user_id: 'ben' } }, 'ada'],
    [{ user: '' }, undefined],
    [{ user: 7, metadata: 'text' }, undefined],
    [{ metadata: { user_id: '{"device_id":"d1","account_uuid":"","session_id":"s1"}' } }, 'd1'],
    [{ metadata: { user_id: '{"device_id":"d1","account_uuid":"a1","session_id":"s1"}' } }, 'a1'],
    [{ metadata: { user_id: '{"name":"ada"}' } }, '{"name":"ada"}'],
    [{ metadata: { user_id: '{broken' } }, '{broken'],
    [{ metadata: { user_id: 'user_5f_account_a1_session_s1' } }, 'a1'],
    [{ metadata: { user_id: 'user_5f_account__session_s1' } }, 'user_5f'],
  ])('of %j is %s, whatever session it is in', (body, user) => {
    expect(getEndUser({ model: 'm', ...body })).toBe(user);
  });
});

describe('a request', () => {
  it.each([
    [{ 'x-session-id': 's1', 'x-claude-code-session-id': 's2' }, 's1'],
    [{ 'x-claude-code-session-id': 's2' }, 's2'],
    [{ 'thread-id': 's3' }, 's3'],
    [{ 'x-session-id': '' }, undefined],
    [{}, undefined],
  ])('with %j is of the thread %s', (headers, thread) => {
    expect(attribute({ model: 'm' }, headers).threadId).toBe(thread);
  });

  it('is of the session that its user names, if no header does', () => {
    const body = { model: 'm', metadata: { user_id: '{"device_id":"d1","session_id":"s1"}' } };
    expect(attribute(body, {}).threadId).toBe('s1');
    expect(attribute(body, { 'x-session-id': 's2' }).threadId).toBe('s2');
  });

  it('is from where its header says', () => {
    const from = (source: string) => attribute({ model: 'm' }, { 'x-source': source }).source;
    expect(['playground', 'test', 'production', ''].map(from)).toEqual([
      'playground',
      'test',
      'production',
      undefined,
    ]);
    expect(attribute({ model: 'm' }, {}).source).toBeUndefined();
    expect(() => from('ci')).toThrow(
      'should be one of production, evaluation, judge, trial, playground, test',
    );
  });

  it.each([
    ['support:12', { name: 'support', version: '12' }],
    [' support ', { name: 'support' }],
    ['f%C3%BCr%20alle:3', { name: 'für alle', version: '3' }],
    ['', undefined],
  ])('is of the prompt that %j names', (header, prompt) => {
    expect(attribute({ model: 'm' }, { 'x-prompt': header }).prompt).toEqual(prompt);
  });

  it.each(['a:b:c', ':1', 'a:', '%'])('is refused with the prompt %j', (header) => {
    expect(() => attribute({ model: 'm' }, { 'x-prompt': header })).toThrow(
      'should be <name> or <name>:<version>, percent-encoded',
    );
  });

  it.each([
    [`00-${traceId}-${spanId}-01`, true],
    [`00-${traceId}-${spanId}-00`, true],
    [`cc-${traceId}-${spanId}-01-later`, true],
    [`ff-${traceId}-${spanId}-01`, false],
    [`00-${'0'.repeat(32)}-${spanId}-01`, false],
    [`00-${traceId}-${'0'.repeat(16)}-01`, false],
    [`00-${traceId.toUpperCase()}-${spanId}-01`, false],
    [`00-${traceId}-${spanId}`, false],
    ['', false],
  ])('with the traceparent %s is in its trace: %s', (traceparent, isIn) => {
    const parent = { traceId, parentId: `${traceId.slice(16)}${spanId}` };
    expect(attribute({ model: 'm' }, { traceparent }).parent).toEqual(isIn ? parent : undefined);
  });

  it.each([
    [{ 'user-agent': 'claude-cli/2.1.331 (external, sdk-cli)' }, { name: 'claude-code', version: '2.1.331' }],
    [{ 'user-agent': 'codex_exec/0.169.0 (Debian 12.0.0; x86_64)' }, { name: 'codex', version: '0.169.0' }],
    [{ 'x-claude-code-session-id': 's1' }, { name: 'claude-code' }],
    [
      { 'user-agent': 'claude-cli/2.1.331', 'x-claude-code-agent-id': 'a7' },
      { name: 'subagent', id: 'a7' },
    ],
    [
      { 'x-claude-code-agent-id': 'a7', 'x-claude-code-agent-type': 'Explore' },
      { name: 'Explore', id: 'a7' },
    ],
    [{ 'user-agent': 'OpenAI/JS 7.55.0' }, undefined],
  ])('with %j is of the agent %j', (headers, agent) => {
    expect(attribute({ model: 'm' }, headers).agent).toEqual(agent);
  });
});
