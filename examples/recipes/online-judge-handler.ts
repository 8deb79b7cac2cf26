import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

/** An event of a turn, as far as the judge reads it. */
interface TurnEnded {
  readonly detail: {
    readonly event_id: string;
    readonly call_ref: string;
    readonly id: string;
    readonly project_id: string;
  };
}

/** What became of a turn. */
type Outcome = 'not sampled' | 'over budget' | 'gone' | 'no score' | 'scored';

const setting = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`the environment variable ${name} is not set`);
  return value;
};

let key: string | undefined;
const readKey = async (): Promise<string> => {
  if (process.env.API_KEY) return process.env.API_KEY;
  const { SecretString } = await new SecretsManagerClient().send(
    new GetSecretValueCommand({ SecretId: setting('KEY_SECRET') }),
  );
  if (!SecretString) throw new Error('the secret KEY_SECRET has no text: put the judge’s key into it');
  return SecretString;
};

const request = async (
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<unknown> => {
  // Kept once it was read: a failed read is tried again with the next event.
  key ??= await readKey();
  const isInference = path.startsWith('/inference/');
  const credentials = isInference ? `Bearer ${key}` : `Basic ${Buffer.from(`api:${key}`).toString('base64')}`;
  const answer = await fetch(setting('API_URL').replace(/\/$/, '') + path, {
    method: 'POST',
    headers: { authorization: credentials, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  // EventBridge brings the event again.
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
};

/** Whether an event is in the sample: the same event always is, or never. */
const isSampled = (eventId: string): boolean =>
  Number.parseInt(eventId.slice(0, 8), 16) / 2 ** 32 < Number(setting('SHARE'));

/** What a model has used, in a day. */
interface ModelUsage {
  readonly model: string;
  readonly sum_total_cost: number;
  /** How many of its calls had a price. */
  readonly count_total_cost: number;
}

/**
 * What the judge has cost today, in dollars, as its own calls say.
 *
 * @throws Error if it asked a model without a price, since no budget can be kept then
 */
const spentToday = async (): Promise<number> => {
  const start = new Date().toISOString().slice(0, 10);
  const { usage_buckets: buckets } = (await request('/calls/stats', {
    project_id: setting('JUDGE_PROJECT'),
    start,
    granularity: 86_400,
    usage_metrics: [{ metric: 'total_cost', aggregations: ['sum', 'count'] }],
  })) as { usage_buckets: ModelUsage[] };
  const unpriced = buckets.find(({ count_total_cost: count }) => count === 0)?.model;
  if (unpriced !== undefined)
    throw new Error(`${unpriced} has no price, so the budget cannot be kept: give it one with /cost/create`);
  return buckets.reduce((sum, { sum_total_cost: cost }) => sum + cost, 0);
};

const question = (call: { inputs: unknown; output: unknown }): string =>
  `Score how well the output answers the inputs, from 0 to 1.
Answer with JSON alone: {"score": 0.5, "reason": "in one sentence"}

Inputs: ${JSON.stringify(call.inputs).slice(0, 20_000)}
Output: ${JSON.stringify(call.output).slice(0, 20_000)}`;

const verdictIn = (text: string): { score: number; reason: string } | undefined => {
  const [json] = /\{[^{}]*\}/.exec(text) ?? [];
  try {
    const { score, reason } = JSON.parse(json ?? '') as { score: unknown; reason: unknown };
    return typeof score === 'number' && score >= 0 && score <= 1
      ? { score, reason: String(reason ?? '') }
      : undefined;
  } catch {
    return undefined;
  }
};

/** Asks the model. Its answer is recorded as a call of the judge's project, by which it is paid. */
const ask = async (content: string): Promise<string> => {
  const body = { model: setting('JUDGE_MODEL'), messages: [{ role: 'user', content }], temperature: 0 };
  const { choices } = (await request('/inference/v1/chat/completions', body, {
    'openai-project': setting('JUDGE_PROJECT'),
  })) as { choices: { message: { content: string } }[] };
  return choices[0]?.message.content ?? '';
};

/**
 * Judges a turn. An event that comes again asks again, if it failed, and writes the same feedback
 * at most once: the record has the event's id.
 */
export const handler = async ({ detail }: TurnEnded): Promise<Outcome> => {
  if (!isSampled(detail.event_id)) return 'not sampled';
  if ((await spentToday()) >= Number(setting('DOLLARS_A_DAY'))) return 'over budget';
  const { call } = (await request('/call/read', { project_id: detail.project_id, id: detail.id })) as {
    call: { inputs: unknown; output: unknown } | null;
  };
  if (!call) return 'gone';
  const verdict = verdictIn(await ask(question(call)));
  if (!verdict) return 'no score';
  await request('/feedback/create', {
    project_id: detail.project_id,
    id: `judge-${detail.event_id}`,
    svc_ref: detail.call_ref,
    feedback_type: 'judge',
    creator: setting('JUDGE_MODEL'),
    payload: verdict,
  }).catch((error: unknown) => {
    // Another verdict of the same event was first.
    if (!String(error).includes('answered 409')) throw error;
  });
  return 'scored';
};
