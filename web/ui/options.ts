/** A value with its text, or a value that says it itself. */
export type Option<Value extends string> = Value | readonly [value: Value, text: string];

/** An option as a value and its text. */
export const toPair = <Value extends string>(option: Option<Value>): readonly [Value, string] =>
  typeof option === 'string' ? [option, option] : option;

interface Chosen<Value extends string> {
  readonly value: Value;
  readonly options: readonly Option<Value>[];
}

/** The text of the value that is chosen. */
export const findText = <Value extends string>({ value, options }: Chosen<Value>): string =>
  options.map(toPair).find(([known]) => known === value)?.[1] ?? value;
