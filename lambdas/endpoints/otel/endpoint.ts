import { Readable } from 'node:stream';
import type { MiddlewareObj } from '@middy/core';
import type { Endpoint } from '../../../api/endpoint.ts';
import {
  type Encoding,
  encodeStatus,
  projectHeader,
  projectOfHeader,
  type Rejection,
  toMessage as reasonsOf,
  type Selection,
} from '../../../core/doors/otel/index.ts';
import type { ProjectNotes } from '../../../core/records/projects.ts';
import { allows, allowsAnywhere } from '../../../foundations/auth/index.ts';
import { challenge } from '../../../foundations/wire/errors.ts';
import { type ProjectId, ServiceError } from '../../../foundations/wire/index.ts';
import { everyAnswer } from '../../common/http/answer.ts';
import { type RawAnswer, rawEndpoint } from '../../common/http/endpoint.ts';
import { getHeader } from '../../common/http/headers.ts';
import {
  answerOrigins,
  bodyBytes,
  internal,
  logRequest,
  maxAddedBytes,
  readCaller,
  type ServiceEvent,
  type ServiceRequest,
  unsupported,
} from '../../common/http/request.ts';

const mediaTypes: Readonly<Record<string, Encoding>> = {
  'application/x-protobuf': 'application/x-protobuf',
  'application/json': 'application/json',
};

/**
 * The encoding of a request, by its `content-type`; parameters don't matter.
 *
 * @returns undefined if it is neither protobuf nor JSON
 */
const getEncoding = (event: Pick<ServiceEvent<unknown>, 'headers'>): Encoding | undefined => {
  const [type = ''] = (getHeader(event, 'content-type') ?? '').split(';');
  return mediaTypes[type.trim().toLowerCase()];
};

/** An answer in an encoding. It is streamed: only so do bytes leave as they are. */
const otlpAnswer = (
  status: number,
  encoding: Encoding,
  bytes: Uint8Array,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): RawAnswer => ({
  statusCode: status,
  headers: { ...everyAnswer(requestId), 'content-type': encoding, ...headers },
  body: Readable.from(bytes.length > 0 ? [bytes] : [], { objectMode: false }),
});

/** All problems of an error in one sentence. */
const toMessage = ({ detail }: ServiceError): string =>
  detail.map(({ loc, msg }) => (loc[0] === 'header' ? `the header ${loc[1]} ${msg}` : msg)).join('; ');

/**
 * Turns whatever is thrown into a `google.rpc.Status`, in the encoding of the request; in JSON if
 * the request has none that is known. Exporters go by the HTTP status and `retry-after`.
 */
const answerOtlpErrors = (): MiddlewareObj<ServiceEvent<unknown>> => ({
  onError: (request) => {
    const { event } = request;
    const error = request.error instanceof ServiceError ? request.error : internal;
    const encoding = getEncoding(event) ?? 'application/json';
    const bytes = encodeStatus(encoding, error.status, toMessage(error));
    request.response = otlpAnswer(error.status, encoding, bytes, event.requestContext.requestId, {
      ...(error.retryAfterSeconds !== undefined && { 'retry-after': String(error.retryAfterSeconds) }),
      ...(error.status === 401 && { 'www-authenticate': challenge }),
    });
  },
});

const unknownType = unsupported('content-type', 'should be application/x-protobuf or application/json');

/** An export as it reached an endpoint of OTLP. */
export interface OtlpRequest extends Pick<ServiceRequest<unknown>, 'caller' | 'budget'> {
  readonly bytes: Uint8Array;
  readonly encoding: Encoding;
  /** The `content-encoding` header; empty if there is none. */
  readonly packing: string;
  /** The most bytes of the body once it is unpacked; undefined for as many as anybody may send. */
  readonly maxBytes: number | undefined;
  /** What decides which resources may be stored. */
  readonly selection: Selection;
  /** Notes the projects that the request writes to, before it does. */
  readonly writes: (projects: readonly ProjectId[]) => void;
}

/** The signals of OTLP, and what there is of each. */
const signals = { traces: 'spans', logs: 'log records', metrics: 'data points' } as const;

const getSignal = (path: string): string => signals[path.split('/').at(-1) as keyof typeof signals];

/** A client's own text in a reason, which logs do not hold. */
const quoted = /"(?:[^"\\]|\\.)*"/g;

const maxProgram = 200;

/** Notes in its projects, for the page to show, that an export was not kept, or not all of it. */
const noteDropped = async (
  notes: Pick<ProjectNotes, 'drop'> | undefined,
  event: Pick<ServiceEvent<unknown>, 'headers'>,
  path: string,
  projects: readonly ProjectId[],
  { count, reason }: { readonly count: number | null; readonly reason: string },
): Promise<void> => {
  const program = getHeader(event, 'user-agent')?.slice(0, maxProgram) ?? null;
  await Promise.all(projects.map((project) => notes?.drop(project, { path, count, reason, program })));
};

/** What became of an export. */
export interface Taken {
  /** How many spans or records were stored. */
  readonly rows: number;
  readonly rejected?: readonly Rejection[];
}

/**
 * Makes the handler of an endpoint of OTLP/HTTP. It answers in the encoding of the request. The
 * answer is streamed, because API Gateway decodes no buffered one for clients that send no `accept`.
 *
 * @param notes where dropped exports are noted. @default - nowhere, and the bundle has no client of a store
 */
export const otlpEndpoint = (
  description: Endpoint,
  take: (request: OtlpRequest) => Promise<Taken>,
  encodeAnswer: (encoding: Encoding, rejected: readonly Rejection[]) => Uint8Array,
  notes?: Pick<ProjectNotes, 'drop'>,
) =>
  rawEndpoint(
    description,
    async (event) => {
      const encoding = getEncoding(event);
      if (!encoding) throw unknownType;
      const { id, caller, budget } = event.service;
      const selection = {
        grants: caller.grants,
        role: description.role,
        header: getHeader(event, projectHeader),
      };
      const ofHeader = projectOfHeader(selection);
      let projects: readonly ProjectId[] = ofHeader ? [ofHeader] : [];
      const { path } = description;
      const { rows, rejected = [] } = await take({
        bytes: bodyBytes(event),
        encoding,
        packing: getHeader(event, 'content-encoding') ?? '',
        // Which projects it is about is known once it is unpacked.
        maxBytes: allowsAnywhere(caller.grants, 'write') ? undefined : maxAddedBytes,
        selection,
        caller,
        budget,
        writes: (all) => {
          event.log.names(all);
          // Who may only add does not write over the note of what others sent.
          if (all.length > 0) projects = all.filter((project) => allows(caller.grants, project, 'write'));
        },
      }).catch(async (error: unknown) => {
        // What storage refuses is sent again.
        if (error instanceof ServiceError && error.status < 500)
          await noteDropped(notes, event, path, projects, { count: null, reason: toMessage(error) });
        throw error;
      });
      const bytes = encodeAnswer(encoding, rejected);
      const surprising = rejected.filter(({ isMeant }) => !isMeant);
      if (surprising.length > 0) {
        const count = surprising.reduce((sum, rejection) => sum + rejection.count, 0);
        await noteDropped(notes, event, path, projects, {
          count,
          reason: reasonsOf(surprising, getSignal(path)),
        });
      }
      event.log.describes(() => ({
        status: 200,
        rows,
        bytes: bytes.length,
        ...(rejected.length > 0 && {
          dropped: rejected.reduce((sum, { count }) => sum + count, 0),
          reason: reasonsOf(rejected, getSignal(path)).replaceAll(quoted, '"…"'),
        }),
      }));
      event.log.ends('answered');
      return otlpAnswer(200, encoding, bytes, id);
    },
    ({ path }) => [answerOrigins(), logRequest(path), answerOtlpErrors(), readCaller()],
  );
