/**
 * What forwarding adds to a streamed answer: time to the first byte, and time per event. A request
 * straight to the same upstream alternates with forwarded ones. Upstream and client go in lockstep:
 * an event is sent when the previous one has arrived, so a held-back event would delay all others.
 * The figures include the local gateway and threads, but not API Gateway and Lambda.
 */
import { once } from 'node:events';
import { Agent, createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLocalService } from '../../local/service.ts';
import type { BenchPart } from '../harness/bench.ts';
import { type Figure, measured, median } from '../harness/figures.ts';

const requests = 100;
const eventsEach = 50;
const warmUp = 20;
/** Between two requests, so that none meets the recording of the one before, in ms. */
const pauseMs = 25;

/** An upstream that sends an event when `sendNext` is called: when the one before has arrived. */
interface Upstream extends AsyncDisposable {
  readonly baseUrl: string;
  readonly sendNext: () => void;
}

const startUpstream = async (): Promise<Upstream> => {
  let sendNext: () => void = () => {};
  const server = createServer(async (req, res) => {
    req.resume();
    await once(req, 'end');
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let i = 0; i < eventsEach; i++) {
      const choices = [{ index: 0, delta: { content: `word ${i} ` } }];
      const arrived = new Promise<void>((resolve) => {
        sendNext = resolve;
      });
      res.write(`data: ${JSON.stringify({ object: 'chat.completion.chunk', model: 'bench', choices })}\n\n`);
      await arrived;
    }
    res.end('data: [DONE]\n\n');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the upstream has no port');
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    sendNext: () => sendNext(),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
};

/** A route to the upstream, with the times of its requests in ms. */
interface Route {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly agent: Agent;
  readonly firstByte: number[];
  /** The median time of each request's events. */
  readonly event: number[];
}

const newRoute = (url: string, headers: Readonly<Record<string, string>> = {}): Route => ({
  url,
  headers,
  agent: new Agent({ keepAlive: true }),
  firstByte: [],
  event: [],
});

const body = JSON.stringify({ model: 'bench', stream: true, messages: [{ role: 'user', content: 'Hi' }] });

const run = async ({ url, headers, agent, firstByte, event }: Route, sendNext: () => void): Promise<void> => {
  await sleep(pauseMs);
  const startedAt = performance.now();
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
    sendNext();
  }
  const [first = 0, ...others] = arrivals;
  if (arrivals.length < eventsEach) throw new Error('events came together');
  firstByte.push(first - startedAt);
  event.push(median(others.slice(0, eventsEach - 1).map((at, i) => at - (arrivals[i] ?? 0))));
};

const toFigures = (name: string, { firstByte, event }: Route, direct: Route): Figure[] => {
  const beside = (times: readonly number[], other: readonly number[]) =>
    times.map((ms, i) => ms / (other[i] ?? Number.NaN));
  return [
    measured(`${name}: first byte`, 'ms', firstByte),
    measured(`${name}: an event`, 'ms', event),
    ...(direct.event === event
      ? []
      : [
          measured(`${name}: first byte, beside direct`, 'ratio', beside(firstByte, direct.firstByte)),
          measured(`${name}: an event, beside direct`, 'ratio', beside(event, direct.event)),
        ]),
  ];
};

const measure = async (): Promise<Figure[]> => {
  await using cleanup = new AsyncDisposableStack();
  const { baseUrl, sendNext } = cleanup.use(await startUpstream());
  const service = await startLocalService({ inference: { baseUrl } });
  cleanup.defer(() => service.stop());
  const authorization = `Bearer ${service.key}`;
  const through = `${service.url}/inference/v1/chat/completions`;
  const routes = {
    direct: newRoute(`${baseUrl}/chat/completions`),
    forwarded: newRoute(through, { authorization }),
    'forwarded and recorded': newRoute(through, { authorization, 'openai-project': 'bench/inference' }),
  };
  for (const route of Object.values(routes)) cleanup.defer(() => route.agent.destroy());
  for (let i = 0; i < warmUp + requests; i++)
    for (const route of Object.values(routes)) {
      await run(route, sendNext);
      if (i >= warmUp) continue;
      route.firstByte.length = 0;
      route.event.length = 0;
    }
  return Object.entries(routes).flatMap(([name, route]) => toFigures(name, route, routes.direct));
};

/** Latency of forwarded model requests against direct ones. */
export const inference: BenchPart = {
  name: 'inference',
  title: `Passing on streamed answers of ${eventsEach} events, in lockstep`,
  run: measure,
};
