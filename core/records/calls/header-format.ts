import { headerAttributes } from '../../../api/shared/header-fields.ts';
import type { EndStatus } from './model.ts';

/*
 * What stored headers are made of that may change from release to release. While a release is deployed,
 * functions of the one before run for some minutes, and it can be deployed again. So a release reads first
 * what the next one writes: docs/decisions/0273. A test compares this with what the last release read and wrote.
 */

/** The version that is written. */
export const writtenVersion = 3;

/** The versions that are read, of which each has a reader in header.ts. */
export const readVersions = [3] as const;

/** A list of which stored headers hold the places: append only, never change. */
interface Places<Word extends string> {
  /** All that are read. */
  readonly read: readonly Word[];
  /** Those that are written. */
  readonly written: readonly Word[];
}

/**
 * @param onlyRead how many at the end are not yet written, since the last release cannot read them
 */
const places = <const Word extends string>(read: readonly Word[], onlyRead = 0): Places<Word> => ({
  read,
  written: onlyRead === 0 ? read : read.slice(0, -onlyRead),
});

/** How a call ended. There is room for one more. */
export const statuses = /* @__PURE__ */ places<EndStatus>(['success', 'error', 'descendant_error']);

/** The attributes of a start. */
export const startAttributes = /* @__PURE__ */ places(headerAttributes);

/** Kinds of calls, and common names of environments: 252 at most. */
export const words = /* @__PURE__ */ places<string>([
  'agent',
  'model',
  'tool',
  'embedding',
  'retriever',
  'other',
  'production',
  'prod',
  'staging',
  'stage',
  'development',
  'dev',
  'testing',
  'test',
  'local',
  'default',
  'preview',
  'qa',
  'ci',
  'demo',
  'sandbox',
  'workflow',
  'plan',
  'memory',
  'guardrail',
  'evaluator',
  'evaluation',
  'judge',
  'trial',
  'playground',
]);

/**
 * How common names of integrations begin: 32 at most. The first that fits is taken, so longer ones come
 * first.
 */
export const beginnings = /* @__PURE__ */ places([
  '',
  'openai.chat.completions.create',
  'openai.chat.completions.',
  'openai.responses.',
  'openai.embeddings.create',
  'openai.',
  'anthropic.Messages.create',
  'anthropic.',
  'langchain.Llm.',
  'langchain.Chain.',
  'langchain.',
  'llama_index.',
  'litellm.',
  'google.genai.models.',
  'BedrockRuntime.',
  'Evaluation.predict_and_score',
  'Evaluation.',
]);

/** Names that clients and providers use in usage. */
export const usageNames = /* @__PURE__ */ places<string>([
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'requests',
  'input_tokens',
  'output_tokens',
  'prompt_tokens_details',
  'completion_tokens_details',
  'input_tokens_details',
  'output_tokens_details',
  'cached_tokens',
  'reasoning_tokens',
  'audio_tokens',
  'accepted_prediction_tokens',
  'rejected_prediction_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
]);

/** The format of headers, as a release is compared with the one before. */
export interface HeaderFormat {
  readonly writes: number;
  readonly reads: readonly number[];
  readonly lists: Readonly<
    Record<string, { readonly read: readonly string[] /** How many. */; readonly written: number }>
  >;
}

const listed = ({ read, written }: Places<string>) => ({ read, written: written.length });

/** What this release reads and writes. Only tests and the command for releases use it. */
export const headerFormat = (): HeaderFormat => ({
  writes: writtenVersion,
  reads: readVersions,
  lists: {
    statuses: listed(statuses),
    startAttributes: listed(startAttributes),
    words: listed(words),
    beginnings: listed(beginnings),
    usageNames: listed(usageNames),
  },
});
