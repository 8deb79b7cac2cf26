import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { RequestLog } from '../../../../lambdas/log/index.ts';
import { linesOf } from './lines.ts';

/**
 * The schema that AWS publishes for validating documents of the embedded metric format, without its
 * titles and examples
 * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html).
 */
const published: Parameters<typeof z.fromJSONSchema>[0] = {
  type: 'object',
  required: ['_aws'],
  properties: {
    _aws: {
      type: 'object',
      required: ['Timestamp', 'CloudWatchMetrics'],
      properties: {
        Timestamp: { type: 'integer' },
        CloudWatchMetrics: {
          type: 'array',
          items: {
            type: 'object',
            required: ['Namespace', 'Dimensions', 'Metrics'],
            properties: {
              Namespace: { type: 'string', pattern: '^(.*)$', minLength: 1, maxLength: 1024 },
              Dimensions: {
                type: 'array',
                minItems: 1,
                items: {
                  type: 'array',
                  minItems: 0,
                  maxItems: 30,
                  items: { type: 'string', pattern: '^(.*)$', minLength: 1, maxLength: 250 },
                },
              },
              Metrics: {
                type: 'array',
                items: {
                  type: 'object',
                  required: ['Name'],
                  properties: {
                    Name: { type: 'string', pattern: '^(.*)$', minLength: 1, maxLength: 1024 },
                    Unit: {
                      type: 'string',
                      pattern:
                        '^(Seconds|Microseconds|Milliseconds|Bytes|Kilobytes|Megabytes|Gigabytes|Terabytes|Bits|Kilobits|Megabits|Gigabits|Terabits|Percent|Count|Bytes\\/Second|Kilobytes\\/Second|Megabytes\\/Second|Gigabytes\\/Second|Terabytes\\/Second|Bits\\/Second|Kilobits\\/Second|Megabits\\/Second|Gigabits\\/Second|Terabits\\/Second|Count\\/Second|None)$',
                    },
                    StorageResolution: { type: 'integer' },
                  },
                },
              },
            },
          },
        },
      },
    },
  },
};

const document = z.fromJSONSchema(published);

const lineOf = async (namespace: string | undefined) => {
  vi.stubEnv('METRICS_NAMESPACE', namespace);
  const subject = { message: 'request', requestId: 'r', route: '/call/read' } as const;
  const [line] = await linesOf(() => new RequestLog(subject, { awsRequestId: 'i' }).ends('answered'));
  return line ?? {};
};

afterEach(() => vi.unstubAllEnvs());

describe('a log line', () => {
  it('has no metrics if its route has none', async () => {
    expect(await lineOf(undefined)).not.toHaveProperty('_aws');
  });

  it('is a document of the embedded metric format if its route has metrics', async () => {
    expect(document.safeParse(await lineOf('Pennytrace')).error).toBeUndefined();
    expect(document.safeParse(await lineOf(undefined)).success).toBe(false);
  });

  it('has a number for each metric and a text for each dimension, as the specification requires', async () => {
    const line = await lineOf('Pennytrace');
    const { _aws } = line as { _aws: { CloudWatchMetrics: { Metrics: { Name: string }[] }[] } };
    const [directive] = _aws.CloudWatchMetrics;
    expect(directive).toEqual({
      Namespace: 'Pennytrace',
      Dimensions: [['route']],
      Metrics: [
        { Name: 'ms', Unit: 'Milliseconds' },
        { Name: 'failed', Unit: 'Count' },
        { Name: 'throttled', Unit: 'Count' },
        { Name: 'rows', Unit: 'Count' },
        { Name: 'readUnits', Unit: 'Count' },
        { Name: 'writeUnits', Unit: 'Count' },
      ],
    });
    expect(line.route).toBe('/call/read');
    for (const { Name } of directive?.Metrics ?? []) expect(line[Name]).toEqual(expect.any(Number));
  });

  it('has its time in milliseconds', async () => {
    const { _aws } = (await lineOf('Pennytrace')) as { _aws: { Timestamp: number } };
    expect(Math.abs(Date.now() - _aws.Timestamp)).toBeLessThan(60_000);
  });
});
