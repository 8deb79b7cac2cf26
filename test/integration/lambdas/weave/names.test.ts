import { beforeAll, describe, expect, it } from 'vitest';
import { isPage } from '../../../../api/endpoint.ts';
import { routesOf } from '../../../../weave/api/routes.ts';
import { get } from '../../../support/http-get.ts';
import { type SharedService, sharedService } from '../../../support/service.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService({ dialect: 'weave' });
});

const formOf = (body: object): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(body))
    form.set(name, name === 'file' ? new Blob([String(value)]) : String(value));
  return form;
};

const examples = routesOf('weave')
  .filter((route) => !isPage(route) && route.form !== 'upstream')
  .flatMap((route) =>
    route.operations.flatMap(({ operationPath = route.path, examples }) =>
      Object.entries(examples).map(([name, { body }]) => ({ route, path: operationPath, name, body })),
    ),
  );

/** What paths name that bodies of examples do not. */
const inPaths: Readonly<Record<string, string>> = {
  entity: 'acme',
  project: 'shop',
  object_id: 'brief',
  digest: 'latest',
};

/** A request of an example: what its path names is taken out of its body. */
const requestOf = ({ route, path, body }: (typeof examples)[number]): [url: string, init: RequestInit] => {
  const fields = new Map(Object.entries((body ?? {}) as object));
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = fields.get(name) ?? inPaths[name];
    fields.delete(name);
    return encodeURIComponent(String(value));
  });
  const { method, takes, form } = route;
  const headers: Record<string, string> = {
    authorization: `Basic ${Buffer.from(`api:${service.key}`).toString('base64')}`,
    accept: form === 'rpc' ? 'application/json, text/event-stream' : 'application/json',
  };
  const rest = Object.fromEntries(fields);
  if (method === 'GET') return [`${url}?${new URLSearchParams(rest as Record<string, string>)}`, { headers }];
  if (takes === 'form') return [url, { method, headers, body: formOf(rest) }];
  return [
    url,
    { method, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(rest) },
  ];
};

describe('the examples of Weave’s dialect, one after the other,', () => {
  it.each(examples)('are answered without a name of ours: $path: $name', async (example) => {
    const [url, init] = requestOf(example);
    const answer = await fetch(service.url + url, init);
    const text = await answer.text();
    expect([answer.status, text]).toEqual([200, expect.anything()]);
    // The document speaks of the examples, and of nothing of ours either.
    expect(text).not.toMatch(/\bsvc_|"svc"|svc:\/\/\//);
  });
});

describe('a link that SDKs print', () => {
  it.each([
    ['/acme/shop/weave', '../../ui/traces?project=acme%2Fshop'],
    ['/acme/my%20shop/weave', '../../ui/traces?project=acme%2Fmy+shop'],
    ['/acme/shop/weave/traces', '../../../ui/traces?project=acme%2Fshop'],
    ['/acme/shop/r/call/0192', '../../../../ui/call?project=acme%2Fshop&call=0192'],
    [
      '/acme/shop/weave/objects/prompt/versions/XqYn',
      '../../../../../../ui/objects?project=acme%2Fshop&object=prompt&version=XqYn',
    ],
    [
      '/acme/shop/weave/ops/answer/versions/XqYn',
      '../../../../../../ui/objects?project=acme%2Fshop&object=answer&version=XqYn',
    ],
    ['/acme/shop/weave/leaderboards/best', '../../../../ui/evaluations?project=acme%2Fshop'],
  ])('%s leads to the page, without a key', async (path, location) => {
    const { status, headers } = await get(service.url + path, {});
    expect([status, headers.location]).toEqual([302, location]);
    // The page is there, whatever stands before the path.
    expect((await get(new URL(location, service.url + path).href, {})).status).toBe(200);
  });

  it('is a 404 in our own dialect', async () => {
    const own = await sharedService();
    for (const path of ['/acme/shop/weave', '/acme/shop/r/call/1'])
      expect((await get(own.url + path, {})).status).toBe(404);
  });
});

describe('a call whose columns leave attributes and inputs out', () => {
  it('has them empty, as SDKs up to 0.52 need them, and those that are asked for as they are', async () => {
    const ask = async (body: object, path = '/calls/stream_query'): Promise<Record<string, unknown>[]> => {
      const answer = await service.post(path, body, { headers: { accept: 'application/json' } });
      return (await answer.json()) as Record<string, unknown>[];
    };
    const start = { project_id: 'acme/columns', id: 'c', trace_id: 't', op_name: 'op' };
    const batch = [
      {
        mode: 'start',
        req: {
          start: {
            ...start,
            started_at: '2026-10-01T00:00:00Z',
            attributes: { a: 1 },
            inputs: { n: 1, m: 2 },
          },
        },
      },
    ];
    expect((await service.post('/call/upsert_batch', { batch })).status).toBe(200);
    const query = { project_id: 'acme/columns' };
    expect(await ask({ ...query, columns: ['output'] })).toMatchObject([{ attributes: {}, inputs: {} }]);
    expect(await ask({ ...query, columns: ['inputs.n'] })).toMatchObject([
      { attributes: {}, inputs: { n: 1 } },
    ]);
    expect(await ask(query)).toMatchObject([{ attributes: { a: 1 }, inputs: { n: 1, m: 2 } }]);
  });
});
