/** What can be done to a request on its way to a store. */
export type Fault =
  /** It goes through. */
  | 'none'
  /** It is refused for its rate and never reaches the store. */
  | 'throttle'
  /** It is refused for good, as no repetition would change. */
  | 'refuse'
  /** It is never answered, and never reaches the store. */
  | 'hang'
  /** Nobody takes the connection. */
  | 'down'
  /** The store has it, and the answer is an internal error all the same. */
  | 'error'
  /** The store has it, and the connection breaks before the answer. */
  | 'reset'
  /** A batch is done by half; the rest comes back unprocessed, or throttled one by one. */
  | 'half'
  /** Of what is read, segments and objects are not there. */
  | 'missing'
  /** Of what is read, payloads have other bytes than were stored. */
  | 'corrupt';

/** A request on its way to a store. */
export interface StoreRequest {
  readonly store: 'dynamodb' | 's3';
  /** E.g. `Query`, `PutObject`. */
  readonly operation: string;
  readonly body: Buffer;
}

/** A store's answer. */
export interface StoreAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What a client gets: an answer, none at all, or a connection that breaks. */
export type Outcome = StoreAnswer | 'silence' | 'break';

/** Sends a request on, with a body of its own. */
type Forward = (body: Buffer) => Promise<StoreAnswer>;

/** The operation that a request is, by its headers and method. */
export const getOperation = (
  target: string | undefined,
  method: string,
): Pick<StoreRequest, 'store' | 'operation'> => {
  if (target) return { store: 'dynamodb', operation: target.split('.').at(-1) ?? '' };
  return { store: 's3', operation: `${method.charAt(0)}${method.slice(1).toLowerCase()}Object` };
};

/** Operations that take several items, of which some may not be done. */
const batches = new Set(['BatchWriteItem', 'BatchGetItem', 'BatchExecuteStatement']);

/** Whether a fault means something to an operation. */
export const fits = (fault: Fault, operation: string): boolean => {
  if (fault === 'half') return batches.has(operation);
  if (fault === 'missing' || fault === 'corrupt') return ['BatchGetItem', 'GetObject'].includes(operation);
  return true;
};

/** A store's own words for a failure. */
const failures = {
  throttle: { dynamodb: [400, 'ProvisionedThroughputExceededException'], s3: [503, 'SlowDown'] },
  refuse: { dynamodb: [400, 'AccessDeniedException'], s3: [403, 'AccessDenied'] },
  error: { dynamodb: [500, 'InternalServerError'], s3: [500, 'InternalError'] },
  missing: { dynamodb: [400, 'ResourceNotFoundException'], s3: [404, 'NoSuchKey'] },
} as const;

const failure = (fault: keyof typeof failures, store: StoreRequest['store']): StoreAnswer => {
  const [status, code] = failures[fault][store];
  const message = 'made by the test';
  const [type, text] =
    store === 's3'
      ? ['application/xml', `<Error><Code>${code}</Code><Message>${message}</Message></Error>`]
      : [
          'application/x-amz-json-1.0',
          JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${code}`, message }),
        ];
  const body = Buffer.from(text);
  return { status, headers: { 'content-type': type, 'content-length': String(body.length) }, body };
};

/** Does a fault to a request, and says what its client gets. */
export const withFault = async (fault: Fault, request: StoreRequest, forward: Forward): Promise<Outcome> => {
  const { store, operation, body } = request;
  if (fault === 'hang') return 'silence';
  if (fault === 'down') return 'break';
  if (fault === 'throttle' || fault === 'refuse') return failure(fault, store);
  if (fault === 'missing' && store === 's3') return failure(fault, store);
  if (fault === 'half') return (await halves[operation]?.(body, forward)) ?? forward(body);
  const answer = await forward(body);
  if (fault === 'error') return failure(fault, store);
  if (fault === 'reset') return 'break';
  if (fault === 'missing') return changedItems(answer, (item) => (item.p?.S === 'P' ? undefined : item));
  if (fault === 'corrupt') return store === 's3' ? damaged(answer) : changedItems(answer, damagedItem);
  return answer;
};

/** The bytes with one of them changed, in their middle. */
const damage = (bytes: Buffer): Buffer => {
  const copy = Buffer.from(bytes);
  const middle = copy.length >> 1;
  copy[middle] = (copy[middle] ?? 0) ^ 0xff;
  return copy;
};

const damaged = (answer: StoreAnswer): StoreAnswer => ({ ...answer, body: damage(answer.body) });

type Attributes = Record<string, { readonly S?: string; readonly B?: string }>;

/** What lies in the item of a call itself is spared: writers put it back as they read it. */
const damagedItem = (item: Attributes): Attributes =>
  item.b?.B && !['S', 'E'].includes(item.p?.S ?? '')
    ? { ...item, b: { B: damage(Buffer.from(item.b.B, 'base64')).toString('base64') } }
    : item;

/**
 * The same answer with another JSON body. DynamoDB's checksum of the first does not fit it any
 * more.
 */
const withJson = ({ status, headers }: StoreAnswer, json: unknown): StoreAnswer => {
  const body = Buffer.from(JSON.stringify(json));
  const { 'x-amz-crc32': _, ...kept } = headers;
  return { status, headers: { ...kept, 'content-length': String(body.length) }, body };
};

const changedItems = (
  answer: StoreAnswer,
  change: (item: Attributes) => Attributes | undefined,
): StoreAnswer => {
  const json = JSON.parse(answer.body.toString('utf8')) as { Responses?: Record<string, Attributes[]> };
  const tables = Object.entries(json.Responses ?? {}).map(([table, items]) => [
    table,
    items.flatMap((item) => change(item) ?? []),
  ]);
  return withJson(answer, { ...json, Responses: Object.fromEntries(tables) });
};

/** Sends the first half of a batch on, and gives the answer with what is left of it. */
type Halve = (batch: Buffer, forward: Forward) => Promise<StoreAnswer>;

/**
 * Halves a batch.
 *
 * @param part what there is to be halved, and the batch with a part of it
 * @param merge adds the rest to the answer to the first half
 */
const halving =
  (
    part: (batch: Json) => readonly [all: readonly unknown[], some: (list: readonly unknown[]) => Json],
    merge: (answer: Json, rest: readonly unknown[], some: (list: readonly unknown[]) => Json) => Json,
  ): Halve =>
  async (batch, forward) => {
    const [all, some] = part(JSON.parse(batch.toString('utf8')) as Json);
    const middle = Math.ceil(all.length / 2);
    const answer = await forward(Buffer.from(JSON.stringify(some(all.slice(0, middle)))));
    const json = JSON.parse(answer.body.toString('utf8')) as Json;
    return withJson(answer, merge(json, all.slice(middle), some));
  };

type Json = Record<string, unknown>;

/** The one table of a request, and what is asked of it. */
const onlyTable = (batch: Json): [table: string, asked: unknown] =>
  Object.entries(batch.RequestItems as Json)[0] ?? ['', []];

const halves: Readonly<Record<string, Halve>> = {
  BatchWriteItem: halving(
    (batch) => {
      const [table, items] = onlyTable(batch);
      return [items as unknown[], (list) => ({ ...batch, RequestItems: { [table]: list } })];
    },
    (answer, rest, some) => ({
      ...answer,
      UnprocessedItems: rest.length > 0 ? some(rest).RequestItems : {},
    }),
  ),
  BatchGetItem: halving(
    (batch) => {
      const [table, asked] = onlyTable(batch);
      const keys = asked as { Keys: unknown[] };
      return [keys.Keys, (Keys) => ({ ...batch, RequestItems: { [table]: { ...keys, Keys } } })];
    },
    (answer, rest, some) => ({
      ...answer,
      UnprocessedKeys: rest.length > 0 ? some(rest).RequestItems : {},
    }),
  ),
  BatchExecuteStatement: halving(
    (batch) => [batch.Statements as unknown[], (Statements) => ({ ...batch, Statements })],
    (answer, rest) => ({
      ...answer,
      Responses: [
        ...(answer.Responses as unknown[]),
        ...rest.map(() => ({ Error: { Code: 'ThrottlingError', Message: 'made by the test' } })),
      ],
    }),
  ),
};
