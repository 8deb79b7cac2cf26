import { shortDigest } from '../../../../foundations/encoding/index.ts';
import {
  formatTime,
  type JsonObject,
  type JsonValue,
  type Micros,
  type ProjectId,
} from '../../../../foundations/wire/index.ts';
import type { CallReport } from '../../../records/calls/index.ts';
import { endReport, startReport } from '../../report.ts';
import { toOpName } from '../calls.ts';
import { type Kind, readLabels } from '../conventions/index.ts';
import type { Counts } from '../conventions/reader.ts';
import { toUsage } from '../conventions/usage.ts';
import type { AttributeValue } from '../span.ts';
import { nested } from '../values.ts';
import type { Fact } from './facts.ts';

/** What some facts together say of one call. */
export interface Operation {
  readonly id: string;
  readonly kind: Kind;
  readonly opName: string;
  readonly name: string | undefined;
  readonly traceId: string;
  readonly parentId: string | null;
  readonly threadId: string;
  readonly turnId: string | null;
  readonly startedAt: Micros;
  /** undefined while it runs. */
  readonly endedAt: Micros | undefined;
  readonly agent: JsonObject;
  readonly tool?: string | undefined;
  readonly inputs?: JsonObject | undefined;
  readonly output?: JsonValue | undefined;
  readonly exception?: string | undefined;
  readonly counts?: Counts | undefined;
  readonly summary?: JsonObject | undefined;
  /** The facts that are about it. The attributes of later ones stand before those of earlier ones. */
  readonly facts: readonly Fact[];
  /** Keys of attributes that went elsewhere. */
  readonly used: readonly string[];
}

/** The id of a call that has no span: made of its session and of what tells it from all others there. */
export const hashParts = (...parts: readonly string[]): string =>
  shortDigest(parts.join('\n')).toString('hex');

/** One message, or undefined without text. */
export const message = (role: string, content: string | undefined): JsonObject | undefined =>
  content === undefined ? undefined : { messages: [{ role, content }] };

/** What agents write in the place of what they may not say. */
const redacted = new Set(['<REDACTED>', '[REDACTED]']);

/** A text that an agent may say. */
export const shown = (text: string | undefined): string | undefined =>
  text === undefined || redacted.has(text) ? undefined : text;

const reservedKeys = /^(?:kind|otel|agent|tool)(?:\.|$)/;

const toDetails = (facts: readonly Fact[]): JsonObject => {
  const records = facts.filter(({ isSpan }) => !isSpan);
  const span = facts.findLast(({ isSpan }) => isSpan);
  const source = span ?? records.at(-1);
  const events = span?.events.filter(({ name }) => name !== 'tool.output') ?? [];
  const [event, ...others] = [...new Set(records.map(({ name }) => name))].sort();
  return {
    ...(event !== undefined && { event: others.length > 0 ? [event, ...others] : event }),
    ...(span && { span_kind: 'internal', status: { code: span.error === undefined ? 'unset' : 'error' } }),
    ...(source && { scope: source.scope, resource: nested(source.resource) }),
    ...(events.length > 0 && {
      events: events.map(({ name, time, attributes }) => ({
        name,
        time: formatTime(time),
        attributes: nested(attributes),
      })),
    }),
  };
};

const toAttributes = ({ kind, agent, tool, facts, used }: Operation): JsonObject => {
  const away = new Set(used);
  const own = new Map<string, AttributeValue>();
  for (const { attributes } of [
    ...facts.filter((fact) => !fact.isSpan),
    ...facts.filter((fact) => fact.isSpan),
  ])
    for (const [key, value] of attributes) if (!away.has(key) && !reservedKeys.test(key)) own.set(key, value);
  const [source] = facts;
  const labels = source ? readLabels(own, source.resource) : {};
  return {
    ...nested([...own, ...Object.entries(labels)]),
    kind,
    agent,
    ...(tool !== undefined && { tool: { name: tool } }),
    otel: toDetails(facts),
  };
};

/** The reports of an operation's call: its start, and its end once it has ended. */
export const toReports = (projectId: ProjectId, operation: Operation): CallReport[] => {
  const { id, opName, name, traceId, parentId, threadId, turnId, startedAt, endedAt, counts } = operation;
  const usage = counts && toUsage(counts, undefined);
  return [
    startReport({
      projectId,
      id,
      opName: toOpName(opName),
      displayName: name === undefined ? null : toOpName(name),
      traceId,
      parentId,
      threadId,
      turnId,
      startedAt,
      attributes: toAttributes(operation),
      inputs: operation.inputs ?? {},
    }),
    ...(endedAt === undefined
      ? []
      : [
          endReport({
            projectId,
            id,
            endedAt: Math.max(startedAt, endedAt),
            output: operation.output ?? null,
            exception: operation.exception ?? null,
            summary: { ...operation.summary, ...(usage && { usage }) },
          }),
        ]),
  ];
};
