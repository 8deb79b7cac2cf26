import { describe, expect, it } from 'vitest';
import { isKeyed } from '../../api/endpoint.ts';
import { routes } from '../../api/routes.ts';
import { getScenarios, usesStores } from '../support/endpoints/index.ts';
import { sample } from '../support/run/sampling.ts';
import { describeKills, useKiller } from './kills.ts';
import { look, prepare } from './trial.ts';

const killer = useKiller();
const writing = routes
  .filter(isKeyed)
  .filter((route) => route.role === 'write' && usesStores(route))
  .map(({ path }) => path);
// Every route has its storage requests fail in an ordinary run, in `writes.test.ts`.
// The deletion of a project is the one that is meant to be interrupted.
describeKills(killer, [...sample(writing, 9, 'kills'), '/project/delete']);

describe('/inference/v1/{path+}', () => {
  it('answers whole when its function dies over the record, which is whole or not there', async () => {
    const path = '/inference/v1/{path+}';
    const [scenario] = getScenarios(path);
    if (!scenario) throw new Error(`${path} has no scenario`);
    for (const nth of [0, 1]) {
      const { sender, sendKilled, trap } = killer();
      const { project, request } = await prepare(sender, scenario);
      const isSprung = () =>
        (trap()?.operations ?? []).filter((operation) => operation === 'BatchWriteItem').length > nth;
      const { answer } = await sendKilled(
        path,
        async () => {
          const whole = await sender.send(request);
          // The trap is taken away with the answer: by then it must have sprung.
          await expect.poll(isSprung).toBe(true);
          return whole;
        },
        { when: 'before', request: { operation: 'BatchWriteItem', nth } },
      );
      expect(answer).toMatchObject({ status: 200, complete: true });
      expect(await look(sender, scenario, project)).toEqual([[], [], []]);
    }
  });
});
