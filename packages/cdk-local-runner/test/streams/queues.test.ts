import { describe, expect, it } from 'vitest';
import { LocalQueue } from '../../src/streams/queues.ts';

/** The bodies of what is received, one message after another. */
const drain = (queue: LocalQueue): string[] => {
  const [message] = queue.receive(1, 60_000);
  return message ? [message.body, ...drain(queue)] : [];
};

describe('the local queue', () => {
  it('lets a group with much to do delay no other by more than a message', () => {
    const queue = new LocalQueue();
    for (let i = 0; i < 5; i++) queue.add(`a${i}`, 0, 'a');
    expect(queue.receive(1, 60_000)).toMatchObject([{ body: 'a0' }]);
    queue.add('b0', 0, 'b');
    queue.add('b1', 0, 'b');
    queue.add('c0', 0, 'c');
    expect(drain(queue)).toEqual(['b0', 'c0', 'a1', 'b1', 'a2', 'a3', 'a4']);
  });

  it('has messages without a group in their order', () => {
    const queue = new LocalQueue();
    for (const body of ['1', '2', '3']) queue.add(body, 0);
    expect(drain(queue)).toEqual(['1', '2', '3']);
  });
});
