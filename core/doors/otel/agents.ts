import { shortDigest } from '../../../foundations/encoding/index.ts';
import {
  type JsonObject,
  type JsonValue,
  type Micros,
  qualifiedId,
} from '../../../foundations/wire/index.ts';
import type { CallReport } from '../../records/calls/index.ts';
import { endReport, startReport } from '../report.ts';
import { idFrom, microsOf, opNameOf } from './calls.ts';
import { type Kind, labelsOf } from './conventions/index.ts';
import type { Counts } from './conventions/reader.ts';
import { usageOf } from './conventions/usage.ts';
import { eventNameOf } from './joining.ts';
import type { ProjectRecord } from './projects.ts';
import type { Attributes } from './span.ts';
import { asInputs, countOf, nested, plain, present, structured, textOf } from './values.ts';

/*
 * Coding agents that report log records and no spans: Claude Code and Codex. A prompt is a turn of
 * the session's thread; what the agent does for it are calls below the turn.
 * Sources: https://code.claude.com/docs/en/monitoring-usage, and openai/codex,
 * `codex-rs/otel/src/events/session_telemetry.rs`.
 */

const response = 'claude_code.assistant_response';

/** What a record says of its call. */
interface CallContent {
  readonly kind: Kind;
  /** What is shown in the place of the event's name. */
  readonly name?: string | undefined;
  readonly inputs?: JsonObject | undefined;
  readonly output?: JsonValue;
  readonly counts?: Counts;
  readonly exception?: string | undefined;
  /** What tells the call from all others of its session. @default - the record itself does */
  readonly identity?: string | undefined;
  /** Keys that went elsewhere. */
  readonly used: readonly string[];
}

/** The attributes of one record. */
class Reading {
  readonly attributes: Attributes;

  constructor({ attributes }: ProjectRecord) {
    this.attributes = attributes;
  }

  text(key: string): string | undefined {
    return textOf(this.attributes.get(key));
  }

  count(key: string): number | undefined {
    return countOf(this.attributes.get(key));
  }

  json(key: string): unknown {
    const value = this.attributes.get(key);
    return value === undefined ? undefined : structured(plain(value));
  }

  /** Inputs that name the model; undefined if it says none. */
  get model(): JsonObject | undefined {
    return present({ model: this.text('model') }) as JsonObject | undefined;
  }

  /** Whether it says that it failed, as a boolean or as text. */
  get failed(): boolean {
    return String(this.attributes.get('success')) === 'false';
  }
}

const messages = (role: string, content: string | undefined): JsonObject | undefined =>
  content === undefined ? undefined : { messages: [{ role, content }] };

/** What agents write in the place of what they may not say. */
const redacted = new Set(['<REDACTED>', '[REDACTED]']);

const shown = (text: string | undefined): string | undefined =>
  text === undefined || redacted.has(text) ? undefined : text;

const prompt = (of: Reading, identity: string | undefined): CallContent => ({
  kind: 'agent',
  inputs: messages('user', shown(of.text('prompt'))),
  identity,
  used: ['prompt'],
});

const claudeCounts = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_creation_tokens'] as const;

type Reader = (of: Reading) => CallContent | undefined;

/** How each event becomes a call. Other events of these agents are passed over. */
const readers: Readonly<Record<string, Reader>> = {
  'claude_code.user_prompt': (of) => prompt(of, of.text('prompt.id')),
  'claude_code.api_request': (of) => {
    const [input, output, cacheRead, cacheWrite] = claudeCounts.map((key) => of.count(key));
    return {
      kind: 'model',
      inputs: of.model,
      // As Anthropic counts them, cached tokens are beside those of the prompt.
      counts: {
        ...{ model: of.text('model'), input: (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0) },
        ...{ output, cacheRead, cacheWrite },
      },
      identity: of.text('request_id'),
      used: ['model', ...claudeCounts],
    };
  },
  'claude_code.api_error': (of) => ({
    kind: 'model',
    inputs: of.model,
    exception:
      [of.text('status_code') ?? of.count('status_code'), of.text('error')].filter(Boolean).join(': ') ||
      'error',
    used: ['model', 'error', 'status_code'],
  }),
  [response]: (of) => ({
    kind: 'model',
    inputs: of.model,
    output: messages('assistant', shown(of.text('response'))) ?? null,
    identity: of.text('request_id'),
    used: ['model', 'response'],
  }),
  'claude_code.tool_result': (of) => ({
    kind: 'tool',
    name: of.text('tool_name'),
    inputs: asInputs(of.json('tool_input') ?? of.json('tool_parameters')) as JsonObject | undefined,
    exception: of.failed ? (of.text('error') ?? of.text('error_type') ?? 'error') : undefined,
    identity: of.text('tool_use_id'),
    used: ['tool_input', 'tool_parameters', 'error'],
  }),
  'codex.user_prompt': (of) => prompt(of, undefined),
  'codex.api_request': (of) => {
    // Requests that succeed are told by the event that ends their stream, which has the tokens.
    const error = of.text('error.message');
    return error === undefined
      ? undefined
      : {
          kind: 'model',
          inputs: of.model,
          exception: error,
          used: ['model', 'error.message'],
        };
  },
  'codex.sse_event': (of) =>
    of.text('event.kind') === 'response.completed'
      ? {
          kind: 'model',
          inputs: of.model,
          counts: {
            ...{ model: of.text('model'), input: of.count('input_token_count') },
            ...{ output: of.count('output_token_count'), cacheRead: of.count('cached_token_count') },
            reasoning: of.count('reasoning_token_count'),
          },
          used: [
            'model',
            'input_token_count',
            'output_token_count',
            'cached_token_count',
            'reasoning_token_count',
          ],
        }
      : undefined,
  'codex.tool_result': (of) => ({
    kind: 'tool',
    name: of.text('tool_name'),
    inputs: asInputs(of.json('arguments')) as JsonObject | undefined,
    output: (of.json('output') ?? null) as JsonValue,
    exception: of.failed ? (of.text('output') ?? 'error') : undefined,
    identity: of.text('call_id'),
    used: ['arguments', 'output'],
  }),
};

/** The name of an agent's event, with the agent's before it. Claude Code has it in the body, too. */
const agentEvent = (record: ProjectRecord): string => {
  const { body } = record;
  if (typeof body === 'string' && Object.hasOwn(readers, body)) return body;
  const name = eventNameOf(record);
  const whole = `claude_code.${name}`;
  return record.scope.name.startsWith('com.anthropic.claude_code') && Object.hasOwn(readers, whole)
    ? whole
    : name;
};

/** Whether a record is one that a coding agent tells of what it does. Those in a span repeat it. */
export const isOfAgent = (record: ProjectRecord): boolean =>
  record.spanId === undefined && Object.hasOwn(readers, agentEvent(record));

/** Whether a coding agent made a record, whatever it is about. */
export const isFromAgent = (record: ProjectRecord): boolean =>
  record.scope.name.startsWith('com.anthropic.claude_code') ||
  [agentEvent(record), record.body].some(
    (name) => typeof name === 'string' && /^(?:claude_code|codex)\.[\w.]+$/.test(name),
  );

const digest = (...parts: readonly string[]): string => shortDigest(parts.join('\n')).toString('hex');

const sessionKeys = ['session.id', 'conversation.id'] as const;

interface AgentCall {
  readonly id: string;
  readonly record: ProjectRecord;
  readonly event: string;
  readonly content: CallContent;
  readonly session: string;
  readonly startedAt: Micros;
  readonly endedAt: Micros;
}

/** Fields of both: what one does not say, the other may. */
const merged = (a: CallContent, b: CallContent): CallContent => ({
  ...a,
  ...b,
  inputs: { ...a.inputs, ...b.inputs },
  output: b.output ?? a.output ?? null,
  ...((b.counts ?? a.counts) && { counts: b.counts ?? a.counts }),
  exception: b.exception ?? a.exception,
  used: [...a.used, ...b.used],
});

const agentCall = (record: ProjectRecord): AgentCall | undefined => {
  const event = agentEvent(record);
  const of = new Reading(record);
  const content = readers[event]?.(of);
  if (!content) return undefined;
  const found = sessionKeys.map((key) => of.text(key)).find((text) => text !== undefined);
  const session = (found && idFrom(found)) ?? 'unknown';
  const time = microsOf(record.timeUnixNano);
  const duration = Number(of.count('duration_ms') ?? 0) * 1000;
  const own = JSON.stringify([String(record.timeUnixNano), event, nested(record.attributes)]);
  const identity = content.identity === undefined ? own : `${content.kind} ${content.identity}`;
  return {
    id: digest(session, identity),
    ...{ record, event, content, session, startedAt: time - duration, endedAt: time },
  };
};

const reservedKeys = /^(?:kind|otel)(?:\.|$)/;

const attributesOf = ({ record, event, content }: AgentCall): JsonObject => {
  const { scope, resource, attributes } = record;
  const used = new Set(content.used);
  const own = [...attributes].filter(([key]) => !used.has(key) && !reservedKeys.test(key));
  return {
    ...nested([...own, ...Object.entries(labelsOf(attributes, resource))]),
    kind: content.kind,
    otel: {
      event,
      scope: { name: scope.name, ...(scope.version !== '' && { version: scope.version }) },
      resource: nested(resource),
    },
  };
};

/**
 * Makes calls of the records of coding agents. A prompt is a turn. What follows it in its session
 * is below it: by the prompt's id where the agent says one, else as far as one request shows it.
 * The same records give the same calls.
 */
export const callsOfAgents = (records: readonly ProjectRecord[]): CallReport[] => {
  const calls = new Map<string, AgentCall>();
  for (const record of records.toSorted((a, b) => Number(a.timeUnixNano - b.timeUnixNano))) {
    const call = agentCall(record);
    if (!call) continue;
    const key = qualifiedId(record.projectId, call.id);
    const same = calls.get(key);
    // A request and what was said in its answer are two records with one id.
    calls.set(
      key,
      same
        ? {
            ...(same.event === response ? { ...call, content: same.content } : same),
            content: merged(same.content, call.content),
            startedAt: Math.min(same.startedAt, call.startedAt),
            endedAt: Math.max(same.endedAt, call.endedAt),
          }
        : call,
    );
  }
  const lastPrompt = new Map<string, string>();
  return [...calls.values()].flatMap((call) => {
    const { record, event, content, session, startedAt, endedAt } = call;
    // An answer without its request would take the place of the request's tokens.
    const id = event === response && !content.counts ? digest(call.id, response) : call.id;
    const { projectId } = record;
    const of = `${projectId} ${session}`;
    const isPrompt = content.kind === 'agent';
    if (isPrompt) lastPrompt.set(of, id);
    const promptId = textOf(record.attributes.get('prompt.id'));
    const turnId = isPrompt
      ? id
      : ((promptId === undefined ? undefined : digest(session, `agent ${promptId}`)) ??
        lastPrompt.get(of) ??
        null);
    const usage = content.counts && usageOf(content.counts, undefined);
    return [
      startReport({
        ...{ projectId, id, opName: opNameOf(event) },
        displayName: content.name === undefined ? null : opNameOf(content.name),
        traceId: digest(session, turnId ?? ''),
        ...{ parentId: isPrompt ? null : turnId, threadId: session, turnId, startedAt },
        ...{ attributes: attributesOf(call), inputs: content.inputs ?? {} },
      }),
      endReport({
        ...{ projectId, id, endedAt, output: content.output ?? null, exception: content.exception ?? null },
        summary: usage ? { usage } : {},
      }),
    ];
  });
};
