import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isKeyed } from '../../api/endpoint.ts';
import { routes } from '../../api/routes.ts';
import { getScenarios, permittedTo, type Scenario } from '../support/endpoints/index.ts';
import type { Fault } from '../support/faults/faults.ts';
import { type FaultyService, startFaultyService } from '../support/faults/faulty-service.ts';
import { sample } from '../support/run/sampling.ts';
import type { Sender } from '../support/service/in-process.ts';
import { look, prepare, type Seen } from './trial.ts';

/*
 * The functions that are deployed, behind the local gateway, whose stores fail at every other
 * request. This is what the other tests of this folder try, for once over HTTP and with the SDK's
 * own connections. An ordinary run has some of the routes, since the other tests have them all.
 */

const kinds: readonly Fault[] = ['reset', 'throttle', 'down', 'error', 'half'];

let faulty: FaultyService;
let sender: Sender;
let failing = false;
let requests = 0;
let faults = 0;
const decide = (): Fault => {
  if (!failing || requests++ % 2 === 1) return 'none';
  return kinds[faults++ % kinds.length] ?? 'none';
};
beforeAll(async () => {
  faulty = await startFaultyService(decide);
  ({ sender } = faulty);
});
afterAll(() => faulty.stop());

/** What is seen of a project once all is done: what is done beside an answer may come behind it. */
const settled = async (scenario: Scenario, project: string): Promise<Seen> => {
  const isThere = async () => (await look(sender, scenario, project)).some((records) => records.length > 0);
  if (scenario.unharmed) await expect.poll(isThere).toBe(true);
  return look(sender, scenario, project);
};

/** The paths of routes that use a store. */
const keyed = routes
  .filter(isKeyed)
  .map(({ path }) => path)
  .filter((path) => permittedTo(path).length > 0);
describe.each(sample(keyed, 4, 'bundles'))('%s', (path) => {
  const scenario = getScenarios(path).at(-1);

  it(`answers as if nothing had been while storage fails now and then: ${scenario?.name}`, async () => {
    if (!scenario) throw new Error(`${path} has no scenario`);
    const calm = await prepare(sender, scenario);
    const whole = await sender.send(calm.request);
    const after = await settled(scenario, calm.project);
    // What changes nothing is asked again of the same project.
    const { project, request } = scenario.views ? await prepare(sender, scenario) : calm;
    // The first request fails: some routes make no other.
    requests = 0;
    failing = true;
    const before = faults;
    const answer = await sender.send(request);
    await expect.poll(() => faults).toBeGreaterThan(before);
    failing = false;
    expect(answer).toMatchObject({ status: 200, complete: true });
    if (scenario.views) expect(await settled(scenario, project)).toEqual(after);
    else expect(answer.text).toBe(whole.text);
  });
});
