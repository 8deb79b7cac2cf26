/** The tools that the model of `agent-traces.ts` may call, with their inputs and results. */
import { refusals, thoughts } from './agent-traces-texts.ts';
import type { World } from './agent-traces-world.ts';

/** A tool call and its result. */
export interface ToolUse {
  readonly name: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** The tool's output, mostly a record as JSON. */
  readonly result: string;
}

const address = (world: World) => ({
  address1: world.say('{number} {street}'),
  address2: world.say('Apartment {number}{number}'),
  city: world.say('{city}'),
  country: 'EU',
  zip: world.digits(5),
});

const line = (world: World) => ({
  sku: world.hex(8).toUpperCase(),
  name: world.say('{part}, {colour}'),
  quantity: 1 + world.below(2),
  price: world.below(40_000) / 100,
  currency: 'EUR',
  warranty_months: 24,
});

const customer = (world: World) => {
  const name = { first_name: world.say('{first}'), last_name: world.say('{last}') };
  const card = `credit_card_${world.digits(7)}`;
  return {
    name,
    address: address(world),
    email: `${name.first_name}.${name.last_name}${world.digits(4)}@example.com`.toLowerCase(),
    born: `19${world.digits(2)}-0${1 + world.below(9)}-1${world.below(10)}`,
    payment_methods: {
      [card]: { source: 'credit_card', brand: 'mastercard', last_four: world.digits(4), id: card },
      [`voucher_${world.digits(7)}`]: { source: 'voucher', amount: 5 * world.below(100) },
    },
    membership: world.pick(['regular', 'silver', 'gold']),
    orders: Array.from({ length: 1 + world.below(5) }, () => world.say('{order}')),
  };
};

const order = (world: World) => ({
  order_id: world.say('{order}'),
  customer_id: world.say('{first}_{last}_').toLowerCase() + world.digits(4),
  status: world.pick(['shipped', 'open', 'returned']),
  ship_to: address(world),
  lines: Array.from({ length: 3 + world.below(4) }, () => line(world)),
  payment_history: [{ payment_id: `credit_card_${world.digits(7)}`, amount: world.below(90_000) / 100 }],
  created_at: `2026-0${1 + world.below(9)}-1${world.below(10)}T0${world.below(10)}:${10 + world.below(50)}:${10 + world.below(50)}`,
  insurance: world.pick(['yes', 'no']),
});

const offer = (world: World) => ({
  ...line(world),
  branch: world.say('{city}'),
  available: { now: world.below(20), next_week: world.below(90) },
});

/**
 * Makes one tool call with its result: mostly a customer or an order; sometimes a long list, a
 * thought, or nothing.
 */
export const useTool = (world: World): ToolUse => {
  const kind = world.below(100);
  if (kind < 10) return { name: 'think', inputs: { thought: world.say(world.pick(thoughts)) }, result: '' };
  if (kind < 25)
    return {
      name: 'find_order',
      inputs: { order_id: world.say('{order}') },
      result: world.say(world.pick(refusals)),
    };
  if (kind < 30) {
    const found = Array.from({ length: 15 + world.below(26) }, () => offer(world));
    return { name: 'search_stock', inputs: { name: world.say('{part}') }, result: JSON.stringify(found) };
  }
  if (kind < 50) {
    const found = customer(world);
    const inputs = { email: found.email };
    return { name: 'find_customer', inputs, result: JSON.stringify(found) };
  }
  const found = order(world);
  const inputs = { order_id: found.order_id };
  // A booking repeats the lines of the order.
  if (kind >= 93)
    return {
      name: 'book_repair',
      inputs: { ...inputs, lines: found.lines },
      result: JSON.stringify(found),
    };
  return { name: 'find_order', inputs, result: JSON.stringify(found) };
};
