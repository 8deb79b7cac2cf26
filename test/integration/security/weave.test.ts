import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isKeyed } from '../../../api/endpoint.ts';
import { routesOf } from '../../../weave/api/routes.ts';
import { type SharedService, sharedService } from '../../support/service.ts';
import { basic, bearer, type KeyMaker, keyMaker } from './credentials.ts';
import type { GoodRequest } from './requests.ts';
import { weaveRequests } from './weave-requests.ts';

let service: SharedService;
let keys: KeyMaker;
beforeAll(async () => {
  service = await sharedService({ dialect: 'weave' });
  keys = keyMaker(service);
});
afterAll(async () => {
  keys[Symbol.dispose]();
});

const routes = routesOf('weave').filter(({ dialect }) => dialect === 'weave');
const requests = weaveRequests as Readonly<Record<string, GoodRequest | undefined>>;

it('every route of the dialect that takes a grant has a request here', () => {
  expect(Object.keys(weaveRequests).sort()).toEqual(
    routes
      .filter(isKeyed)
      .map(({ path }) => path)
      .sort(),
  );
});

describe.each(routes.filter(isKeyed))('$method $path', ({ path, method, role }) => {
  const good = requests[path];
  const send = async (authorization: string | undefined) => {
    const answer = await fetch(service.url + (good?.path ?? path), {
      method,
      headers: {
        'content-type': 'application/json',
        ...good?.headers,
        ...(authorization !== undefined && { authorization }),
      },
      ...(method !== 'GET' && {
        body: typeof good?.body === 'string' ? good.body : JSON.stringify(good?.body),
      }),
    });
    const text = (await answer.text()).trimEnd().replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
    return { status: answer.status, text };
  };

  it('wants a key as Basic, and answers 401 to anything else', async () => {
    const refused = [
      undefined,
      bearer(await keys.granted('*:write')),
      basic(await keys.revoked()),
      basic(await keys.expired()),
      basic(await keys.withOtherSecret()),
    ];
    for (const authorization of refused) expect(await send(authorization)).toMatchObject({ status: 401 });
  });

  it('refuses keys that may not do it to this project, however much they may elsewhere', async () => {
    const grants = ['acme/other:write', 'acme/sho:write', 'umbrella/*:write acme/shop:inference'];
    for (const granted of role === 'write' ? [...grants, 'acme/shop:read'] : grants) {
      const { status, text } = await send(basic(await keys.granted(granted)));
      expect(status).toBe(403);
      const forbidden = good?.forbidden;
      if (forbidden && 'loc' in forbidden)
        expect(JSON.parse(text)).toEqual({ detail: [{ ...forbidden, type: 'forbidden' }] });
    }
  });

  it('takes a key that may', async () => {
    const { status = 200, answer: expected } = good ?? {};
    for (const granted of [`acme/shop:${role}`, 'acme/*:write'])
      expect(await send(basic(await keys.granted(granted)))).toEqual({ status, text: expected });
  });
});

it('a request in another project’s name is not told whether anything is there', async () => {
  const authorization = basic(await keys.granted('umbrella/*:write'));
  const ask = (project: string) =>
    fetch(`${service.url}/v2/${project}/call/start`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({
        start: { project_id: project, id: 'w', op_name: 'op', started_at: '2026-10-01T00:00:00Z' },
      }),
    });
  const [taken, free] = await Promise.all([ask('acme/shop'), ask('acme/none')]);
  expect([taken.status, free.status]).toEqual([403, 403]);
  const told = (await taken.text()).replaceAll('acme/shop', 'P');
  expect(told).toBe((await free.text()).replaceAll('acme/none', 'P'));
});
