/**
 * Measures what the pass-through adds to a streamed answer: the time to its first byte and the time of each event, beside going straight to the same upstream
 * in the same run, by turns. Upstream and client go in lockstep: an event is sent when the one before it has arrived, so that one that was held back would
 * hold up everything.
 *
 *     npm run bench:inference                    # 200 requests of 50 events each way
 *     npm run bench:inference -- 1000 100
 *
 * It runs on the local service: its gateway and threads are in the figures, API Gateway's and Lambda's own time is not.
 */
import { once } from 'node:events';
import { Agent, createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLocalService } from '../local/service.ts';

const [requests = 200, eventsEach = 50] = process.argv.slice(2).map(Number);
const warmUp = 20;
/** Between two requests, so that none meets the writing of the record before it. */
const pauseMs = 25;

/** Lets the upstream send its next event. */
let goOn: () => void = () => {};

const upstream = createServer(async (req, res) => {
  req.resume();
  await once(req, 'end');
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let i = 0; i < eventsEach; i++) {
    const data = {
      object: 'chat.completion.chunk',
      model: 'bench',
      choices: [{ index: 0, delta: { content: `word ${i} ` } }],
    };
    const arrived = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    res.write(`data: ${JSON.stringify(data)}\n\n`);
    await arrived;
  }
  res.end('data: [DONE]\n\n');
}).listen(0, '127.0.0.1');
await once(upstream, 'listening');
const address = upstream.address();
if (address === null || typeof address === 'string') throw new Error('the upstream has no port');

await using cleanup = new AsyncDisposableStack();
cleanup.defer(() => {
  upstream.close();
  upstream.closeAllConnections();
});
const baseUrl = `http://127.0.0.1:${address.port}/v1`;
const service = await startLocalService({ inference: { baseUrl } });
cleanup.defer(() => service.stop());

/** One way to the upstream, and what its requests took in milliseconds. */
interface Way {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly agent: Agent;
  readonly firstByte: number[];
  readonly event: number[];
}

const way = (url: string, headers: Readonly<Record<string, string>>): Way => ({
  url,
  headers,
  agent: new Agent({ keepAlive: true }),
  firstByte: [],
  event: [],
});
const authorization = `Bearer ${service.key}`;
const through = `${service.url}/inference/v1/chat/completions`;
const ways = {
  straight: way(`${baseUrl}/chat/completions`, {}),
  'passed on': way(through, { authorization }),
  'passed on and recorded': way(through, { authorization, 'openai-project': 'bench/inference' }),
};

const body = JSON.stringify({ model: 'bench', stream: true, messages: [{ role: 'user', content: 'Hi' }] });

const run = async ({ url, headers, agent, firstByte, event }: Way, counts: boolean): Promise<void> => {
  await sleep(pauseMs);
  const begun = performance.now();
  const req = httpRequest(url, {
    method: 'POST',
    agent,
    headers: { ...headers, 'content-type': 'application/json' },
  });
  req.end(body);
  const [response] = (await once(req, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}`);
  const arrivals: number[] = [];
  for await (const _ of response) {
    arrivals.push(performance.now());
    goOn();
  }
  if (arrivals.length < eventsEach) throw new Error('events came together');
  if (!counts) return;
  firstByte.push((arrivals[0] ?? 0) - begun);
  for (let i = 1; i < eventsEach; i++) event.push((arrivals[i] ?? 0) - (arrivals[i - 1] ?? 0));
};

for (let i = -warmUp; i < requests; i++) for (const each of Object.values(ways)) await run(each, i >= 0);

const quantile = (list: readonly number[], q: number): number =>
  list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(q * list.length))] ?? Number.NaN;
const rounded = (value: number): number => Math.round(value * 1000) / 1000;

const { straight } = ways;
const row = ({ firstByte, event }: Way) => ({
  'first byte p50 (ms)': rounded(quantile(firstByte, 0.5)),
  'p99 (ms)': rounded(quantile(firstByte, 0.99)),
  'times straight': rounded(quantile(firstByte, 0.5) / quantile(straight.firstByte, 0.5)),
  'event p50 (ms)': rounded(quantile(event, 0.5)),
  'p99 of events (ms)': rounded(quantile(event, 0.99)),
  'times straight, events': rounded(quantile(event, 0.5) / quantile(straight.event, 0.5)),
});
console.log(`${requests} requests of ${eventsEach} events each way, by turns; no event waited for another:`);
console.table(Object.fromEntries(Object.entries(ways).map(([name, each]) => [name, row(each)])));
for (const { agent } of Object.values(ways)) agent.destroy();
