import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpResponse } from '@smithy/core/protocols';
import { getOperation } from './faults.ts';
import { type SdkClient, toBytes } from './faulty-client.ts';

/*
 * The embedded store answers at once, so requests at one item never meet. On AWS they do, as its
 * documentation says ("Amazon DynamoDB Transactions: How it works", section "Transaction conflict
 * handling"):
 *
 * - Of two transactions at the same item, one is cancelled.
 * - A single write to an item that a transaction is changing is refused.
 * - Single writes to one item are done one after the other, 1,000 write units a second at most.
 */

interface Request {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface Handler {
  handle(request: Request, options?: unknown): Promise<unknown>;
}

/** How fast a store is. */
export interface Pace {
  /** The way there and back, in milliseconds. */
  readonly roundTripMs: number;
  /** What each of the two phases of a transaction takes, in milliseconds. */
  readonly phaseMs: number;
  /** What a write to an item takes before the next can be done, in milliseconds. */
  readonly writeMs: number;
}

type Keyed = Readonly<Record<string, unknown>>;

interface Body {
  readonly Key?: Keyed;
  readonly TransactItems?: readonly Readonly<
    Record<string, { readonly Key?: Keyed; readonly Item?: Keyed }>
  >[];
}

const itemName = ({ k, s }: Keyed): string => JSON.stringify([k, s]);

const refusal = (code: string, more: object = {}) => ({
  response: new HttpResponse({
    statusCode: 400,
    headers: { 'content-type': 'application/x-amz-json-1.0' },
    body: Readable.from([
      Buffer.from(
        JSON.stringify({
          __type: `com.amazonaws.dynamodb.v20120810#${code}`,
          message: 'made by the test',
          ...more,
        }),
      ),
    ]),
  }),
});

/** Has requests of a client that meet at an item of a table treat each other as on AWS. */
export const makeContended = (client: SdkClient, { roundTripMs, phaseMs, writeMs }: Pace): void => {
  const inner = client.config.requestHandler as Handler;
  /** The items that transactions are changing. */
  const changing = new Set<string>();
  /** When an item can take the next write, in milliseconds as `performance.now` has them. */
  const freeAt = new Map<string, number>();

  const update = async (name: string, send: () => Promise<unknown>): Promise<unknown> => {
    const now = performance.now();
    const turn = Math.max(now, freeAt.get(name) ?? 0);
    freeAt.set(name, turn + writeMs);
    // Timers are no finer than this: what waits less goes at once.
    if (turn - now >= 1) await sleep(turn - now);
    return changing.has(name) ? refusal('TransactionConflictException') : send();
  };

  const transact = async (names: readonly string[], send: () => Promise<unknown>): Promise<unknown> => {
    const met = names.map((name) => ({ Code: changing.has(name) ? 'TransactionConflict' : 'None' }));
    if (met.some(({ Code }) => Code !== 'None'))
      return refusal('TransactionCanceledException', { CancellationReasons: met });
    for (const name of names) changing.add(name);
    try {
      await sleep(phaseMs);
      const answer = await send();
      await sleep(phaseMs);
      return answer;
    } finally {
      for (const name of names) changing.delete(name);
    }
  };

  const handle = async (request: Request, options: unknown): Promise<unknown> => {
    const { operation } = getOperation(request.headers['x-amz-target'], request.method);
    const send = () => inner.handle(request, options);
    await sleep(roundTripMs / 2);
    const answer = await (() => {
      if (operation !== 'UpdateItem' && operation !== 'TransactWriteItems') return send();
      const { Key = {}, TransactItems = [] } = JSON.parse(toBytes(request.body).toString()) as Body;
      if (operation === 'UpdateItem') return update(itemName(Key), send);
      const writes = TransactItems.flatMap((each) => Object.values(each));
      return transact(
        writes.map((write) => itemName(write.Key ?? write.Item ?? {})),
        send,
      );
    })();
    await sleep(roundTripMs / 2);
    return answer;
  };
  client.config.requestHandler = Object.assign(Object.create(inner) as Handler, { handle });
};
