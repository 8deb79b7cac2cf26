import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { type BusEvent, fitsPattern } from 'cdk-local-runner/streams';
import type { Pattern } from 'cdk-local-runner/template';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AlertOnFailure } from '../../../examples/recipes/alert-on-failure.ts';
import { OnlineJudge } from '../../../examples/recipes/online-judge.ts';
import { handler } from '../../../examples/recipes/online-judge-handler.ts';
import { ReviewLowScores } from '../../../examples/recipes/review-low-scores.ts';
import { formatKey, makeKey } from '../../../foundations/auth/index.ts';
import { newName } from '../../support/run/new-name.ts';
import { temporaryFolder } from '../../support/run/project.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { startUpstream, type TestUpstream } from '../../support/service/upstream.ts';

const app = new App({ outdir: temporaryFolder(), analyticsReporting: false });
const stack = new Stack(app, 'Recipes');
const bus = EventBus.fromEventBusName(stack, 'Bus', 'default');
new AlertOnFailure(stack, 'Alert', { bus, mail: 'ops@example.com', projects: ['acme/shop'] });
new OnlineJudge(stack, 'Judge', {
  bus,
  apiUrl: 'https://example.com/api/',
  keySecret: Secret.fromSecretNameV2(stack, 'Key', 'judge'),
  model: 'gpt-4o',
  judgeProject: 'acme/judge',
  share: 0.1,
  dollarsADay: 2,
});
new ReviewLowScores(stack, 'Review', { bus, below: 0.5 });
const template = Template.fromStack(stack);

/** The pattern of the rule of this description. */
const findPattern = (description: string): Pattern => {
  const [rule] = Object.values(
    template.findResources('AWS::Events::Rule', { Properties: { Description: description } }),
  );
  return (rule as { Properties: { EventPattern: Pattern } }).Properties.EventPattern;
};

describe('the recipes', () => {
  it('are resources that wait for events, and cost nothing meanwhile', () => {
    template.resourceCountIs('AWS::Events::Rule', 3);
    template.hasResourceProperties('AWS::SNS::Subscription', {
      Protocol: 'email',
      Endpoint: 'ops@example.com',
    });
    template.hasResourceProperties('AWS::StepFunctions::StateMachine', {
      DefinitionString: Match.anyValue(),
    });
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ SHARE: '0.1', DOLLARS_A_DAY: '2' }) },
    });
  });
});

const key = formatKey(makeKey());

describe('with a service', () => {
  let service: TestService;
  let model: TestUpstream;
  const events: BusEvent[] = [];
  beforeAll(async () => {
    model = await startUpstream(({ body }, res) => {
      const content = 'Here: {"score": 0.25, "reason": "It says nothing."}';
      const usage = { prompt_tokens: 1_000_000, completion_tokens: 10, total_tokens: 1_000_010 };
      res.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          model: body.model,
          choices: [{ message: { role: 'assistant', content } }],
          usage,
        }),
      );
    });
    service = await startService({
      settings: { events: true },
      maxWindowMs: 50,
      inference: { baseUrl: model.baseUrl },
      // The judge keeps the key that it has read.
      key,
    });
    service.bus.subscribe((event) => events.push(event));
    vi.stubEnv('API_URL', `${service.url}/`);
    vi.stubEnv('API_KEY', service.key);
    vi.stubEnv('JUDGE_MODEL', 'gpt-4o');
    vi.stubEnv('JUDGE_PROJECT', 'acme/judge');
    vi.stubEnv('SHARE', '1');
    vi.stubEnv('DOLLARS_A_DAY', '2');
  });
  afterAll(async () => {
    await service.stop();
    await model[Symbol.asyncDispose]();
  });

  /** Reports a turn, and gives the event that the rule brings to the judge. */
  const turn = async (id: string, exception: string | null = null): Promise<BusEvent | undefined> => {
    const project_id = 'acme/shop';
    const start = {
      project_id,
      id,
      op_name: 'chat',
      started_at: '2026-11-10T10:00:00Z',
      thread_id: 't',
      turn_id: id,
    };
    const end = { project_id, id, ended_at: '2026-11-10T10:00:01Z', output: 'hm', exception };
    await service.post('/call/upsert_batch', {
      batch: [
        { mode: 'start', req: { start: { ...start, inputs: { q: 'What is it?' } } } },
        { mode: 'end', req: { end } },
      ],
    });
    const findEvents = () => events.filter(({ detail }) => detail.id === id);
    await expect.poll(() => findEvents().length).toBeGreaterThan(1);
    return findEvents().find((event) => fitsPattern(findPattern('Turns for the judge'), event));
  };

  it('a turn is judged once, and its low score goes to the reviewers', async () => {
    events.length = 0;
    const id = newName('turn');
    vi.stubEnv('JUDGE_PROJECT', newName('acme/judge'));
    vi.stubEnv('DOLLARS_A_DAY', '2');
    const event = (await turn(id)) as never;
    expect(await handler(event)).toBe('scored');
    expect(await handler(event)).toBe('over budget');
    vi.stubEnv('DOLLARS_A_DAY', '100');
    expect(await handler(event)).toBe('scored');
    const answer = await service.post('/feedback/query', { project_id: 'acme/shop' });
    const { result } = (await answer.json()) as { result: { svc_ref: string }[] };
    const svc_ref = `svc:///acme/shop/call/${id}`;
    expect(result.filter((record) => record.svc_ref === svc_ref)).toMatchObject([
      { feedback_type: 'judge', payload: { score: 0.25 } },
    ]);
    const low = () => events.filter((event) => fitsPattern(findPattern('Feedback with a low score'), event));
    await expect.poll(() => low().length).toBe(1);
    expect(String(model.last().body.messages && JSON.stringify(model.last().body))).toContain('What is it?');
    // What the judge asks is no turn, and in a project of its own.
    expect(events.filter((event) => fitsPattern(findPattern('Turns for the judge'), event))).toHaveLength(1);
  });

  it('a turn that failed is told of, and not judged', async () => {
    const id = newName('turn');
    expect(await turn(id, 'it broke')).toBeUndefined();
    const failed = events.filter((event) => fitsPattern(findPattern('Calls that failed'), event));
    expect(failed.map(({ detail }) => detail.id)).toContain(id);
  });

  it('a low score of an object is left to others', async () => {
    await service.post('/feedback/create', {
      project_id: 'acme/shop',
      svc_ref: 'svc:///acme/shop/object/prompt:latest',
      id: 'on object',
      feedback_type: 'judge',
      payload: { score: 0 },
    });
    const findEvents = () => events.filter(({ detail }) => detail.id === 'on object');
    await expect.poll(() => findEvents().length).toBe(1);
    expect(
      findEvents().filter((event) => fitsPattern(findPattern('Feedback with a low score'), event)),
    ).toEqual([]);
  });

  it('a model without a price is not asked on, since no budget could be kept', async () => {
    vi.stubEnv('JUDGE_MODEL', 'unpriced');
    vi.stubEnv('JUDGE_PROJECT', newName('acme/other-judge'));
    const event = (await turn(newName('turn'))) as never;
    expect(await handler(event)).toBe('scored');
    const asked = model.requests.length;
    // What the model answered is recorded behind the answer.
    await expect
      .poll(() => handler(event).catch(String))
      .toBe('Error: unpriced has no price, so the budget cannot be kept: give it one with /cost/create');
    expect(model.requests.length - asked).toBeLessThan(10);
  });

  it('a turn that is not sampled is left alone', async () => {
    vi.stubEnv('SHARE', '0');
    expect(await handler({ detail: { event_id: 'ffffffff', call_ref: '', id: '', project_id: '' } })).toBe(
      'not sampled',
    );
  });
});
