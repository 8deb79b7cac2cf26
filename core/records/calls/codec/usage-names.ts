/**
 * Names that clients and providers use, by number. Stored headers hold the numbers: append only,
 * never change.
 */
const names: readonly string[] = [
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
];

const numbers = new Map(names.map((name, i) => [name, i]));

/** The number of a name; undefined if it has none. */
export const numberOfName = (name: string): number | undefined => numbers.get(name);

/**
 * Undoes {@link numberOfName}.
 *
 * @throws Error if a later release wrote the number
 */
export const nameAt = (number: number): string => {
  const name = names[number];
  if (name === undefined) throw new Error(`a header whose usage has the unknown name ${number}`);
  return name;
};
