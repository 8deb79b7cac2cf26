/**
 * A session of a coding agent, as the service stores what Claude Code's telemetry says of one: two turns with a
 * sub-agent, an MCP tool, a command that fails, an edit, cached tokens and a wait for a person. A project that has
 * calls already is left as it is.
 *
 *     PENNYTRACE_URL=http://127.0.0.1:8787 PENNYTRACE_KEY=svc_… PENNYTRACE_PROJECT=demo/coding npx node examples/coding.ts
 */
import { type DemoCall, newId, toReports } from './shop/conversations.ts';

const url = process.env.PENNYTRACE_URL ?? 'http://127.0.0.1:8787';
const key = process.env.PENNYTRACE_KEY ?? '';
const project_id = process.env.PENNYTRACE_PROJECT ?? 'demo/coding';

const post = async (path: string, body: object): Promise<string> => {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
  return text;
};

/** US dollars for a million tokens: read by no cache, from the cache, into the cache, and written. */
const models = {
  'claude-sonnet-4-5': { input: 3, cacheRead: 0.3, cacheWrite: 3.75, output: 15 },
  'claude-haiku-4-5': { input: 1, cacheRead: 0.1, cacheWrite: 1.25, output: 5 },
} as const;

/** What an agent does next. Times are in ms. */
type Step =
  | { readonly model: number; readonly fresh: number; readonly output: number; readonly isLast?: true }
  | {
      readonly tool: string;
      readonly ms: number;
      readonly takes: object;
      readonly gives?: unknown;
      readonly fails?: string;
      readonly waits?: number;
      readonly subAgent?: SubAgent;
    };

interface SubAgent {
  readonly name: string;
  readonly prompt: string;
  readonly answer: string;
  readonly steps: readonly Step[];
}

const path = (file: string): string => `/home/ada/shop/${file}`;

const discount = `     1→import { codes } from './codes.ts';
     2→
     3→/** The price of a cart in cents, after its discount code. */
     4→export const totalOf = (cart: Cart): number => {
     5→  const sum = cart.items.reduce((total, item) => total + priceOf(item, cart.code), 0);
     6→  return applyCode(sum, cart.code);
     7→};`;

const failedTest = `Error: Exit code 1
 FAIL  test/cart.test.ts > a code counts once
AssertionError: expected 8100 to be 9000

  12|   const cart = { items: [helmet], code: 'WINTER10' };
  13|   expect(totalOf(cart)).toBe(9000);
    |                         ^

 Tests  1 failed | 41 passed (42)`;

const task = (content: string, status: string) => ({ content, status, activeForm: content });

const explore: SubAgent = {
  name: 'Explore',
  prompt: 'Find every place in src that applies a discount code, and say which of them count twice.',
  answer:
    '`priceOf` in `src/cart/prices.ts` takes the code off each item, and `applyCode` in `src/cart/totals.ts` takes it off the sum again. Nothing else calls `priceOf` with a code.',
  steps: [
    { model: 2_100, fresh: 6_200, output: 96 },
    {
      tool: 'Grep',
      ms: 84,
      takes: { pattern: 'applyCode|priceOf', path: path('src'), output_mode: 'content' },
      gives:
        'src/cart/prices.ts:9:export const priceOf = (item: Item, code?: string): number =>\nsrc/cart/totals.ts:5:  const sum = cart.items.reduce((total, item) => total + priceOf(item, cart.code), 0);\nsrc/cart/totals.ts:6:  return applyCode(sum, cart.code);',
    },
    { model: 2_800, fresh: 420, output: 88 },
    { tool: 'Read', ms: 31, takes: { file_path: path('src/cart/totals.ts') }, gives: discount },
    { model: 3_900, fresh: 560, output: 142, isLast: true },
  ],
};

/** The session: what is asked, what the agent does, and what it answers. */
const turns: readonly { readonly user: string; readonly answer: string; readonly steps: readonly Step[] }[] =
  [
    {
      user: 'Customers say that WINTER10 is taken off twice. See #318, find out why and fix it.',
      answer:
        'The code was taken off each item **and** off the sum. `totalOf` now takes it off the sum alone:\n\n- `src/cart/totals.ts`: items are summed at their full price\n- all 42 tests pass, the new one with `WINTER10` among them\n\nShall I push it?',
      steps: [
        { model: 3_400, fresh: 18_400, output: 210 },
        {
          tool: 'github.get_issue',
          ms: 640,
          takes: { owner: 'acme', repo: 'shop', number: 318 },
          gives: {
            title: 'WINTER10 gives 19 % instead of 10 %',
            state: 'open',
            body: 'A helmet for € 100 costs € 81 with WINTER10. It should cost € 90.',
          },
        },
        { model: 2_600, fresh: 640, output: 184 },
        {
          tool: 'TodoWrite',
          ms: 12,
          takes: {
            todos: [
              task('Find where the code is applied', 'in_progress'),
              task('Write a test that fails', 'pending'),
              task('Mend it', 'pending'),
            ],
          },
          gives: 'Todos have been modified successfully.',
        },
        { model: 2_900, fresh: 310, output: 156 },
        {
          tool: 'Agent',
          ms: 0,
          takes: {
            description: 'Find discounts',
            prompt: explore.prompt,
            subagent_type: 'Explore',
          },
          subAgent: explore,
        },
        { model: 4_100, fresh: 520, output: 388 },
        {
          tool: 'Bash',
          ms: 4_830,
          takes: {
            command: 'npx vitest run test/cart.test.ts',
            description: 'Run the test that should fail',
          },
          fails: failedTest,
        },
        { model: 3_700, fresh: 840, output: 402 },
        {
          tool: 'Edit',
          ms: 46,
          takes: {
            file_path: path('src/cart/totals.ts'),
            old_string:
              '  const sum = cart.items.reduce((total, item) => total + priceOf(item, cart.code), 0);\n  return applyCode(sum, cart.code);',
            new_string:
              '  const sum = cart.items.reduce((total, item) => total + priceOf(item), 0);\n  return applyCode(sum, cart.code);',
            replace_all: false,
          },
          gives: 'The file /home/ada/shop/src/cart/totals.ts has been updated.',
        },
        { model: 2_200, fresh: 610, output: 118 },
        {
          tool: 'Bash',
          ms: 5_210,
          takes: { command: 'npx vitest run', description: 'Run all tests' },
          gives: ' Test Files  9 passed (9)\n      Tests  42 passed (42)\n   Duration  4.61s',
        },
        { model: 3_300, fresh: 280, output: 164, isLast: true },
      ],
    },
    {
      user: 'Yes, on a branch of its own.',
      answer: 'Pushed as `fix-double-discount`. A pull request can be opened from there.',
      steps: [
        { model: 2_700, fresh: 360, output: 172 },
        {
          tool: 'Bash',
          ms: 41_300,
          waits: 38_600,
          takes: {
            command:
              "git switch -c fix-double-discount\ngit commit -am 'Take a discount off once'\ngit push -u origin fix-double-discount",
            description: 'Commit and push',
          },
          gives:
            "[fix-double-discount 4be1c07] Take a discount off once\n 2 files changed, 8 insertions(+), 1 deletion(-)\nbranch 'fix-double-discount' set up to track 'origin/fix-double-discount'.",
        },
        { model: 1_900, fresh: 240, output: 61, isLast: true },
      ],
    },
  ];

const release = '2.1.330';
const coder = { name: 'claude-code', version: release };

/** Writes down the calls of a session, while the clock goes on. */
class Session {
  readonly calls: DemoCall[] = [];
  readonly #thread = newId();
  #now: number;

  constructor(start: number) {
    this.#now = start;
  }

  /** A turn, and the time until the next. What one turn has read is in the cache of the next. */
  turn({ user, answer, steps }: (typeof turns)[number], cached: number): number {
    const id = newId();
    const place = { trace: id, thread: this.#thread, turn: id };
    const start = this.#now;
    const read = this.#run(steps, answer, 'claude-sonnet-4-5', { ...place, parent: id }, coder, cached);
    this.calls.push({
      ...place,
      id,
      parent: null,
      op: 'claude_code.interaction',
      name: 'claude-code',
      start,
      ms: this.#now - start,
      attributes: { ...this.#attributes(coder), kind: 'agent' },
      inputs: { messages: [{ role: 'user', content: user }] },
      output: { messages: [{ role: 'assistant', content: answer }] },
    });
    this.#now += 48_000;
    return read;
  }

  #attributes(agent: object) {
    return { agent, release, user: { id: 'ada' }, gen_ai: { provider: { name: 'anthropic' } } };
  }

  /** Runs the steps of an agent. Returns how many tokens are in the cache after them. */
  #run(
    steps: readonly Step[],
    answer: string,
    model: keyof typeof models,
    place: Pick<DemoCall, 'trace' | 'thread' | 'turn' | 'parent'>,
    agent: object,
    cached: number,
  ): number {
    let read = cached;
    for (const step of steps) {
      const own = { ...place, id: newId(), start: this.#now };
      if ('model' in step) {
        this.#now += step.model;
        this.calls.push({
          ...own,
          op: 'claude_code.llm_request',
          name: model,
          ms: step.model,
          attributes: { ...this.#attributes(agent), kind: 'model' },
          inputs: { model },
          output: step.isLast ? { messages: [{ role: 'assistant', content: answer }] } : null,
          summary: this.#used(model, read, step.fresh, step.output),
        });
        read += step.fresh;
        continue;
      }
      if (step.subAgent) this.#delegate(step.subAgent, { ...place, parent: own.id });
      else this.#now += step.ms;
      this.calls.push({
        ...own,
        op: 'claude_code.tool',
        name: step.tool,
        ms: this.#now - own.start,
        attributes: { ...this.#attributes(agent), kind: 'tool', tool: { name: step.tool } },
        inputs: step.takes,
        output: step.gives ?? null,
        ...(step.fails !== undefined && { exception: step.fails }),
        ...(step.waits !== undefined && { summary: { waited_ms: step.waits } }),
      });
    }
    return read;
  }

  #delegate(
    { name, prompt, answer, steps }: SubAgent,
    place: Pick<DemoCall, 'trace' | 'thread' | 'turn' | 'parent'>,
  ): void {
    const id = newId();
    const start = this.#now;
    const agent = { name, id: id.slice(0, 8) };
    this.#run(steps, answer, 'claude-haiku-4-5', { ...place, parent: id }, agent, 0);
    this.calls.push({
      ...place,
      id,
      op: 'claude_code.subagent',
      name,
      start,
      ms: this.#now - start,
      attributes: { ...this.#attributes(agent), kind: 'agent' },
      inputs: { messages: [{ role: 'user', content: prompt }] },
      output: { messages: [{ role: 'assistant', content: answer }] },
    });
  }

  /** What is new to a request goes into the cache, but for its last few tokens. */
  #used(model: keyof typeof models, read: number, fresh: number, output: number): object {
    const rest = Math.min(fresh, 12);
    const price = models[model];
    const written = fresh - rest;
    const dollars =
      rest * price.input + read * price.cacheRead + written * price.cacheWrite + output * price.output;
    const usage = {
      requests: 1,
      input_tokens: read + fresh,
      output_tokens: output,
      total_tokens: read + fresh + output,
      cache_creation_input_tokens: written,
      cache_read_input_tokens: read,
      input_tokens_details: { cached_tokens: read },
    };
    return { cost_usd: dollars / 1e6, usage: { [model]: usage } };
  }
}

const found = await post('/calls/stream_query', { project_id, limit: 1 });
if (found.trim() === '') {
  const session = new Session(Date.now() - 25 * 60_000);
  let cached = 0;
  for (const turn of turns) cached = session.turn(turn, cached);
  const batch = session.calls.flatMap((call, at) => toReports(project_id, call, at));
  await post('/call/upsert_batch', { batch });
  console.log(`Reported a session of a coding agent to ${project_id}: ${session.calls.length} calls.`);
}
