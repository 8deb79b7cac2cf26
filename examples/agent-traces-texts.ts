/** What is said in the traces of `agent-traces.ts`: the support agent's policy, the customers' messages, the model's replies. */

/** At least one text, so that one can always be picked. */
export type Texts = readonly [string, ...string[]];

/** What a customer writes about. */
export const topics: Texts = [
  'a flat tyre',
  'a creaking crank',
  'a late parcel',
  'a wrong invoice',
  'worn brake pads',
  'a frame size',
];

/** How a first message begins. */
export const openings: Texts = [
  'Hello, I need help with',
  'Hi! Could you look into',
  'Good morning – it is about',
  '你好, this is about',
];

/** What follows the first message's topic, and all that a later message says. */
export const details: Texts = [
  'I ordered it last week and it still has not arrived at my address.',
  'The mechanic told me that the part is out of stock until next month.',
  'My order number is on the invoice that you sent me by mail.',
  'I would rather have a refund to the card that I paid with.',
  'Could you check whether the warranty covers this kind of damage?',
  'Yes, please go ahead; that price is fine with me.',
];

/** Sentences of the model's last answer in a turn. */
export const replies: Texts = [
  'I have found your order and can see what happened to it.',
  'To go on I need your order number and the name on the account.',
  'The part is covered by the warranty, so the repair costs you nothing.',
  'I have booked the repair for Thursday at nine in the morning.',
  'The refund of 89.90 € is on its way and takes three to five days.',
];

/** Names of the tools that the model may call. */
export const tools: Texts = ['find_order', 'check_stock', 'book_repair', 'refund_payment', 'think'];

/** What a tool says of an order's state. */
export const orderStates: Texts = ['shipped', 'open', 'returned'];

/** The exception of a tool call that fails, with the line it was raised in. */
export const toolFailure = 'OrderNotFound: no such order\n  at find_order (tools.py:41)';

const rules = [
  'confirm the name and the order number before you look anything up',
  'never promise a delivery date that the stock system does not show',
  'list every change and its price, and wait for an explicit yes, before you book a repair or a refund',
  'refund to the payment method of the order, and to no other',
  'make one tool call at a time, and do not answer the customer in the same message',
  'hand over to a colleague when the request is outside what your tools can do',
  'repairs under warranty are free within 24 months of purchase, wear and tear excluded',
  'orders that have left the warehouse cannot be changed, only returned within 30 days',
];

/** The system message, in Markdown: long, for every model call of a conversation carries it again. */
export const policy = `# Bicycle shop support policy\n\n${rules
  .flatMap((rule, i) => [
    `## Rule ${i + 1}\n\nAs a support agent you must ${rule}. This holds for orders from the web shop, by telephone and from the branches alike; where a customer insists, explain the rule in one sentence and offer what the rule allows instead.`,
    `Example ${i + 1}: a customer writes about ${topics[i % topics.length]}. First you ${rule}; then you say in plain words what you found, what it costs, and by when it will be done. Do not give opinions, and do not tell what was not asked for.\n`,
  ])
  .join('\n')}`;
