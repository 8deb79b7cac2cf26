import type { Grant } from '../../foundations/auth/index.ts';
import { type Builtin, Redactor } from '../../foundations/redaction/index.ts';
import { parseProjectId } from '../../foundations/wire/index.ts';
import {
  ask,
  eventually,
  must,
  NotTried,
  Red,
  readJson,
  readText,
  requireStack,
  type Target,
  theLog,
} from './check.ts';
import { askJson, type Deployed, findResources } from './deployed.ts';
import { waitForLine } from './observability.ts';

const minute = 60_000;

/**
 * The stack, if a setting is on that makes a resource.
 *
 * @throws NotTried if it is off
 */
const requireSetting = (target: Target, setting: string, type: string, beginning: string): Deployed => {
  const stack = requireStack(target);
  if (findResources(stack, type, beginning).length === 0)
    throw new NotTried(`the stack does not have the setting ${setting}`);
  return stack;
};

/** Starts and ends a call. It is in no trace that the checks of calls count. */
const reportCall = async (
  target: Target,
  id: string,
  op_name: string,
  inputs: Readonly<Record<string, string>>,
): Promise<void> => {
  const { project, run } = target;
  const now = new Date().toISOString();
  const start = {
    project_id: project,
    id,
    trace_id: `${run}-features`,
    op_name,
    started_at: now,
    inputs,
  };
  const end = { project_id: project, id, ended_at: now, output: 'done' };
  const batch = [
    { mode: 'start', req: { start } },
    { mode: 'end', req: { end } },
  ];
  await readText(await ask(target, '/call/upsert_batch', { body: { batch } }));
};

export const events = async (target: Target): Promise<void> => {
  requireSetting(target, 'events', 'AWS::Lambda::Function', 'EventsFunction');
  await waitForLine(
    target,
    'FunctionsLog',
    '{ $.route = "events" && $.outcome = "answered" && $.rows > 0 }',
    new Red('no batch of events was delivered', 'docs/events.md: dead letters'),
    2 * minute,
  );
};

export const alerts = async (target: Target): Promise<void> => {
  requireSetting(target, 'alerts', 'AWS::Logs::LogGroup', 'AlertsFunctionLog');
  await waitForLine(
    target,
    'AlertsFunctionLog',
    '{ $.message = "alerts" && $.outcome = "answered" }',
    new Red('nobody has looked at alerts', 'docs/operations.md: the alarm Alerts'),
    2 * minute,
  );
};

/** An evaluator gives a verdict on a call, by stream, queue and judge. */
export const evaluators = async (target: Target): Promise<void> => {
  requireSetting(target, 'evaluators', 'AWS::Lambda::Function', 'EvaluatorsJudge');
  const { project, run } = target;
  const op = `${run}-judged`;
  const val = {
    _type: 'Evaluator',
    name: 'verify',
    filter: { op_names: [op] },
    on: 'call',
    sample_rate: 1,
    check: { contains: 'done' },
    enabled: true,
    saved_at: new Date().toISOString(),
  };
  const obj = { project_id: project, object_id: `${run}-evaluator`, val };
  await readText(await ask(target, '/obj/create', { body: { obj } }));
  const $expr = { $eq: [{ $getField: 'feedback_type' }, { $literal: 'evaluation.verify' }] };
  const body = { project_id: project, fields: ['payload'], query: { $expr } };
  let tries = 0;
  await eventually(
    target,
    async () => {
      // A new evaluator takes effect within seconds, so calls before that get no verdict.
      await reportCall(target, `${run}-judged-${tries++}`, op, {});
      const answer = await readJson(await ask(target, '/feedback/query', { body }));
      const { result } = answer as { result: { payload: { value: unknown } }[] };
      const [verdict] = result;
      if (!verdict) return new Red(`none of ${tries} calls has a verdict`, 'docs/operations.md: evaluators');
      must(verdict.payload.value === true, `the verdict is ${JSON.stringify(verdict.payload)}`, theLog);
      return undefined;
    },
    2 * minute,
    3000,
  );
};

/** A text for each built-in rule that is not longer than what it finds. */
const findings = {
  email: 'verify@example.com',
  phone: '+14155552671',
  card: '4111111111111111',
  iban: 'DE89370400440532013000',
  ipv4: '203.0.113.7',
  ipv6: '2001:db8::7',
  aws_key: 'AKIAIOSFODNN7EXAMPLE',
} as const satisfies Partial<Record<Builtin, string>>;

const hashForm = /^\[([a-z0-9_-]+):[0-9a-f]{20}\]$/;

/** What is hashed is hashed with the key in the secret, not with the reference to it. */
export const redactionKey = async (target: Target): Promise<void> => {
  const stack = requireSetting(
    target,
    'redact with an action hash',
    'AWS::SecretsManager::Secret',
    'RedactionKey',
  );
  const [SecretId] = findResources(stack, 'AWS::SecretsManager::Secret', 'RedactionKey');
  const { SecretString: key } = (await askJson(stack, 'secrets', 'secretsmanager.GetSecretValue', {
    SecretId,
  })) as { SecretString: string };
  const id = `${target.run}-redacted`;
  await reportCall(target, id, 'verify', findings);
  const { call } = (await readJson(
    await ask(target, '/call/read', { body: { project_id: target.project, id } }),
  )) as { call: { inputs: Record<string, unknown> } };
  let hashed = 0;
  for (const [builtin, text] of Object.entries(findings) as [Builtin, string][]) {
    const stored = String(call.inputs[builtin]);
    const [, name] = hashForm.exec(stored) ?? [];
    if (name === undefined) continue;
    hashed++;
    const expected = new Redactor([{ name, builtin, action: 'hash' }], key).text('inputs', text);
    must(
      stored === expected,
      `${text} is stored as ${stored}, and the key in the secret makes ${expected}`,
      'docs/decisions: the key of redaction is a dynamic reference. Deploy again, and run it again',
    );
  }
  if (hashed === 0) throw new NotTried('none of the rules hashes what a built-in rule finds everywhere');
};

/** The fields of headers as an exporter reads them from its environment. */
const parseHeaders = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(',').map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [name.trim().toLowerCase(), decodeURIComponent(value.join('=').trim())];
    }),
  );

/** A function with `grantReport` has a key in its environment, and it is good. */
export const reporter = async (target: Target): Promise<void> => {
  const stack = requireStack(target);
  const { reporter: name } = target;
  if (name === undefined) throw new NotTried('name a function with grantReport: --reporter NAME');
  const path = `/2015-03-31/functions/${encodeURIComponent(name)}/configuration`;
  const { Environment } = JSON.parse(await stack.ask('lambda', { method: 'GET', path })) as {
    Environment?: { Variables?: Record<string, string> };
  };
  const variables = Environment?.Variables ?? {};
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint = '', OTEL_EXPORTER_OTLP_HEADERS: text = '' } = variables;
  if (endpoint === '' && text === '' && 'PENNYTRACE_URL' in variables)
    throw new NotTried(`${name} signs as its role, and has no key to try`);
  const advice = 'docs/construct.md: functions that report';
  must(endpoint === `${target.url}/otel`, `${name} reports to ${endpoint || 'nowhere'}`, advice);
  must(!text.includes('{{resolve'), `${name} has the reference to a secret in place of its key`, advice);
  const headers = parseHeaders(text);
  const project = parseProjectId(headers.project_id ?? '');
  if (!project) throw new Red(`the headers of ${name} name no project`, advice);
  const now = String(Date.now() * 1_000_000);
  const traceId = Buffer.from(target.run.padEnd(16)).subarray(-16).toString('hex');
  const span = {
    traceId,
    spanId: '00000000000000c3',
    name: 'verify',
    startTimeUnixNano: now,
    endTimeUnixNano: now,
  };
  const answer = await fetch(`${endpoint}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }),
  });
  await readText(answer);
  const grants: Grant[] = [{ scope: project, role: 'write' }];
  const own = { ...target, key: await target.makeKey(grants, 300) };
  const found = async (): Promise<string[]> => {
    const body = { project_id: project, filter: { trace_ids: [traceId] }, columns: ['id'] };
    const lines = await readText(await ask(own, '/calls/stream_query', { body }));
    return lines
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { id: string }).id);
  };
  await eventually(
    target,
    async () =>
      (await found()).length > 0 ? undefined : new Red(`the span of ${name} is not in ${project}`, advice),
    20_000,
  );
  await readText(await ask(own, '/calls/delete', { body: { project_id: project, call_ids: await found() } }));
};
