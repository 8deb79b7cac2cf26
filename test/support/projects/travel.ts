import { createRandom, type DemoCall, toUsage } from '../../../examples/shop/conversations.ts';

/*
 * Two days of a travel agency's agents, with what went wrong in them: tests ask for it, and know the answers.
 */

export const travel = 'acme/travel';

const minuteMs = 60_000;

/** What is wrong in these days, as the calls have it. */
export const planted = {
  tool: 'flights.book',
  cause: 'SeatLockExpired',
  affected: 'marta',
  dearest: 'trip-dear',
  invented: 'Your gate is B12.',
  gate: 'A4',
  rule: 'Refunds are possible only before departure.',
  disliked: 'Please answer in my language.',
  coupon: 'Use the voucher SUN-44 before Friday.',
  waited: 2_700_000,
} as const;

const op = (name: string, version: string): string => `svc:///${travel}/op/${name}:${version}`;

const releases = [
  { release: '1.4.0', prompt: '3', system: 'You help travelers. Refunds are possible within 24 hours.' },
  { release: '1.5.0', prompt: '4', system: `You help travelers. ${planted.rule}` },
] as const;

type Release = (typeof releases)[number];

/** What one conversation is about. */
interface Trip {
  readonly thread: string;
  readonly user: string;
  readonly release: Release;
  readonly asked: string;
  readonly answered: string;
  /** What the tool of booking fails with. @default - it does not */
  readonly fails?: string;
  /** What the look-up of the customer fails with. @default - it does not */
  readonly crmFails?: string;
  /** The characters of the fares that each of the later requests repeats. @default - a few */
  readonly fares?: number;
  readonly turns?: number;
  /** Whether a person approves. @default false */
  readonly approved?: boolean;
}

const text = (length: number): string => 'LIS-OSL 129 EUR; '.repeat(Math.ceil(length / 17)).slice(0, length);

class Teller {
  readonly calls: DemoCall[] = [];
  readonly #random = createRandom(11);
  #number = 0;

  #add(call: Omit<DemoCall, 'id'>): string {
    const id = `c${String(++this.#number).padStart(4, '0')}`;
    this.calls.push({ id, ...call });
    return id;
  }

  tell(trip: Trip, began: number): void {
    const { thread, user, release, turns = 1 } = trip;
    const said: object[] = [{ role: 'system', content: release.system }];
    for (let turn = 0; turn < turns; turn++) {
      const start = began + turn * 3 * minuteMs;
      const trace = `t-${thread}-${turn}`;
      const place = { trace, thread, turn: `c${String(this.#number + 1).padStart(4, '0')}` };
      const about = { release: release.release, environment: 'production', user: { id: user } };
      const root = this.#add({
        ...place,
        parent: null,
        op: op('handle_request', release.release === '1.4.0' ? 'a1' : 'b2'),
        start,
        ms: 9000 + Math.round(this.#random() * 3000) + (trip.approved ? planted.waited : 0),
        attributes: { ...about, kind: 'workflow' },
        inputs: { message: trip.asked },
        ...(trip.fails ? { exception: `${trip.fails}` } : { output: trip.answered }),
      });
      const triage = this.#agent('triage', root, place, about, start + 10, 1500, trip);
      const customer = { ...place, parent: triage, start: start + 900, inputs: { user } };
      this.#add({
        ...customer,
        op: 'execute_tool crm_lookup',
        ms: trip.crmFails ? 5000 : 300 + Math.round(this.#random() * 200),
        attributes: { ...about, kind: 'tool', tool: { name: 'crm.lookup' } },
        ...(trip.crmFails ? { exception: trip.crmFails } : { output: { tier: 'gold', gate: planted.gate } }),
      });
      const booking = this.#agent('booking', root, place, about, start + 2000, 7000, trip);
      said.push({ role: 'user', content: trip.asked });
      this.#add({
        ...place,
        parent: booking,
        op: 'execute_tool search',
        start: start + 2300,
        ms: 800,
        attributes: { ...about, kind: 'tool', tool: { name: 'flights.search' } },
        inputs: { from: 'LIS', to: 'OSL' },
        output: { fares: text(trip.fares ?? 200) },
      });
      said.push({ role: 'tool', content: text(trip.fares ?? 200) });
      const inputs = { model: 'gpt-4o', messages: [...said] };
      this.#add({
        ...place,
        parent: booking,
        op: 'openai.chat',
        start: start + 3200,
        ms: 2100,
        attributes: { ...about, kind: 'model', prompt: { name: 'booking', version: release.prompt } },
        inputs,
        output: { choices: [{ message: { role: 'assistant', content: trip.answered } }] },
        summary: toUsage('gpt-4o', JSON.stringify(inputs).length >> 2, 60),
      });
      said.push({ role: 'assistant', content: trip.answered });
      this.#add({
        ...place,
        parent: booking,
        op: 'execute_tool book',
        start: start + 5400,
        ms: trip.fails ? 30_000 : 600,
        attributes: { ...about, kind: 'tool', tool: { name: planted.tool }, seat: this.#number % 40 },
        inputs: { fare: 'LIS-OSL', traveler: user },
        ...(trip.fails ? { exception: trip.fails } : { output: { locator: `X${this.#number}` } }),
      });
      if (trip.approved)
        this.#add({
          ...place,
          parent: booking,
          op: 'approve_refund',
          start: start + 6100,
          ms: planted.waited + 40,
          attributes: { ...about, kind: 'tool' },
          inputs: { amount: 129 },
          output: 'approved',
          summary: { waited_ms: planted.waited },
        });
    }
  }

  #agent(
    name: string,
    parent: string,
    place: Pick<DemoCall, 'trace' | 'thread' | 'turn'>,
    about: object,
    start: number,
    ms: number,
    trip: Trip,
  ): string {
    const model = name === 'triage' ? 'gpt-4o-mini' : null;
    const id = this.#add({
      ...place,
      parent,
      op: `invoke_agent ${name}`,
      start,
      ms,
      attributes: { ...about, kind: 'agent', agent: { name, version: trip.release.release } },
      inputs: { task: trip.asked },
      ...(trip.fails && name === 'booking' ? { exception: trip.fails } : { output: trip.answered }),
    });
    if (model)
      this.#add({
        ...place,
        parent: id,
        op: 'openai.chat',
        start: start + 100,
        ms: 700,
        attributes: { ...about, kind: 'model', prompt: { name: 'triage', version: '1' } },
        inputs: { model, messages: [{ role: 'user', content: trip.asked }] },
        output: { choices: [{ message: { role: 'assistant', content: 'booking' } }] },
        summary: toUsage(model, 180, 4),
      });
    return id;
  }
}

const users = ['marta', 'liam', 'yuki', 'omar', 'zoe'] as const;

/** The conversations, the oldest first. */
const trips = (): Trip[] => {
  const common = Array.from({ length: 40 }, (_, i): Trip => {
    const release = releases[i < 20 ? 0 : 1];
    // Since the newer release seats are lost, most of them marta's.
    const isLost = i >= 20 && i % 2 === 0;
    const user = isLost && i % 3 !== 0 ? planted.affected : (users[i % users.length] ?? 'liam');
    return {
      thread: `trip-${i}`,
      user,
      release,
      asked: `Please book the flight to Oslo on day ${i + 1}.`,
      answered: `Booked for day ${i + 1}.`,
      ...(isLost && { fails: `${planted.cause}: seat lock ${7000 + i} expired after 30 s` }),
      ...(i % 13 === 5 && { crmFails: `TimeoutError: crm did not answer in 5 s (request ${i})` }),
    };
  });
  const asked = 'Can I get a refund for TX-881?';
  const special: Trip[] = [
    { thread: 'refund-old', user: 'liam', release: releases[0], asked, answered: 'Yes, within 24 hours.' },
    {
      thread: 'refund-new',
      user: 'zoe',
      release: releases[1],
      asked,
      answered: 'No, your flight has left.',
      approved: true,
    },
    { thread: 'gate', user: 'yuki', release: releases[1], asked: 'Which gate?', answered: planted.invented },
    {
      thread: 'german',
      user: 'omar',
      release: releases[1],
      asked: 'Wann fliege ich?',
      answered: 'You fly at 9.',
    },
    {
      thread: 'coupon',
      user: 'zoe',
      release: releases[1],
      asked: 'Any offers?',
      answered: `Yes. ${planted.coupon} Enjoy.`,
    },
    {
      thread: planted.dearest,
      user: 'omar',
      release: releases[1],
      asked: 'Compare more fares.',
      answered: 'Here they are.',
      fares: 40_000,
      turns: 5,
    },
  ];
  return [...common, ...special];
};

/** The calls of two days before a time, in ms since 1970. */
export const travelCalls = (now: number): DemoCall[] => {
  const teller = new Teller();
  const all = trips();
  const step = (44 * 60 * minuteMs) / all.length;
  for (const [i, trip] of all.entries()) teller.tell(trip, Math.round(now - 46 * 60 * minuteMs + i * step));
  return teller.calls;
};

/** What an evaluator and people say of the answers. */
export const travelFeedback = (calls: readonly DemoCall[]): object[] => {
  const on = ({ id }: DemoCall, feedback_type: string, payload: object) => ({
    project_id: travel,
    svc_ref: `svc:///${travel}/call/${id}`,
    feedback_type,
    payload,
  });
  const answers = calls.filter(({ attributes }) =>
    JSON.stringify(attributes).includes('"booking","version":"'),
  );
  const verdicts = answers
    .filter(({ op }) => op === 'openai.chat')
    .map((call) =>
      call.thread === 'gate'
        ? on(call, 'evaluation.grounded', {
            value: false,
            reason: `The gate that crm.lookup gave is ${planted.gate}.`,
          })
        : on(call, 'evaluation.grounded', { value: true, reason: 'It repeats what tools gave.' }),
    );
  const roots = calls.filter(({ parent }) => parent === null);
  const thumbs = roots.flatMap((call, i) => {
    if (call.thread === 'german') return [on(call, 'thumbs', { up: false, note: planted.disliked })];
    return i % 7 === 0 ? [on(call, 'thumbs', { up: true })] : [];
  });
  return [...verdicts, ...thumbs];
};
