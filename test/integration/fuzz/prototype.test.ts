import { expect, it } from 'vitest';
import { isKeyed } from '../../../api/endpoint.ts';
import { routes } from '../../../api/routes.ts';
import { getFixture, requestTo } from '../../support/endpoints/index.ts';
import { nothing } from '../../support/endpoints/tenants.ts';
import { startInProcessWithModel } from '../../support/service/in-process.ts';

/** Keys that reach the prototype of all objects where somebody assigns by them. */
const poison = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';

/** The same JSON with poison in each of its objects. */
const poisoned = (json: string): string =>
  json.replaceAll('{}', poison).replaceAll(/\{(?=")/g, `${poison.slice(0, -1)},`);

it('no route lets a body reach the prototype of all objects', async () => {
  const service = await startInProcessWithModel();
  const before = Reflect.ownKeys(Object.prototype);
  const statuses = new Set<number | undefined>();
  for (const route of routes.filter(isKeyed)) {
    const good = requestTo(route, getFixture(route.path), 'acme/shop', nothing);
    const json = JSON.stringify(good.body);
    // Whole requests with poison in them, and such as are taken because it lies where anything may.
    for (const body of [poison, poisoned(json), json.replaceAll('{}', poison)]) {
      const { status } = await service.send({ path: good.path, body: JSON.parse(body) });
      statuses.add(status);
      expect(status, `${route.path} ${body}`).toBeLessThan(500);
    }
  }
  expect(statuses).toContain(200);
  expect(Reflect.ownKeys(Object.prototype)).toEqual(before);
  expect('polluted' in {}).toBe(false);
  await service.stop();
});
