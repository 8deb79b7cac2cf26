/** What the agent does within a turn, before it answers. */
export type Step =
  | { readonly tool: string; readonly args: object; readonly result: unknown }
  | { readonly tool: string; readonly args: object; readonly error: string }
  | { readonly search: string; readonly hits: readonly string[] };

/** A turn: what the customer writes, what the agent does, and what it answers. */
export interface Turn {
  readonly user: string;
  /** A photo that comes with it. @default false */
  readonly photo?: boolean;
  readonly steps?: readonly Step[];
  /** Markdown, as models write it. */
  readonly answer: string;
  /** What the model failed with instead of answering. */
  readonly fails?: string;
}

/** Those who answer. */
export type Assistant = 'support' | 'advisor';

/** A conversation with one of the assistants. */
export interface Conversation {
  readonly topic: string;
  readonly assistant: Assistant;
  readonly turns: readonly Turn[];
}

const order = (id: string, status: string, arrives: string) => ({
  tool: 'find_order',
  args: { order: id },
  result: { order: id, status, carrier: 'DHL', arrives, items: [{ sku: 'TUBE-28', count: 2 }] },
});

/** The conversations of a bicycle shop, which the demo repeats over a day. */
export const conversations: readonly Conversation[] = [
  {
    topic: 'parcel',
    assistant: 'support',
    turns: [
      {
        user: 'Hello, where is my parcel?',
        answer: 'Happy to look. **What is your order number?** It begins with a W.',
      },
      {
        user: 'It is W1001.',
        steps: [order('W1001', 'in transit', 'Thursday')],
        answer:
          'Your order **W1001** is on its way:\n\n| | |\n| --- | --- |\n| Carrier | DHL |\n| Status | in transit |\n| Arrives | Thursday |\n\nDo you want a message when it is delivered?',
      },
      {
        user: 'Yes. And W9999, for my brother?',
        steps: [{ tool: 'find_order', args: { order: 'W9999' }, error: 'OrderNotFound: no order W9999' }],
        answer: 'I will write to you on Thursday. I find no order **W9999**. Could a digit be wrong?',
      },
    ],
  },
  {
    topic: 'return',
    assistant: 'support',
    turns: [
      {
        user: 'The helmet from W1044 is too small. Can I send it back?',
        steps: [
          order('W1044', 'delivered', 'last Monday'),
          {
            search: 'return a helmet that does not fit',
            hits: [
              'Returns: 30 days, unused, with its box.',
              'Helmets: size M is 55–59 cm, size L is 58–62 cm.',
            ],
          },
        ],
        answer:
          'Yes, within **30 days**:\n\n1. Put the helmet into its box, unused.\n2. Print the label that I send you.\n3. Bring it to any DHL shop.\n\nSize L is for 58–62 cm. Shall I exchange it?',
      },
      {
        user: 'Please do.',
        steps: [
          {
            tool: 'create_return',
            args: { order: 'W1044', exchange: 'HELMET-L' },
            result: { return: 'R-2207', label: 'sent' },
          },
        ],
        answer: 'Done: return **R-2207**. The label is in your mail, and size L leaves tomorrow.',
      },
    ],
  },
  {
    topic: 'chain',
    assistant: 'advisor',
    turns: [
      {
        user: 'My chain looks like this after the winter. Does it need replacing?',
        photo: true,
        steps: [
          {
            search: 'worn chain, when to replace',
            hits: ['Chains: replace at 0.75 % of wear; 0.5 % with 11 or more gears.'],
          },
        ],
        answer:
          'That is **surface rust**, not wear. Clean and oil it first:\n\n- brush it with degreaser and let it dry\n- one drop of oil on each roller\n- wipe off what is left\n\nThen measure it. With 11 gears or more, replace it at `0.5 %`.',
      },
      {
        user: 'It measures 0.8. Which one fits a Shimano 105 R7000?',
        steps: [
          {
            tool: 'find_parts',
            args: { fits: 'Shimano 105 R7000', kind: 'chain' },
            result: [
              { sku: 'CN-HG601-11', price: 24.9, stock: 12 },
              { sku: 'CN-HG701-11', price: 29.9, stock: 0 },
            ],
          },
        ],
        answer:
          'Two fit its 11 gears:\n\n| chain | price | in stock |\n| --- | ---: | --- |\n| CN-HG601-11 | € 24.90 | yes |\n| CN-HG701-11 | € 29.90 | next week |\n\nAt 0.8 % the cassette is often worn, too. Check it with the new chain.',
      },
      { user: 'Thank you!', answer: 'You are welcome. Enjoy the ride!' },
    ],
  },
  {
    topic: 'gears',
    assistant: 'advisor',
    turns: [
      {
        user: 'How do I stop the rear gears from skipping?',
        steps: [
          {
            search: 'rear gears skip, adjust the derailleur',
            hits: ['Indexing: turn the barrel adjuster a quarter turn at a time.'],
          },
        ],
        answer:
          'Mostly it is the **cable tension**:\n\n1. Shift to the smallest cog.\n2. Turn the barrel adjuster a *quarter turn* outwards.\n3. Pedal, shift one up, and listen.\n\n> If it skips under load only, look at the chain instead.',
      },
    ],
  },
  {
    topic: 'invoice',
    assistant: 'support',
    turns: [
      {
        user: 'I need the invoice of W1077 with our VAT number.',
        steps: [
          order('W1077', 'delivered', 'in October'),
          {
            tool: 'make_invoice',
            args: { order: 'W1077', vat: 'DE811907980' },
            result: { invoice: 'I-5512', pages: 1 },
          },
        ],
        answer: 'Invoice **I-5512** with the number `DE811907980` is in your mail.',
      },
      {
        user: 'Can you also send it to our accounting?',
        answer: '',
        fails:
          'RateLimitError: 429 the model is overloaded, try again in 2 s\n    at ChatCompletions.create (openai/client.js:512:15)\n    at async answer (support/agent.ts:88:18)\n    at async turn (support/agent.ts:41:20)',
      },
    ],
  },
];
