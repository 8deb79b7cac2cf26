import type { MiddlewareObj } from '@middy/core';
import type { Context } from 'aws-lambda';
import { weavePath } from '../../../api/weave-paths.ts';
import {
  answerToWeave,
  errorToWeave,
  readRequest,
  refsToWeave,
  weaveDoor,
} from '../../../core/doors/weave/index.ts';
import { ServiceError } from '../../../foundations/wire/index.ts';
import { jsonText, type Piece, recordTypes } from '../http/answer.ts';
import {
  type Head,
  type RawWork,
  raw,
  type StreamEvent,
  Streamed,
  streaming,
  type Work,
} from '../http/endpoint.ts';
import {
  answerErrors,
  authorize,
  logRequest,
  readRequest as readBody,
  readCaller,
  type ServiceEvent,
} from '../http/request.ts';

/** Says of whatever is wrong with a request what it is called in Weave's dialect. */
const tellErrors = (): MiddlewareObj<ServiceEvent<unknown>> => ({
  onError: (request) => {
    if (request.error instanceof ServiceError) request.error = errorToWeave(request.error);
  },
});

const enterDoor = (): MiddlewareObj<ServiceEvent<unknown>> => ({
  before: ({ event }) => {
    event.service = { ...event.service, door: weaveDoor };
  },
});

/** What runs before the work of an endpoint: as for its own path, with a translation. */
const before = <Body>(
  description: Work<Body, unknown>['description'],
  path: string,
): MiddlewareObj<StreamEvent<Body>>[] => [
  logRequest(`${weavePath}${path}`),
  answerErrors(),
  tellErrors(),
  readCaller(),
  enterDoor(),
  readBody<Body>({
    ...description,
    tolerant: true,
    translate: (fields, parse) => readRequest(path, fields, parse),
  }),
  ...(description.role ? [authorize(description)] : []),
];

/** How the text of an answer differs beside its names and refs, by what was asked. */
export type Differs = (body: never) => (text: string) => string;

const mapPiece = (piece: Piece, change: (text: string) => string): Piece =>
  typeof piece === 'string' ? change(piece) : piece.map(change);

/** An answer's text in Weave's dialect, as it comes. */
async function* inWeave(
  text: AsyncIterable<Piece>,
  differs: (text: string) => string,
): AsyncGenerator<Piece> {
  try {
    for await (const piece of text) yield mapPiece(piece, (content) => differs(refsToWeave(content)));
  } catch (error) {
    throw error instanceof ServiceError ? errorToWeave(error) : error;
  }
}

async function* whole(text: string): AsyncGenerator<Piece> {
  yield text;
}

/** Names and refs are translated in JSON alone: nothing marks them in CSV, and no SDK asks for it. */
const jsonTypes = recordTypes.filter((type) => type !== 'text/csv');

/** Answers a request to the door. */
export type Answerer = (event: StreamEvent<unknown>, context: Context) => Promise<Head>;

/**
 * Makes of the work of an endpoint what answers by a path of the door. Texts that stream are
 * translated piece by piece.
 *
 * @param path that of the door, without `/weave`
 */
export const throughDoor = <Body, Answer>(
  work: Work<Body, Answer> | RawWork<Body>,
  path: string,
  differs?: Differs,
): Answerer => {
  const first = before<Body>(work.description, path);
  if ('answerRaw' in work) return raw(first, work.answerRaw) as Answerer;
  const { description, handle } = work;
  return streaming<Body, Answer>(
    description,
    async (request) => {
      const answer = await handle(request);
      const change = differs?.(request.body as never) ?? ((text: string) => text);
      if (answer instanceof Streamed)
        return new Streamed((type) => inWeave(answer.text(type), change), answer.offset);
      return new Streamed(() => whole(refsToWeave(jsonText(answerToWeave(answer)))));
    },
    undefined,
    first,
    jsonTypes,
  ) as Answerer;
};
