import { describe, expect, it } from 'vitest';
import { findResources, synthesize } from '../../support/stack/template.ts';

/** What brings records and messages to functions, by what they come from. */
const listSources = (settings: object) =>
  [...findResources(synthesize({ ...settings }), 'AWS::Lambda::EventSourceMapping').values()].map(
    ({ Properties }) => ({
      from: JSON.stringify(Properties.EventSourceArn).replace(/.*\["([A-Z][a-z]+)([A-Z][a-z]+).*/, '$1 $2'),
      to: JSON.stringify(Properties.FunctionName).replace(/.*"([A-Z][a-z]+)([A-Z][a-z]+).*/, '$1 $2'),
    }),
  );

describe('a stack without the setting', () => {
  it('has nothing for evaluators', () => {
    const off = synthesize({});
    expect(JSON.stringify(off.toJSON())).not.toContain('EVALUATIONS_QUEUE');
    expect(findResources(off, 'AWS::SQS::Queue').size).toBe(0);
  });
});

describe('a stack with the setting', () => {
  const template = synthesize({ evaluators: { concurrency: 25 } });

  it('reads the stream of calls with one function, and the queue with another', () => {
    expect(listSources({ evaluators: true })).toEqual([
      { from: 'Storage Calls', to: 'Evaluators Watcher' },
      { from: 'Evaluations Queue', to: 'Evaluators Judge' },
    ]);
  });

  it('has two readers of a stream at most, whatever else reads it', () => {
    const sources = listSources({ evaluators: true, events: true, analytics: true });
    const byTable = Map.groupBy(sources, ({ from }) => from);
    expect(byTable.get('Storage Calls')?.map(({ to }) => to)).toEqual([
      'Events Function',
      'Analytics Function',
    ]);
    expect(byTable.get('Evaluations Queue')?.map(({ to }) => to)).toEqual(['Evaluators Judge']);
  });

  it('gives up a message after five tries, each of six times the longest verdict', () => {
    const queues = [...findResources(template, 'AWS::SQS::Queue').values()].map(
      ({ Properties }) => Properties,
    );
    const [judging] = queues.filter(({ RedrivePolicy }) => RedrivePolicy !== undefined);
    expect(judging).toMatchObject({ VisibilityTimeout: 720, RedrivePolicy: { maxReceiveCount: 5 } });
    const functions = [...findResources(template, 'AWS::Lambda::Function').values()];
    const judge = functions.find(
      ({ Properties }) => Properties.Description === 'Judges calls and stores the verdicts',
    );
    expect(judge?.Properties).toMatchObject({
      Timeout: 120,
      Environment: { Variables: { MAX_RECEIVES: '5', LEASES_OF_PROJECT: '12' } },
    });
    const mappings = [...findResources(template, 'AWS::Lambda::EventSourceMapping').values()];
    expect(mappings.map(({ Properties }) => Properties)).toContainEqual(
      expect.objectContaining({ ScalingConfig: { MaximumConcurrency: 25 } }),
    );
  });

  it('gives an invocation one message, which is of one project', () => {
    const mappings = [...findResources(template, 'AWS::Lambda::EventSourceMapping').values()];
    const ofQueue = mappings.filter(({ Properties }) => Properties.ScalingConfig !== undefined);
    expect(ofQueue.map(({ Properties }) => Properties.BatchSize)).toEqual([1]);
  });

  it('has the function that tries evaluators redact what it stores of judges', () => {
    const redact = [{ name: 'email', builtin: 'email', action: 'label' }];
    const functions = [
      ...findResources(synthesize({ evaluators: true, redact }), 'AWS::Lambda::Function').values(),
    ];
    const scorer = functions.find(({ Properties }) => Properties.Description === 'POST /calls/score');
    expect(scorer?.Properties.Environment).toMatchObject({ Variables: { REDACTION: expect.any(String) } });
  });

  it('rings for what was not judged, and shows what waits', () => {
    const alarms = [...findResources(template, 'AWS::CloudWatch::Alarm').values()];
    expect(alarms.map(({ Properties }) => String(Properties.AlarmDescription))).toContainEqual(
      expect.stringContaining('calls not be judged'),
    );
    const [dashboard] = [...findResources(template, 'AWS::CloudWatch::Dashboard').values()];
    expect(JSON.stringify(dashboard?.Properties)).toContain('What evaluators are to judge');
  });
});
