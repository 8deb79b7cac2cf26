import { ask, basic, eventually, must, Red, readText, type Target, theLog } from './check.ts';

/** Each kind of refusal, by whom, and its status. */
export const refusals = async (target: Target): Promise<void> => {
  const { url, project, key, revoked } = target;
  const post = (path: string, body: string, headers: Record<string, string>) =>
    fetch(url + path, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
  const good = JSON.stringify({ project_id: project });
  const as = { authorization: basic(key) };
  const tries: readonly (readonly [string, number, () => Promise<Response>])[] = [
    ['no key', 401, () => post('/calls/query_stats', good, {})],
    ['no key that there is', 401, () => post('/calls/query_stats', good, { authorization: basic('x') })],
    ['a revoked key', 401, () => post('/calls/query_stats', good, { authorization: basic(revoked) })],
    ['another’s project', 403, () => post('/calls/query_stats', '{"project_id":"nobody/nothing"}', as)],
    ['a wrong body', 422, () => post('/calls/query_stats', '{"project_id":7}', as)],
    ['no JSON', 422, () => post('/calls/query_stats', '{', as)],
    ['another type', 415, () => post('/calls/query_stats', good, { ...as, 'content-type': 'text/csv' })],
    [
      'what is not there',
      404,
      () => post('/obj/read', JSON.stringify({ project_id: project, object_id: 'no', digest: 'no' }), as),
    ],
    ['no such route', 404, () => post('/no/such/route', good, {})],
    ['no such route, with a key', 404, () => post('/no/such/route', good, as)],
    ['7 MB', 413, () => post('/call/upsert_batch', JSON.stringify({ batch: ['x'.repeat(7_000_000)] }), as)],
    [
      'a model that goes nowhere',
      404,
      () => post('/inference/v1/no/such/path', '{"model":"x"}', { authorization: `Bearer ${key}` }),
    ],
  ];
  const wrong: string[] = [];
  for (const [what, status, attempt] of tries) {
    const answer = await attempt();
    const text = await answer.text();
    if (answer.status !== status) wrong.push(`${what} is ${answer.status}, not ${status}`);
    else if (!text.includes('"detail"')) wrong.push(`${what} has no detail: ${text.slice(0, 80)}`);
    else if (status === 401 && !answer.headers.has('www-authenticate'))
      wrong.push(`${what} has no challenge`);
  }
  must(wrong.length === 0, wrong.join('; '), 'see docs/decisions/0024: what the gateway answers by itself');
};

/** How long the key lives that expires, in seconds: its first request has to come before. */
const lifeSeconds = 10;

/**
 * A key that has expired is refused although the gateway still has its authorization in its cache. The
 * gateway passes the challenge on under another name.
 */
export const expires = async (target: Target): Promise<void> => {
  const key = await target.makeKey([{ scope: target.project, role: 'read' }], lifeSeconds);
  const body = { project_id: target.project };
  const query = () => ask({ ...target, key }, '/calls/query_stats', { body });
  await readText(await query());
  await eventually(
    target,
    async () => {
      const answer = await query();
      const text = await answer.text();
      if (answer.status === 200) return new Red('the key is good after it has expired', theLog);
      must(
        answer.status === 401 && text.includes('"detail"'),
        `${answer.status} ${text.slice(0, 200)}`,
        theLog,
      );
      const challenges = ['www-authenticate', 'x-amzn-remapped-www-authenticate'];
      must(
        challenges.some((name) => answer.headers.has(name)),
        'the 401 has no challenge',
        theLog,
      );
      return undefined;
    },
    (lifeSeconds + 20) * 1000,
  );
};
