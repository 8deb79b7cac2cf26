import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { awslambda, isStreaming, ResponseStream } from '../../src/runtime/response-stream.ts';

const recorded = () => {
  const sent: string[] = [];
  return { sent, stream: new ResponseStream((bytes) => sent.push(Buffer.from(bytes).toString())) };
};

describe('the stream of a handler', () => {
  it('starts with the metadata and eight NULs, once, before the first write', () => {
    const { sent, stream } = recorded();
    awslambda.HttpResponseStream.from(stream, { statusCode: 200 });
    expect(sent).toEqual([]);
    stream.write('a');
    stream.write('b');
    expect(sent.join('')).toBe(`{"statusCode":200}${'\0'.repeat(8)}ab`);
  });

  it('sends its metadata with an empty write', () => {
    const { sent, stream } = recorded();
    awslambda.HttpResponseStream.from(stream, { statusCode: 204 });
    stream.write('');
    expect(sent.join('')).toBe(`{"statusCode":204}${'\0'.repeat(8)}`);
  });

  it('writes objects as JSON', () => {
    const { sent, stream } = recorded();
    stream.write({ a: 1 });
    expect(sent).toEqual(['{"a":1}']);
  });

  it('sends writes at once until its reader is 64 KiB behind', () => {
    const { sent, stream } = recorded();
    const kibibytes = 'x'.repeat(32 * 1024);
    for (let i = 0; i < 4; i += 1) stream.write(kibibytes);
    expect(sent).toHaveLength(2);
  });

  it('sends everything that is pending once its reader catches up', () => {
    const { sent, stream } = recorded();
    for (const piece of ['x'.repeat(64 * 1024), 'a', 'b']) stream.write(piece);
    stream.taken(64 * 1024);
    expect(sent.slice(1)).toEqual(['ab']);
  });

  it('tells its writer to wait and when to go on', async () => {
    const { stream } = recorded();
    expect(stream.write(Buffer.alloc(1e6))).toBe(false);
    const drained = once(stream, 'drain');
    stream.taken(1e6);
    await drained;
    expect(stream.writableNeedDrain).toBe(false);
  });

  it('refuses a content type after its start', () => {
    const { stream } = recorded();
    stream.setContentType('text/plain');
    stream.write('a');
    expect(() => stream.setContentType('text/html')).toThrow('too late');
  });

  it('does not end the process when it is destroyed without a listener', async () => {
    const { stream } = recorded();
    stream.destroy(new Error('gone'));
    // An error that nobody listens for would be thrown before the stream closes.
    await new Promise((resolve) => stream.on('close', resolve));
    expect(stream.errored).toEqual(new Error('gone'));
  });
});

it('A handler streams if it was made to', () => {
  expect(isStreaming(awslambda.streamifyResponse(async () => {}))).toBe(true);
  expect(isStreaming(async () => {})).toBe(false);
});
