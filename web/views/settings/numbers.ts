/* Numbers that are typed in a form, by their fields. */

/** A setting whose fields are numbers. */
export type Numbers<Field extends string> = Readonly<Partial<Record<Field, number>>>;

/** What a form has typed for each field; empty for none. */
export type Typed<Field extends string> = Readonly<Record<Field, string>>;

export const toTyped = <Field extends string>(
  numbers: Numbers<Field>,
  fields: readonly Field[],
): Typed<Field> =>
  Object.fromEntries(fields.map((field) => [field, String(numbers[field] ?? '')])) as Typed<Field>;

/**
 * The numbers that were typed.
 *
 * @param whole whether only whole numbers count
 * @throws Error in words for people, if one is no number above 0
 */
export const typedNumbers = <Field extends string>(
  typed: Typed<Field>,
  labels: Readonly<Record<Field, string>>,
  whole = false,
): Numbers<Field> => {
  const numbers: Partial<Record<Field, number>> = {};
  for (const field of Object.keys(labels) as Field[]) {
    const text = typed[field].trim().replace(',', '.');
    if (text === '') continue;
    const number = Number(text);
    if (!Number.isFinite(number) || number <= 0 || (whole && !Number.isInteger(number)))
      throw new Error(`${labels[field]}: enter a ${whole ? 'whole ' : ''}number above 0, or nothing.`);
    numbers[field] = number;
  }
  return numbers;
};
