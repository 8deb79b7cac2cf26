import type { Numeral, Prompt, Thinking } from './prompt.ts';

/*
 * What a translation has to know of models. Source: `getModelCapabilities` of @ai-sdk/anthropic 3.0.140
 * and "Adaptive thinking" in the user guide of Amazon Bedrock, both as of 2026-11-24.
 */

/** A version of Claude: 4.6 is `[4, 6]`. */
type Version = readonly [major: number, minor: number];

/** `claude-opus-4-1-20250805` and `claude-3-7-sonnet-20250219`: a date is no minor version. */
const claudeVersion = /claude-(?:v|[a-z]+-v?)?(\d)(?:[-.](\d)(?!\d))?/;

/** Newer than any that is known: a name of Claude without a version, such as `claude-mythos-preview`. */
const newest: Version = [99, 0];

const parseVersion = (model: string): Version | undefined => {
  if (!/claude/i.test(model)) return undefined;
  const [, major, minor] = claudeVersion.exec(model.toLowerCase()) ?? [];
  return major === undefined ? newest : [Number(major), Number(minor ?? 0)];
};

const isAtLeast = ([major, minor]: Version, than: Version): boolean =>
  major > than[0] || (major === than[0] && minor >= than[1]);

/** Whether a model is Claude, by its name. */
export const isClaude = (model: string): boolean => parseVersion(model) !== undefined;

/** More than most answers need. A provider may count it against a quota before it answers. */
const usualMost = 32_000;

/**
 * The tokens that an answer may have if the client does not say, which Messages must be told: as many
 * as the model can give, and at most 32,000; 4,096 for a model that is not Claude.
 */
export const usualMaxTokens = (model: string): number => {
  const version = parseVersion(model);
  return version && isAtLeast(version, [3, 7]) ? usualMost : 4096;
};

/**
 * How a model is told to think: with a budget of tokens, or as it sees fit with an effort. A name that
 * is not Claude's is taken for a newer model.
 */
export const thinkingWay = (model: string): 'none' | 'budget' | 'adaptive' => {
  const version = parseVersion(model) ?? newest;
  if (isAtLeast(version, [4, 6])) return 'adaptive';
  return isAtLeast(version, [3, 7]) ? 'budget' : 'none';
};

const least = 1024;
const most = 32_000;

/** The share of an answer's tokens that an effort gives to thinking. */
const shares: ReadonlyMap<string, number> = new Map(
  Object.entries({ minimal: 0.1, low: 0.2, medium: 0.5, high: 0.8 }),
);

/**
 * The budget of thinking that stands for an effort; undefined if the answer may not have as many
 * tokens as the smallest budget takes.
 */
const toBudget = (effort: string, maxTokens: Numeral): number | undefined => {
  const all = Number(maxTokens);
  const budget = Math.floor(all * (shares.get(effort) ?? 0.95));
  return all > least ? Math.min(Math.max(budget, least), most, all - 1) : undefined;
};

/** The effort that stands for a budget of thinking, where only efforts can be said. */
export const toEffort = (budget: Numeral): string => {
  if (Number(budget) < 4096) return 'low';
  return Number(budget) < 16_384 ? 'medium' : 'high';
};

/** The effort of Claude. Its lowest is `low`. */
const claudeEffort = (effort: string | undefined): string | undefined =>
  effort === 'minimal' ? 'low' : effort;

/** How Claude is told to think, in fields of Messages. */
export interface ClaudeThinking {
  readonly thinking?: Exclude<Thinking, { type: 'asked' }>;
  readonly effort?: string;
}

/**
 * Says thinking and effort as a Claude model takes them.
 *
 * @param maxTokens what the answer may have
 * @returns what cannot be said, as advice
 */
export const claudeThinking = (
  { model, thinking, effort }: Prompt,
  maxTokens: Numeral,
): ClaudeThinking | { readonly problem: string } => {
  const claudeValue = claudeEffort(effort?.value);
  const withEffort = claudeValue === undefined ? {} : { effort: claudeValue };
  if (thinking === undefined) return withEffort;
  if (thinking.value.type !== 'asked') return { thinking: thinking.value, ...withEffort };
  const way = thinkingWay(model);
  if (way === 'adaptive') return { thinking: { type: 'adaptive' }, ...withEffort };
  if (way === 'none') return { problem: `the model ${model} does not reason` };
  const budget = toBudget(effort?.value ?? 'high', maxTokens);
  if (budget === undefined)
    return { problem: `the model ${model} takes at least ${least + 1} max_completion_tokens to reason` };
  return { thinking: { type: 'enabled', budget } };
};

/** Who made a model on Bedrock, as far as its requests differ. */
export type Family = 'claude' | 'nova' | 'openai' | 'other';

/** The family of a model on Bedrock, by its id or that of its inference profile. */
export const getFamily = (model: string): Family => {
  if (isClaude(model)) return 'claude';
  if (/\bamazon\.nova/.test(model)) return 'nova';
  return /\bopenai\./.test(model) ? 'openai' : 'other';
};
