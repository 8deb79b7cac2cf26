import type { PriceTerms } from '../../api/contract.ts';

/** People speak of prices for a million tokens, and the service of prices for one. */
export const perMillion = (price: number | undefined): string => {
  if (price === undefined) return '';
  const million = price * 1e6;
  return million === 0 ? '0' : String(Number(million.toPrecision(10)));
};

/** What is typed to add a price. */
export interface PriceForm {
  readonly model: string;
  /** For a million tokens. */
  readonly input: string;
  readonly output: string;
  readonly unit: string;
  /** In the form of `datetime-local`; empty for now. */
  readonly from: string;
  readonly provider: string;
}

export const emptyPrice: PriceForm = {
  model: '',
  input: '',
  output: '',
  unit: 'USD',
  from: '',
  provider: '',
};

/** The price that a form means, or what is wrong with it. */
type TypedPrice = { readonly model: string; readonly terms: PriceTerms } | { readonly problem: string };

/** The highest price that the service takes, for a million tokens. */
const highest = 1e15;

const parsePrice = (text: string): number | undefined => {
  const price = Number(text.trim().replace(',', '.'));
  return text.trim() === '' || !Number.isFinite(price) || price < 0 ? undefined : price;
};

/** Reads the form. */
export const typedPrice = ({ model, input, output, unit, from, provider }: PriceForm): TypedPrice => {
  const name = model.trim();
  if (name === '') return { problem: 'Enter the model as its calls name it in their usage.' };
  const prompt = parsePrice(input);
  const completion = parsePrice(output);
  if (prompt === undefined || completion === undefined)
    return { problem: 'Enter both prices as numbers, 0 or more.' };
  if (Math.max(prompt, completion) > highest)
    return { problem: `Enter prices up to ${highest} per million tokens.` };
  const time = from === '' ? undefined : new Date(from);
  if (time && Number.isNaN(time.getTime())) return { problem: 'The time is invalid.' };
  const currency = unit.trim() || 'USD';
  return {
    model: name,
    terms: {
      // Multiplying by 1e-6 would leave 0.00000014999999999999999.
      prompt_token_cost: prompt / 1e6,
      completion_token_cost: completion / 1e6,
      prompt_token_cost_unit: currency,
      completion_token_cost_unit: currency,
      ...(time && { effective_date: time.toISOString() }),
      ...(provider.trim() !== '' && { provider_id: provider.trim() }),
    },
  };
};
