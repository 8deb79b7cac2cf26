/**
 * What the pass-through adds to a streamed answer: the time to its first byte and the time of each
 * event, beside going straight to the same upstream in the same run, by turns. Upstream and client
 * go in lockstep: an event is sent when the one before it has arrived, so that one that was held
 * back would hold up everything. It runs on the local service: its gateway and threads are in the
 * figures, API Gateway's and Lambda's own time is not.
 */
import { once } from 'node:events';
import { Agent, createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLocalService } from '../../local/service.ts';
import { type Figure, measured, median } from '../harness/figures.ts';
import type { Part } from '../harness/part.ts';

const requests = 100;
const eventsEach = 50;
const warmUp = 20;
/** Between two requests, so that none meets the writing of the record before it. */
const pauseMs = 25;

/** An upstream that sends an event when it is told that the one before has arrived. */
interface Upstream extends AsyncDisposable {
  readonly baseUrl: string;
  readonly goOn: () => void;
}

const startUpstream = async (): Promise<Upstream> => {
  let goOn: () => void = () => {};
  const server = createServer(async (req, res) => {
    req.resume();
    await once(req, 'end');
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let i = 0; i < eventsEach; i++) {
      const choices = [{ index: 0, delta: { content: `word ${i} ` } }];
      const arrived = new Promise<void>((resolve) => {
        goOn = resolve;
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
    goOn: () => goOn(),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
};

/** One way to the upstream, and what its requests took in milliseconds. */
interface Way {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly agent: Agent;
  readonly firstByte: number[];
  /** The median of each request's events. */
  readonly event: number[];
}

const newWay = (url: string, headers: Readonly<Record<string, string>> = {}): Way => ({
  ...{ url, headers, agent: new Agent({ keepAlive: true }), firstByte: [], event: [] },
});

const body = JSON.stringify({ model: 'bench', stream: true, messages: [{ role: 'user', content: 'Hi' }] });

const run = async ({ url, headers, agent, firstByte, event }: Way, goOn: () => void): Promise<void> => {
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
  const [first = 0, ...others] = arrivals;
  if (arrivals.length < eventsEach) throw new Error('events came together');
  firstByte.push(first - begun);
  event.push(median(others.slice(0, eventsEach - 1).map((at, i) => at - (arrivals[i] ?? 0))));
};

const figuresOf = (name: string, { firstByte, event }: Way, straight: Way): Figure[] => {
  const beside = (of: readonly number[], other: readonly number[]) =>
    of.map((ms, i) => ms / (other[i] ?? Number.NaN));
  return [
    measured(`${name}: first byte`, 'ms', firstByte),
    measured(`${name}: an event`, 'ms', event),
    ...(straight.event === event
      ? []
      : [
          measured(`${name}: first byte, beside straight`, 'ratio', beside(firstByte, straight.firstByte)),
          measured(`${name}: an event, beside straight`, 'ratio', beside(event, straight.event)),
        ]),
  ];
};

const measure = async (): Promise<Figure[]> => {
  await using cleanup = new AsyncDisposableStack();
  const { baseUrl, goOn } = cleanup.use(await startUpstream());
  const service = await startLocalService({ inference: { baseUrl } });
  cleanup.defer(() => service.stop());
  const authorization = `Bearer ${service.key}`;
  const through = `${service.url}/inference/v1/chat/completions`;
  const ways = {
    straight: newWay(`${baseUrl}/chat/completions`),
    'passed on': newWay(through, { authorization }),
    'passed on and recorded': newWay(through, { authorization, 'openai-project': 'bench/inference' }),
  };
  for (const way of Object.values(ways)) cleanup.defer(() => way.agent.destroy());
  for (let i = 0; i < warmUp + requests; i++)
    for (const way of Object.values(ways)) {
      await run(way, goOn);
      if (i >= warmUp) continue;
      way.firstByte.length = 0;
      way.event.length = 0;
    }
  return Object.entries(ways).flatMap(([name, way]) => figuresOf(name, way, ways.straight));
};

/** Latency of the pass-through for model requests, beside none. */
export const inference: Part = {
  name: 'inference',
  title: `Passing on streamed answers of ${eventsEach} events, in lockstep`,
  run: measure,
};
