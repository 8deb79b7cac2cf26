/**
 * Sessions of coding agents, as the service stores what the telemetry of Claude Code and Codex says of them: turns with
 * a sub-agent, an MCP tool, commands that fail, edits, cached tokens and waits for a person, by several people in
 * several repositories and branches, with two versions of Claude Code. A project that has calls already is left as it is.
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
  'gpt-5': { input: 1.25, cacheRead: 0.125, cacheWrite: 1.25, output: 10 },
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

/** What is asked, what the agent does, and what it answers. */
interface Turn {
  readonly user: string;
  readonly answer: string;
  readonly steps: readonly Step[];
}

/** A discount that is taken off twice: the longest of the sessions. */
const fixing: readonly Turn[] = [
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

/** An export that is written and tested. */
const exporting: readonly Turn[] = [
  {
    user: 'Add a CSV export to the monthly report.',
    answer:
      '`toCsv` in `src/export.ts` writes the report as CSV, with quotes where values need them. Its tests pass.',
    steps: [
      { model: 2_600, fresh: 14_100, output: 170 },
      { tool: 'Read', ms: 24, takes: { file_path: path('src/report.ts') }, gives: discount },
      { model: 3_100, fresh: 620, output: 460 },
      {
        tool: 'Write',
        ms: 38,
        takes: {
          file_path: path('src/export.ts'),
          content:
            "import type { Report } from './report.ts';\n\nconst quoted = (value: string): string =>\n  /[\",\\n]/.test(value) ? JSON.stringify(value) : value;\n\nexport const toCsv = ({ rows }: Report): string =>\n  rows.map((row) => row.map(quoted).join(',')).join('\\n');\n",
        },
        gives: 'File created successfully.',
      },
      { model: 2_400, fresh: 510, output: 130 },
      {
        tool: 'Bash',
        ms: 3_900,
        takes: { command: 'npx vitest run test/export.test.ts', description: 'Run its tests' },
        gives: ' Tests  6 passed (6)',
      },
      { model: 1_800, fresh: 190, output: 92, isLast: true },
    ],
  },
];

/** A dependency that Codex updates. */
const updating: readonly Turn[] = [
  {
    user: 'Update vitest to version 4, and mend what breaks.',
    answer: 'vitest is 4.0.3. One configuration had moved; all tests pass.',
    steps: [
      { model: 3_900, fresh: 9_800, output: 240 },
      {
        tool: 'exec_command',
        ms: 8_700,
        takes: { cmd: 'npm install --save-exact vitest@4.0.3 && npx vitest run' },
        fails: 'exit code 1: Error: `poolOptions` was removed. Use the options of the pool itself.',
      },
      { model: 3_300, fresh: 460, output: 310 },
      {
        tool: 'apply_patch',
        ms: 21,
        takes: {
          input:
            "*** Begin Patch\n*** Update File: vitest.config.ts\n@@\n-    poolOptions: { forks: { singleFork: true } },\n+    pool: 'forks',\n+    maxWorkers: 1,\n*** End Patch",
        },
        gives: 'Success. Updated the following files:\nM vitest.config.ts',
      },
      { model: 2_700, fresh: 380, output: 120 },
      { tool: 'exec_command', ms: 6_100, takes: { cmd: 'npx vitest run' }, gives: 'Tests  42 passed (42)' },
      { model: 2_200, fresh: 210, output: 74, isLast: true },
    ],
  },
];

/** What programs call their operations. */
const programs = {
  'claude-code': {
    turn: 'claude_code.interaction',
    request: 'claude_code.llm_request',
    tool: 'claude_code.tool',
    model: 'claude-sonnet-4-5',
    provider: 'anthropic',
  },
  codex: {
    turn: 'codex.turn',
    request: 'codex.request',
    tool: 'codex.tool',
    model: 'gpt-5',
    provider: 'openai',
  },
} as const;

/** A session: who began it, how long ago, and where. */
interface SessionOf {
  readonly program: keyof typeof programs;
  readonly version: string;
  readonly user: string;
  readonly repository: string;
  readonly branch: string;
  readonly minutesAgo: number;
  readonly turns: readonly Turn[];
  /** How much longer everything takes. @default 1 */
  readonly slower?: number;
}

const shop = { program: 'claude-code', repository: 'acme/shop', turns: fixing } as const;
const reports = { program: 'claude-code', repository: 'acme/reports', turns: exporting } as const;
const former = { version: '2.1.329' } as const;
const newest = { version: '2.1.330', slower: 1.5 } as const;

/** The sessions of five days, the oldest first. */
const sessions: readonly SessionOf[] = [
  { ...shop, ...former, user: 'ben', branch: 'main', minutesAgo: 6_900 },
  { ...reports, ...former, user: 'ada', branch: 'csv', minutesAgo: 6_100 },
  { ...shop, ...former, user: 'ada', branch: 'vouchers', minutesAgo: 5_400 },
  { ...reports, ...former, user: 'ben', branch: 'csv', minutesAgo: 4_700 },
  {
    program: 'codex',
    version: '0.169.0',
    user: 'cleo',
    repository: 'acme/shop',
    branch: 'vitest-4',
    minutesAgo: 3_900,
    turns: updating,
  },
  { ...shop, ...newest, user: 'ben', branch: 'vouchers', minutesAgo: 2_800 },
  { ...reports, ...newest, user: 'cleo', branch: 'main', minutesAgo: 1_500 },
  { ...shop, ...newest, user: 'cleo', branch: 'main', minutesAgo: 600 },
  { ...shop, version: '2.1.330', user: 'ada', branch: 'fix-double-discount', minutesAgo: 25 },
];

/** Writes down the calls of a session, while the clock goes on. */
class Session {
  readonly calls: DemoCall[] = [];
  readonly #thread = newId();
  readonly #of: SessionOf;
  readonly #ops: (typeof programs)[keyof typeof programs];
  readonly #main: object;
  #now: number;

  constructor(of: SessionOf) {
    this.#of = of;
    this.#ops = programs[of.program];
    this.#main = { name: of.program, version: of.version };
    this.#now = Date.now() - of.minutesAgo * 60_000;
  }

  /** A turn, and the time until the next. What one turn has read is in the cache of the next. */
  turn({ user, answer, steps }: Turn, cached: number): number {
    const id = newId();
    const place = { trace: id, thread: this.#thread, turn: id };
    const start = this.#now;
    const read = this.#run(steps, answer, this.#ops.model, { ...place, parent: id }, this.#main, cached);
    this.calls.push({
      ...place,
      id,
      parent: null,
      op: this.#ops.turn,
      name: this.#of.program,
      start,
      ms: this.#now - start,
      attributes: { ...this.#attributes(this.#main), kind: 'agent' },
      inputs: { messages: [{ role: 'user', content: user }] },
      output: { messages: [{ role: 'assistant', content: answer }] },
    });
    this.#now += 48_000;
    return read;
  }

  /** What every call says. The names of the resource are OpenTelemetry's. */
  #attributes(agent: object) {
    const { version, user, repository, branch } = this.#of;
    const vcs = { repository: { name: repository }, ref: { head: { name: branch } } };
    return {
      agent,
      release: version,
      user: { id: user },
      gen_ai: { provider: { name: this.#ops.provider } },
      otel: { resource: { service: { name: this.#of.program, version }, vcs } },
    };
  }

  /** Lets time pass, in ms. Returns how much passed. */
  #pass(ms: number): number {
    const passed = Math.round(ms * (this.#of.slower ?? 1));
    this.#now += passed;
    return passed;
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
        this.calls.push({
          ...own,
          op: this.#ops.request,
          name: model,
          ms: this.#pass(step.model),
          attributes: { ...this.#attributes(agent), kind: 'model' },
          inputs: { model },
          output: step.isLast ? { messages: [{ role: 'assistant', content: answer }] } : null,
          summary: this.#used(model, read, step.fresh, step.output),
        });
        read += step.fresh;
        continue;
      }
      if (step.subAgent) this.#delegate(step.subAgent, { ...place, parent: own.id });
      else this.#pass(step.ms);
      this.calls.push({
        ...own,
        op: this.#ops.tool,
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
  let count = 0;
  for (const of of sessions) {
    const session = new Session(of);
    let cached = 0;
    for (const turn of of.turns) cached = session.turn(turn, cached);
    const batch = session.calls.flatMap((call, at) => toReports(project_id, call, at));
    await post('/call/upsert_batch', { batch });
    count += session.calls.length;
  }
  console.log(`Reported ${sessions.length} sessions of coding agents to ${project_id}: ${count} calls.`);
}
