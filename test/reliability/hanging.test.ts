import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isKeyed } from '../../api/endpoint.ts';
import { routes } from '../../api/routes.ts';
import { getScenarios, usesStores } from '../support/endpoints/index.ts';
import { type FaultyService, startFaultyService } from '../support/faults/faulty-service.ts';
import { deep, sample } from '../support/run/sampling.ts';
import type { Sent } from '../support/service/in-process.ts';
import { keyWith } from '../support/service/keys.ts';
import { prepare } from './trial.ts';

/*
 * Stores that never answer. Routes wait at once, which takes as long as the longest time-out. A
 * deep run has all routes, with the time-outs as they are deployed. An ordinary one has a third of
 * them, with shorter ones. Inference needs no storage for its answer, and what its upstream does is
 * tested with it. That the function itself answers shows that its time was not up: else API Gateway
 * would, with a 502.
 */

const keyed = routes.filter(isKeyed).filter((route) => route.role !== 'inference' && usesStores(route));
const storing = sample(keyed, Math.ceil(keyed.length / 3), 'hanging');

let faulty: FaultyService;
let hanging = false;
/** A request to each route. What hangs changes nothing, so it can be tried again. */
const prepared: { readonly path: string; readonly request: Sent }[] = [];
beforeAll(async () => {
  faulty = await startFaultyService(
    () => (hanging ? 'hang' : 'none'),
    undefined,
    deep ? {} : { maxTimeoutSeconds: 9 },
  );
  // One after the other: several at once would each start functions of their own.
  for (const { path } of storing) {
    const scenario = getScenarios(path).at(-1);
    if (!scenario) throw new Error(`${path} has no scenario`);
    prepared.push({ path, request: (await prepare(faulty.sender, scenario)).request });
  }
});
afterAll(() => faulty.stop());

it('are a 503 that says when to come back, before the function’s time is up: on any route, and where the key is looked up', {
  // A machine that is too busy to run a timer within a second is no fault of the service.
  retry: 1,
}, async () => {
  const { service, sender } = faulty;
  hanging = false;
  // A refused request has the function loaded: how long that takes is not what is looked at.
  await Promise.all(storing.map(({ path }) => sender.send({ path, body: {} })));
  const unknown = await keyWith(service, { scope: '*', role: 'read' });
  hanging = true;
  const [ofKey, ...answers] = await Promise.all([
    sender.send({
      path: '/call/read',
      body: { project_id: 'acme/shop', id: 'c' },
      headers: { authorization: unknown },
    }),
    ...prepared.map(async ({ request }, i) => {
      // Functions share two cores here. All at once could not answer within their last second.
      await sleep(i * 200);
      return sender.send(request);
    }),
  ]);
  for (const [i, answer] of answers.entries()) {
    const path = prepared[i]?.path;
    const { status, headers, text } = answer;
    expect({ path, status, retryAfter: headers['retry-after'] }, text).toEqual({
      path,
      status: 503,
      retryAfter: '1',
    });
    const unavailable = { detail: [{ type: 'storage_unavailable' }] };
    // OTLP has errors of a shape of its own; 14 is UNAVAILABLE.
    expect(JSON.parse(text)).toMatchObject(
      path?.startsWith('/otel/')
        ? { code: 14 }
        : path === '/mcp'
          ? { error: { data: unavailable } }
          : unavailable,
    );
  }
  expect(ofKey).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  expect(JSON.parse(ofKey?.text ?? '')).toMatchObject({ detail: [{ type: 'storage_unavailable' }] });
  hanging = false;
  for (const { request } of prepared)
    expect(await sender.send(request)).toMatchObject({ status: 200, complete: true });
});
