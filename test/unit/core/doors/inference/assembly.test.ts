import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AssembledAnswer,
  BodyAssembly,
  StreamAssembly,
} from '../../../../../core/doors/inference/assembly.ts';
import { chunk, event } from '../../../../support/service/upstream.ts';

const assembled = (pieces: readonly Uint8Array[]): AssembledAnswer => {
  const assembly = new StreamAssembly();
  for (const piece of pieces) assembly.add(piece);
  return assembly.end();
};
const toBytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));
const ofText = (text: string): AssembledAnswer => assembled([toBytes(text)]);

/** Cuts bytes at arbitrary places. */
const cut = (bytes: Uint8Array, places: readonly number[]): Uint8Array[] => {
  const at = [
    0,
    ...places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b),
    bytes.length,
  ];
  return at.slice(1).map((to, i) => bytes.subarray(at[i], to));
};
const places = fc.array(fc.nat(), { maxLength: 40 });

const text = fc.string({ unit: 'grapheme' });
const delta = fc.record(
  {
    content: text,
    reasoning_content: text,
    tool_calls: fc.array(fc.record({ index: fc.nat({ max: 2 }), function: fc.record({ arguments: text }) }), {
      maxLength: 2,
    }),
  },
  { requiredKeys: [] },
);
const line = fc.oneof(
  { weight: 6, arbitrary: delta.map((value) => event(chunk(value))) },
  fc.constantFrom(
    ': ping\n\n',
    'data: {"cut',
    '\n\n',
    'data: [DONE]\r\n\r\n',
    'event: x\rdata: {}\r\r',
    'data: nonsense\n\n',
  ),
);

describe('a stream of chat chunks', () => {
  it('is assembled the same wherever its bytes are split', () => {
    fc.assert(
      fc.property(fc.array(line), places, (lines, at) => {
        const bytes = toBytes(lines.join(''));
        expect(assembled(cut(bytes, at))).toEqual(assembled([bytes]));
      }),
    );
  });

  it('concatenates its pieces', () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1 }), (pieces) => {
        const { output } = ofText(pieces.map((content) => event(chunk({ content }))).join(''));
        expect(output).toMatchObject({ choices: [{ message: { content: pieces.join('') } }] });
      }),
    );
  });

  it('may consist of any bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array()), (pieces) => {
        expect(assembled(pieces)).toMatchObject({ truncated: false });
      }),
    );
  });

  it('may have any JSON in its events, and sets no prototype', () => {
    const hostile = [
      '{"choices":[{"index":0,"delta":{"__proto__":{"polluted":1}}}],"__proto__":{"polluted":1}}',
    ];
    const { output } = ofText(hostile.map((data) => `data: ${data}\n\n`).join(''));
    expect(output).toEqual({ choices: [{ index: 0, message: {} }] });
    expect({}).not.toHaveProperty('polluted');
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (values) => {
        ofText([event(chunk({})), ...values.map(event)].join(''));
      }),
    );
  });

  it('separates several choices, with their finish reasons and log probabilities', () => {
    const choice = (index: number, content: string, more: object = {}) => ({
      ...chunk({}),
      choices: [
        {
          index,
          delta: { content },
          logprobs: { content: [{ token: content }] },
          finish_reason: null,
          ...more,
        },
      ],
    });
    const data = [
      choice(1, 'B'),
      choice(0, 'A'),
      choice(1, 'b', { finish_reason: 'length' }),
      choice(0, 'a'),
    ];
    expect(ofText(data.map(event).join('')).output).toMatchObject({
      object: 'chat.completion',
      choices: [
        { index: 0, message: { content: 'Aa' }, logprobs: { content: [{ token: 'A' }, { token: 'a' }] } },
        { index: 1, message: { content: 'Bb' }, finish_reason: 'length' },
      ],
    });
  });

  it('keeps an error event', () => {
    const error = { message: 'overloaded', type: 'server_error' };
    expect(ofText(event(chunk({ content: 'x' })) + event({ error })).error).toEqual(error);
  });

  it.each([
    ['named by its event', 'event: error\ndata: {"message": "boom"}\n\n', { message: 'boom' }],
    ['that is no JSON', 'event: error\ndata: boom\n\n', 'boom'],
    ['of a choice', event({ choices: [{ delta: {}, error: { message: 'boom' } }] }), { message: 'boom' }],
    ['of one word', event({ error: 'boom' }), 'boom'],
    ['beside its message', event({ error: true, message: 'boom' }), { error: true, message: 'boom' }],
  ])('keeps an error %s', (_, text, error) => {
    expect(ofText(text).error).toEqual(error);
  });

  it.each([null, '', false, 0])('has no error where it says %j', (error) => {
    expect(ofText(event({ ...chunk({ content: 'x' }), error })).error).toBeUndefined();
  });

  it('may lack an empty line after its last event', () => {
    expect(ofText(event(chunk({ content: 'x' })).trimEnd()).output).toMatchObject({
      choices: [{ message: { content: 'x' } }],
    });
  });
});

describe('a stream of text completions', () => {
  it('is assembled', () => {
    const data = ['A', 'b'].map((text) => ({
      object: 'text_completion',
      model: 'm',
      choices: [{ index: 0, text, finish_reason: null }],
    }));
    expect(ofText(data.map(event).join('')).output).toEqual({
      object: 'text_completion',
      model: 'm',
      choices: [{ index: 0, text: 'Ab', finish_reason: null }],
    });
  });
});

describe('a stream of the Responses API', () => {
  const response = { id: 'resp', object: 'response', model: 'm', status: 'in_progress', output: [] };
  const begun = [
    { type: 'response.created', response },
    { type: 'response.output_item.done', output_index: 0, item: { type: 'reasoning', id: 'r' } },
    { type: 'response.output_text.delta', output_index: 1, delta: 'Hel' },
    { type: 'response.output_text.delta', output_index: 1, delta: 'lo' },
  ];

  it('is the response of its last event', () => {
    const whole = {
      ...response,
      status: 'completed',
      output: [{ type: 'message' }],
      usage: { input_tokens: 1 },
    };
    expect(
      ofText([...begun, { type: 'response.completed', response: whole }].map(event).join('')).output,
    ).toEqual(whole);
  });

  it('is what came before it broke off', () => {
    expect(ofText(begun.map(event).join('')).output).toMatchObject({
      status: 'in_progress',
      output: [
        { type: 'reasoning', id: 'r' },
        { type: 'message', content: [{ type: 'output_text', text: 'Hello' }] },
      ],
    });
  });

  it('has the error of a failed response', () => {
    const error = { code: 'server_error', message: 'no' };
    expect(ofText(event({ type: 'response.failed', response: { ...response, error } })).error).toEqual(error);
  });
});

describe('a stream of Messages', () => {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] };
  const delta = (index: number, fields: object) => ({ type: 'content_block_delta', index, delta: fields });
  const start = {
    type: 'message_start',
    message: { ...message, usage: { input_tokens: 9, output_tokens: 1 } },
  };
  const text = [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', citations: null } },
    delta(0, { type: 'text_delta', text: 'It is ' }),
    delta(0, { type: 'text_delta', text: 'sunny.' }),
    delta(0, { type: 'citations_delta', citation: { type: 'page_location', cited_text: 'sun' } }),
    { type: 'content_block_stop', index: 0 },
  ];
  const tool = [
    {
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 't', name: 'f', input: {} },
    },
    delta(1, { type: 'input_json_delta', partial_json: '{"n": 1.0, "t' }),
    delta(1, { type: 'input_json_delta', partial_json: 'own": "Köln"}' }),
    { type: 'content_block_stop', index: 1 },
  ];
  const ended = [
    {
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 20, input_tokens: null },
    },
    { type: 'message_stop' },
  ];
  const toStream = (events: readonly object[]) =>
    events.map((data) => `event: ${(data as { type: string }).type}\n${event(data)}`).join('');

  it('is the message that it would have been whole, wherever it is cut', () => {
    const bytes = toBytes(toStream([start, { type: 'ping' }, ...text, ...tool, ...ended]));
    fc.assert(
      fc.property(places, (at) => {
        const { output, truncated, error } = assembled(cut(bytes, at));
        expect({ truncated, error }).toEqual({ truncated: false, error: undefined });
        expect(JSON.parse(JSON.stringify(output))).toEqual({
          ...message,
          content: [
            {
              type: 'text',
              text: 'It is sunny.',
              citations: [{ type: 'page_location', cited_text: 'sun' }],
            },
            { type: 'tool_use', id: 't', name: 'f', input: { n: 1, town: 'Köln' } },
          ],
          stop_reason: 'tool_use',
          stop_sequence: null,
          usage: { input_tokens: 9, output_tokens: 20 },
        });
        expect(JSON.stringify(output)).toContain('"n":1.0');
      }),
    );
  });

  it('has thinking with its signature', () => {
    const block = {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'thinking', thinking: '', signature: '' },
    };
    const events = [
      start,
      block,
      delta(0, { type: 'thinking_delta', thinking: 'Hm' }),
      delta(0, { type: 'thinking_delta', thinking: '.' }),
      delta(0, { type: 'signature_delta', signature: 'sig' }),
    ];
    expect(ofText(toStream(events)).output).toMatchObject({
      content: [{ type: 'thinking', thinking: 'Hm.', signature: 'sig' }],
    });
  });

  it('is what came before it broke off, with arguments as far as they came, and its error', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    expect(ofText(toStream([start, ...text, ...tool.slice(0, 2), error]))).toMatchObject({
      output: { content: [{ text: 'It is sunny.' }, { name: 'f', input: '{"n": 1.0, "t' }] },
      error,
    });
  });

  it('has output from the first piece on, and not before', () => {
    const assembly = new StreamAssembly();
    assembly.add(toBytes(toStream([start, ...text.slice(0, 1)])));
    expect(assembly.hasOutput).toBe(false);
    assembly.add(toBytes(toStream(text.slice(1, 2))));
    expect(assembly.hasOutput).toBe(true);
  });

  it('does not fill the memory, and its usage is still read', () => {
    const assembly = new StreamAssembly();
    assembly.add(toBytes(toStream([start, ...text.slice(0, 1)])));
    const piece = toBytes(toStream([delta(0, { type: 'text_delta', text: 'x'.repeat(50_000) })]));
    for (let i = 0; i < 200; i++) assembly.add(piece);
    assembly.add(toBytes(toStream(ended)));
    const { output, truncated } = assembly.end();
    expect(truncated).toBe(true);
    expect(JSON.stringify(output).length).toBeLessThan(4.3 * 1024 * 1024);
    expect(output).toMatchObject({ usage: { input_tokens: 9, output_tokens: 20 }, stop_reason: 'tool_use' });
  });
});

describe('an endless answer', () => {
  it('does not fill the memory: its record is bounded, and the usage is still read', () => {
    const assembly = new StreamAssembly();
    const piece = toBytes(event(chunk({ content: 'x'.repeat(50_000) })));
    for (let i = 0; i < 200; i++) assembly.add(piece);
    assembly.add(toBytes(event({ ...chunk({}), choices: [], usage: { total_tokens: 7 } })));
    const { output, truncated } = assembly.end();
    expect(truncated).toBe(true);
    expect(JSON.stringify(output).length).toBeLessThan(4.3 * 1024 * 1024);
    expect(output).toMatchObject({ usage: { total_tokens: 7 } });
  });

  it('is bounded if one event never ends, and if it is not a stream', () => {
    const piece = toBytes('x'.repeat(1024 * 1024));
    for (const assembly of [new StreamAssembly(), new BodyAssembly()]) {
      assembly.add(toBytes('data: '));
      for (let i = 0; i < 20; i++) assembly.add(piece);
      expect(assembly.end()).toMatchObject({ output: null, truncated: true });
    }
  });
});

describe('an answer that is not a stream', () => {
  const whole = (text: string) => {
    const assembly = new BodyAssembly();
    for (const byte of toBytes(text)) assembly.add(new Uint8Array([byte]));
    return assembly.end().output;
  };

  it('is its JSON, its text or nothing', () => {
    expect(whole('{"a":"ü"}')).toEqual({ a: 'ü' });
    expect(whole('<html>')).toBe('<html>');
    expect(whole('')).toBeNull();
    expect(whole('null')).toBeNull();
  });
});
