import { vi } from 'vitest';
import { faultPlan } from '../faulty-client.ts';
import type { InProcess } from '../in-process.ts';
import { withMarkers } from './noise.ts';

/** A request, as one of a fixed list. */
export interface StoredRequest {
  /** What it is about; no two of a list have the same. */
  readonly name: string;
  readonly path: string;
  readonly body: object;
  /** @default - the form that the endpoint has by itself */
  readonly accept?: string;
  /** The operation that the stores refuse, e.g. `DeleteItem`: the request dies there. */
  readonly refused?: string;
}

/** What is kept of the answer to a request. */
export interface StoredAnswer {
  readonly name: string;
  readonly status: number | undefined;
  readonly type: string | undefined;
  /** The body, noise as markers; of errors the places and types alone. */
  readonly text: string;
}

/*
 * The clock when the data sets are written, read, written over and read again, in milliseconds
 * since 1970. It is far ahead, since DynamoDB Local deletes what has expired.
 */
export const writtenAt = Date.UTC(2100, 0, 1);
export const readAt = Date.UTC(2100, 0, 11);
export const rewrittenAt = Date.UTC(2100, 0, 21);
export const rereadAt = Date.UTC(2100, 0, 31);

const hour = 3_600_000;

/** An error's message may be worded anew; its status, place and type stay. */
const withoutMessages = (text: string): string =>
  JSON.stringify(JSON.parse(text), (key, value: unknown) => (key === 'msg' ? undefined : value));

/**
 * Sends requests one after the other, each an hour after the one before by the clock of the
 * process, and gives their answers.
 *
 * @param startMs the clock at the first request, in milliseconds since 1970
 */
export const exchange = async (
  service: InProcess,
  requests: readonly StoredRequest[],
  startMs: number,
): Promise<StoredAnswer[]> => {
  const answers: StoredAnswer[] = [];
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    for (const [i, { name, path, body, accept, refused }] of requests.entries()) {
      vi.setSystemTime(startMs + i * hour);
      const plan = faultPlan((_, operation) => (operation === refused ? 'refuse' : 'none'));
      const headers = accept === undefined ? {} : { accept };
      const { status, headers: answered, text } = await service.send({ path, body, headers }, { plan });
      const type = answered['content-type'];
      answers.push({ name, status, type, text: status === 200 ? withMarkers(text) : withoutMessages(text) });
    }
  } finally {
    vi.useRealTimers();
  }
  return answers;
};
