import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { isKeyed, routes } from '../../lib/routes.ts';
import type { Fault } from '../support/faults.ts';
import { type FaultyProxy, startFaultyProxy } from '../support/faulty-proxy.ts';
import type { Sender } from '../support/in-process.ts';
import { overHttp } from '../support/over-http.ts';
import { startService, type TestService } from '../support/service.ts';
import { scenarios } from './scenarios/index.ts';
import { look, prepare } from './trial.ts';

/*
 * The functions that are deployed, behind the local gateway, whose stores fail at every other request: the same as in the other tests of this folder, for once over
 * HTTP and with the SDK's own connections.
 */

const kinds: readonly Fault[] = ['reset', 'throttle', 'down', 'error', 'half'];

let service: TestService;
let sender: Sender;
let proxies: FaultyProxy[];
let failing = false;
let requests = 0;
let faults = 0;
const decide = (): Fault => {
  if (!failing || requests++ % 2 === 1) return 'none';
  return kinds[faults++ % kinds.length] ?? 'none';
};
beforeAll(async () => {
  const { dynamodb, s3 } = inject('stores');
  proxies = await Promise.all([dynamodb, s3].map((target) => startFaultyProxy(target, decide)));
  const [throughDynamodb, throughS3] = proxies.map(({ endpoint }) => endpoint);
  service = await startService({ dynamodb: throughDynamodb ?? '', s3: throughS3 ?? '' });
  sender = overHttp(service);
});
afterAll(async () => {
  await service.stop();
  for (const proxy of proxies) await proxy[Symbol.asyncDispose]();
});

describe.each(routes.filter(isKeyed).map(({ path }) => path))('%s', (path) => {
  const scenario = scenarios[path]?.at(-1);

  it(`answers as if nothing had been while storage fails now and then: ${scenario?.name}`, async () => {
    if (!scenario) throw new Error(`${path} has no scenario`);
    const calm = await prepare(sender, scenario);
    const whole = await sender.send(calm.request);
    const after = await look(sender, scenario, calm.project);
    const { project, request } = await prepare(sender, scenario);
    failing = true;
    const before = faults;
    const answer = await sender.send(request);
    await expect.poll(() => faults).toBeGreaterThan(before);
    failing = false;
    expect(answer).toMatchObject({ status: 200, complete: true });
    if (scenario.views) expect(await look(sender, scenario, project)).toEqual(after);
    else expect(answer.text.length).toBe(whole.text.length + (project.length - calm.project.length));
  });
});
