import { Readable } from 'node:stream';
import { NumberValue } from '@aws-sdk/lib-dynamodb';
import { HttpResponse } from '@smithy/core/protocols';
import { localCredentials } from 'cdk-local-runner';
import { localRegion } from 'cdk-local-runner/template';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import {
  asBytes,
  asMap,
  asNumber,
  asText,
  dynamodbClient,
  getItems,
  type Item,
  putItems,
  requestBudget,
  type Table,
  type Value,
} from '../../../../foundations/storage/index.ts';
import { anyCharacter } from '../../../support/values/arbitraries/character.ts';

describe('a value', () => {
  const kinds = { asBytes, asMap, asNumber, asText };
  const values: [keyof typeof kinds | 'none', Value | undefined][] = [
    ['asBytes', new Uint8Array()],
    ['asBytes', Buffer.from('x')],
    ['asText', ''],
    ['asNumber', 0],
    ['asMap', {}],
    ['none', undefined],
    ['none', null],
    ['none', false],
    ['none', ['x']],
    ['none', NumberValue.from('12345678901234567890')],
  ];

  it.each(values)('is what %s takes it for alone: %o', (kind, value) => {
    const taken = Object.entries(kinds).filter(([, as]) => as(value) !== undefined);
    expect(taken.map(([name]) => name)).toEqual(kind === 'none' ? [] : [kind]);
    for (const [, as] of taken) expect(as(value)).toBe(value);
  });
});

/** An item as DynamoDB's JSON has it. */
type Travelling = Record<string, object>;

/** The one item of the table, as it travels. */
let stored: Travelling = {};

const answerTo = (operation: string | undefined, body: Uint8Array | string): object => {
  if (operation !== 'BatchWriteItem') return { Responses: { one: [stored] } };
  const { RequestItems } = JSON.parse(typeof body === 'string' ? body : Buffer.concat([body]).toString()) as {
    RequestItems: { one: [{ PutRequest: { Item: Travelling } }] };
  };
  stored = RequestItems.one[0].PutRequest.Item;
  return {};
};

const handle = async (request: {
  readonly headers: Record<string, string>;
  readonly body: Uint8Array | string;
}) => {
  const answer = answerTo(request.headers['x-amz-target']?.split('.').at(-1), request.body);
  const headers = { 'content-type': 'application/x-amz-json-1.0' };
  const body = Readable.from([Buffer.from(JSON.stringify(answer))]);
  return { response: new HttpResponse({ statusCode: 200, headers, body }) };
};

const table: Table = {
  name: 'one',
  client: dynamodbClient({
    region: localRegion,
    credentials: localCredentials,
    requestHandler: { handle, metadata: { handlerProtocol: 'http/1.1' } } as never,
  }),
};

const put = async (item: Item): Promise<Travelling> => {
  await putItems(table, [item], requestBudget(10_000));
  return stored;
};

const read = async (travelling: Travelling): Promise<Item | undefined> => {
  stored = travelling;
  const [item] = await getItems(table, [{ k: 'key' }], requestBudget(10_000), { consistent: true });
  return item;
};

const base64 = (...bytes: number[]): string => Buffer.from(bytes).toString('base64');

describe('an item', () => {
  const pairs: [Item, Travelling][] = [
    [
      { a: 'text', b: '' },
      { a: { S: 'text' }, b: { S: '' } },
    ],
    [
      { a: 0, b: -1.5, c: 1_790_000_000 },
      { a: { N: '0' }, b: { N: '-1.5' }, c: { N: '1790000000' } },
    ],
    [
      { a: Buffer.of(1, 2), b: Buffer.alloc(0) },
      { a: { B: base64(1, 2) }, b: { B: '' } },
    ],
    [
      { a: true, b: false, c: null },
      { a: { BOOL: true }, b: { BOOL: false }, c: { NULL: true } },
    ],
    [{ a: ['x', 1, ['y']] }, { a: { L: [{ S: 'x' }, { N: '1' }, { L: [{ S: 'y' }] }] } }],
    [{ a: { b: { c: 1 }, B: 'x' } }, { a: { M: { b: { M: { c: { N: '1' } } }, B: { S: 'x' } } } }],
  ];

  it.each(pairs)('%j travels as %j', async (item, travelling) => {
    expect(await put(item)).toEqual(travelling);
    expect(await read(travelling)).toEqual(item);
  });

  it('may have its bytes in a Buffer, also in one that is part of a larger one', async () => {
    expect(await put({ a: Buffer.from('abcd').subarray(1, 3) })).toEqual({ a: { B: base64(98, 99) } });
  });

  const scalar = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.integer(),
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    fc.boolean(),
    fc.constant(null),
  );
  const plain = { maxKeys: 3, noNullPrototype: true };
  const { value } = fc.letrec<{ value: Value }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      scalar,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.stringMatching(/^\w{1,8}$/), tie('value'), plain),
    ),
  }));

  it('is read as it was put', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.constantFrom('a', 'b', 'c'), value, plain), async (item) => {
        expect(await read(await put(item))).toEqual(item);
      }),
    );
  });
});

describe('a number', () => {
  it.each(['12345678901234567890', '0.1234567890123456789', '1E+100', '-9007199254740993'])(
    'that no double spells keeps all its digits: %s',
    async (digits) => {
      const travelling = { a: { N: digits }, b: { L: [{ N: digits }] } };
      const item = await read(travelling);
      expect(item?.a).toBeInstanceOf(NumberValue);
      expect(await put(item ?? {})).toEqual(travelling);
    },
  );

  it.each(['0', '7', '-1.5', '9007199254740991'])('that a double spells is one: %s', async (digits) => {
    expect(await read({ a: { N: digits } })).toEqual({ a: Number(digits) });
  });
});

describe('a read', () => {
  interface Sent {
    readonly protocol: string;
    readonly hostname: string;
    readonly headers: object;
  }

  const sentTo = async (region: string): Promise<Sent | undefined> => {
    const sent: Sent[] = [];
    const client = dynamodbClient({
      region,
      credentials: localCredentials,
      requestHandler: {
        handle: async (request: never) => {
          sent.push(request);
          return handle(request);
        },
        metadata: { handlerProtocol: 'http/1.1' },
      } as never,
    });
    await getItems({ ...table, client }, [{ k: 'key' }], requestBudget(10_000), { consistent: true });
    return sent[0];
  };

  it.each([
    ['eu-central-1', 'dynamodb.eu-central-1.amazonaws.com'],
    ['cn-north-1', 'dynamodb.cn-north-1.amazonaws.com.cn'],
  ])('in %s goes to %s, signed for it', async (region, hostname) => {
    const sent = await sentTo(region);
    expect(sent).toMatchObject({ protocol: 'https:', hostname });
    expect(sent?.headers).toMatchObject({
      host: hostname,
      authorization: expect.stringContaining(`/${region}/dynamodb/aws4_request, SignedHeaders=`),
    });
  });

  it.each([
    ['AWS_ENDPOINT_URL_DYNAMODB', 'http://127.0.0.1:8123', { hostname: '127.0.0.1', port: 8123 }],
    ['AWS_ENDPOINT_URL', 'http://127.0.0.1:8123/store', { hostname: '127.0.0.1', path: '/store' }],
    ['AWS_USE_FIPS_ENDPOINT', 'true', { hostname: 'dynamodb-fips.us-east-1.amazonaws.com' }],
  ])('goes where %s sends the SDK', async (name, value, expected) => {
    vi.stubEnv(name, value);
    try {
      expect(await sentTo('us-east-1')).toMatchObject(expected);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
