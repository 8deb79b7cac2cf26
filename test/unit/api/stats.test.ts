import { describe, expect, it } from 'vitest';
import { bodyOf } from '../../../api/endpoint.ts';
import { callsStats, callsUsage } from '../../../api/stats.ts';
import { ServiceError } from '../../../core/foundations/wire/index.ts';
import { parseValue } from '../../../core/foundations/wire/parse-body.ts';

const schema = bodyOf(callsStats);
const callsUsageBody = bodyOf(callsUsage);
const good = { project_id: 'acme/shop', start: '2026-10-01', end: '2026-11-01' };

const refusal = (change: object): string => {
  try {
    parseValue(schema, { ...good, ...change });
    return 'taken';
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error.detail.map(({ loc, msg }) => `${loc.slice(1).join('.')} ${msg}`).join('; ');
  }
};

describe('the body of /calls/stats', () => {
  it.each([
    [
      { timezone: 'Mars/Olympus' },
      'timezone should be the IANA name of a time zone, such as UTC or Europe/Berlin',
    ],
    [{ granularity: 0 }, expect.stringContaining('granularity should be 1 or more')],
    [
      { granularity: 90_000 },
      'granularity should be seconds: less than 86400, or whole days such as 86400 or 604800 for a week',
    ],
    [{ granularity: 2 }, 'granularity makes more than 10000 buckets: write more seconds, such as 21600'],
    [{ end: '2026-09-30' }, 'end should be later than start'],
    [
      { start: '2200-01-01', end: null },
      'start should be earlier than now, where the buckets end without an end',
    ],
    [{ group_by: ['op_name', 'status', 'thread_id'] }, 'group_by should have at most 2 items'],
    [{ group_by: ['status', 'status'] }, 'group_by should name each field once'],
    [
      { group_by: ['inputs'] },
      'group_by.0 should be one of "op_name", "svc_user_id", "status", "thread_id", "display_name"',
    ],
    [
      { call_metrics: [{ metric: 'latency_ms', percentiles: [101] }] },
      'call_metrics.0.percentiles.0 should be 100 or less',
    ],
    [
      { usage_metrics: [{ metric: 'tokens' }] },
      expect.stringContaining('usage_metrics.0.metric should be one of "input_tokens"'),
    ],
    [
      { call_metrics: [{ metric: 'call_count', aggregations: ['median'] }] },
      expect.stringContaining('should be one of "sum"'),
    ],
  ])('with %j says what to write instead', (change, expected) => {
    expect(refusal(change)).toEqual(expected);
  });
});

describe('the body of /calls/usage', () => {
  it('takes a thousand ids, each once, and no more', () => {
    const ids = Array.from({ length: 1000 }, (_, i) => `c${i}`);
    const body = { project_id: 'acme/shop', call_ids: [...ids.slice(1), 'c1'] };
    expect(parseValue(callsUsageBody, body).callIds).toEqual(ids.slice(1));
    expect(() => parseValue(callsUsageBody, { ...body, call_ids: [...ids, 'more'] })).toThrow(
      'at most 1000 items',
    );
  });

  it('takes the traces of the calls, none if they are not given', () => {
    const body = { project_id: 'acme/shop', call_ids: ['a'] };
    expect(parseValue(callsUsageBody, body).traceIds).toEqual([]);
    expect(parseValue(callsUsageBody, { ...body, trace_ids: ['t', 't', 'u'] }).traceIds).toEqual(['t', 'u']);
  });
});
