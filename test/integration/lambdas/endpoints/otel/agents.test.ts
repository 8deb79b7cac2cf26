import { appendFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type AgentCapture,
  type AnsweredCall,
  agentCaptureNames,
  type Fact,
  Judgement,
  readAgentCapture,
} from '../../../../support/otel/agent-captures.ts';
import { type SharedService, sharedService } from '../../../../support/service/service.ts';
import { bearer } from '../../../security/credentials.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

const send = async (requests: AgentCapture['requests'], project: string): Promise<void> => {
  for (const { path, body, headers } of requests) {
    const { 'content-type': type = '', 'content-encoding': encoding } = headers;
    const answer = await fetch(`${service.url}/otel${path.replace('/agents/otel', '')}`, {
      method: 'POST',
      headers: {
        'content-type': type,
        ...(encoding && { 'content-encoding': encoding }),
        authorization: bearer(service.key),
        project_id: project,
      },
      body: new Uint8Array(body),
    });
    expect([path, answer.status]).toEqual([path, 200]);
  }
};

const lines = async <T>(path: string, body: object): Promise<T[]> => {
  const answer = await service.post(path, body);
  return (await answer.text())
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T);
};

const judge = async (capture: AgentCapture, project: string): Promise<Fact[]> => {
  const calls = await lines<AnsweredCall>('/calls/stream_query', {
    project_id: project,
    include_feedback: true,
  });
  const threads = await lines<{ thread_id: string }>('/threads/stream_query', { project_id: project });
  return new Judgement(capture, calls).facts(threads.map(({ thread_id }) => thread_id));
};

const problemsIn = (facts: readonly Fact[]): string[] =>
  facts.flatMap(({ kind, what, problems }) => problems.map((problem) => `${kind}: ${what}: ${problem}`));

const orders = {
  'as it was sent': (capture: AgentCapture) => capture.requests,
  'in the other order': (capture: AgentCapture) => capture.requests.toReversed(),
  'sent twice': (capture: AgentCapture) => [...capture.requests, ...capture.requests],
} as const;

describe.each(agentCaptureNames)('the export of %s', (name) => {
  it.each(Object.entries(orders))('says what a person expects, %s', async (order, requestsIn) => {
    const capture = readAgentCapture(name);
    const project = `acme/agents-${name}-${Object.keys(orders).indexOf(order)}`;
    await send(requestsIn(capture), project);
    const facts = await judge(capture, project);
    if (process.env.SCORE) appendFileSync(process.env.SCORE, `${JSON.stringify({ name, order, facts })}\n`);
    expect(problemsIn(facts)).toEqual([]);
  });
});
