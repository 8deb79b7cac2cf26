import { beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../../../../api/routes.ts';
import { get } from '../../../../support/service/http-get.ts';
import { type SharedService, sharedService, throughWeave } from '../../../../support/service/service.ts';

let service: SharedService;
beforeAll(async () => {
  service = throughWeave(await sharedService());
});

const toForm = (body: object): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(body))
    form.set(name, name === 'file' ? new Blob([String(value)]) : String(value));
  return form;
};

/** The groups of operations that the door has, too. */
const groups = ['calls', 'statistics', 'threads', 'objects', 'tables', 'files', 'costs', 'feedback'];

/** What the digests of examples are where a value comes in by this door. */
const digests: readonly (readonly [own: string, weave: string])[] = [
  ['YQU4zBRJYqRwNoxsv2iTQaxqW0mCD4X7kJLv_MHBKdw', 'XqYnrRGCRsKytwwi9duiYN26FJosYWlYCOXOX09Lcas'],
  [
    'ac248a8eb679dc123755460524423571f7ec08465ae185a419ec0e208de38c4b',
    '0480bef923d3d4bb575e6e15e211f996ec80f17614ab5c5ea8a650390f8ec50a',
  ],
  ['LPJNul-wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ', 'LPJNulXwow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ'],
];

const inWeave = (body: unknown): unknown =>
  body === undefined
    ? undefined
    : JSON.parse(digests.reduce((text, [own, weave]) => text.replaceAll(own, weave), JSON.stringify(body)));

const examples = routes
  .filter(({ tag }) => groups.includes(tag))
  .flatMap((route) =>
    route.operations.flatMap(({ operationPath = route.path, examples }) =>
      Object.entries(examples).map(([name, { body }]) => ({
        route,
        path: operationPath,
        name,
        body: inWeave(body),
      })),
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
const toRequest = ({ route, path, body }: (typeof examples)[number]): [url: string, init: RequestInit] => {
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
  if (takes === 'form') return [url, { method, headers, body: toForm(rest) }];
  return [
    url,
    { method, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(rest) },
  ];
};

describe('the examples of our own endpoints, one after the other,', () => {
  it.each(examples)('are answered without a name of ours: $path: $name', async (example) => {
    const [url, init] = toRequest(example);
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
    const { url } = await sharedService();
    const { status, headers } = await get(url + path, {});
    expect([status, headers.location]).toEqual([302, location]);
    // The page is there, whatever stands before the path.
    expect((await get(new URL(location, url + path).href, {})).status).toBe(200);
    // The Python SDK has it below the door.
    const below = await get(service.url + path, {});
    expect([below.status, below.headers.location]).toEqual([302, `../${location}`]);
    expect((await get(new URL(`../${location}`, service.url + path).href, {})).status).toBe(200);
  });

  it('is a 404 if it names no project', async () => {
    const { url } = await sharedService();
    for (const path of ['/weave/acme', '/weave/acme/shop', '/acme/shop', '/weave/acme/shop/r/call'])
      expect((await get(url + path, {})).status).toBe(404);
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
