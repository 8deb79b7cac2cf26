import { describe, expect, it } from 'vitest';
import { parseMessage } from '../../../../api/shared/conversation.ts';
import { fileName, filesIn, sizeOf, soundOf, toFile } from '../../../../api/shared/files.ts';
import { parseExchange } from '../../../../web/calls/messages/exchange.ts';

const wav = Buffer.from('RIFF\u0000\u0000\u0000\u0000WAVEfmt ').toString('base64');
const pdf = Buffer.from('%PDF-1.7 and so on').toString('base64');

const inCall = (type: string | undefined, base64: string, more: object = {}) => ({
  type,
  source: { in: 'call', base64 },
  ...more,
});
const atUrl = (type: string | undefined, url: string, more: object = {}) => ({
  type,
  source: { in: 'url', url },
  ...more,
});

describe('a file', () => {
  it.each<[string, object, object]>([
    [
      'OpenAI’s sound',
      { type: 'input_audio', input_audio: { data: wav, format: 'wav' } },
      inCall('audio/wav', wav),
    ],
    [
      'OpenAI’s file',
      { type: 'file', file: { filename: 'terms.pdf', file_data: `data:application/pdf;base64,${pdf}` } },
      inCall('application/pdf', pdf, { name: 'terms.pdf' }),
    ],
    [
      'OpenAI’s file by its id',
      { type: 'file', file: { file_id: 'file-1' } },
      { type: undefined, source: { in: 'nowhere', id: 'file-1' } },
    ],
    [
      'the file of OpenAI’s responses',
      { type: 'input_file', filename: 'a.csv', file_url: 'https://example.com/a.csv' },
      atUrl('text/csv', 'https://example.com/a.csv', { name: 'a.csv' }),
    ],
    [
      'Anthropic’s document',
      {
        type: 'document',
        title: 'Terms',
        source: { type: 'base64', media_type: 'application/pdf', data: pdf },
      },
      inCall('application/pdf', pdf, { name: 'Terms' }),
    ],
    [
      'Anthropic’s text',
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Hello' } },
      { type: 'text/plain', source: { in: 'text', text: 'Hello' } },
    ],
    [
      'Gemini’s inline data',
      { inline_data: { mime_type: 'audio/mp3', data: 'SUQz' } },
      inCall('audio/mp3', 'SUQz'),
    ],
    [
      'Gemini’s file',
      { fileData: { mimeType: 'video/mp4', fileUri: 'gs://bucket/a.mp4' } },
      atUrl('video/mp4', 'gs://bucket/a.mp4'),
    ],
    [
      'Bedrock’s document',
      { document: { format: 'pdf', name: 'terms', source: { bytes: pdf } } },
      inCall('application/pdf', pdf, { name: 'terms' }),
    ],
    [
      'the AI SDK’s file',
      { type: 'file', mediaType: 'application/pdf', data: pdf, filename: 't.pdf' },
      inCall('application/pdf', pdf, { name: 't.pdf' }),
    ],
    ['LangChain’s sound', { type: 'audio', mime_type: 'audio/wav', base64: wav }, inCall('audio/wav', wav)],
    [
      'OpenTelemetry’s blob',
      { type: 'blob', modality: 'audio', mime_type: 'audio/wav', content: wav },
      inCall('audio/wav', wav),
    ],
    [
      'Weave’s Content',
      {
        _type: 'CustomWeaveType',
        weave_type: { type: 'weave.type_wrappers.Content.content.Content' },
        files: { content: 'd1', 'metadata.json': 'd2' },
      },
      { type: undefined, source: { in: 'files', digest: 'd1', about: 'd2' } },
    ],
    [
      'Weave’s image',
      { _type: 'CustomWeaveType', weave_type: { type: 'PIL.Image.Image' }, files: { 'image.png': 'd1' } },
      { type: 'image/png', name: 'image.png', source: { in: 'files', digest: 'd1' } },
    ],
    ['bytes that tell what they are', { type: 'file', data: pdf }, inCall('application/pdf', pdf)],
  ])('is %s', (_, part, file) => {
    expect(toFile(part)).toEqual(file);
  });

  it.each([
    ['a text', 'data'],
    ['a tool’s arguments', { document: 'terms', format: 'pdf' }],
    ['an op of Weave', { _type: 'CustomWeaveType', weave_type: { type: 'Op' }, files: { 'obj.py': 'd' } }],
    ['an empty part', { type: 'file' }],
    ['a list', [{ type: 'file', data: pdf }]],
  ])('is not %s', (_, value) => {
    expect(toFile(value)).toBeUndefined();
  });

  it('is found among the fields of a value', () => {
    const value = {
      question: 'What is it?',
      sound: { type: 'audio', data: wav },
      url: `data:audio/wav;base64,${wav}`,
    };
    expect(filesIn(value)).toEqual([inCall('audio/wav', wav), inCall('audio/wav', wav)]);
  });

  it('has a size, and a name that leads nowhere', () => {
    expect(
      sizeOf({ type: undefined, source: { in: 'call', base64: Buffer.alloc(10).toString('base64') } }),
    ).toBe(10);
    expect(sizeOf({ type: undefined, source: { in: 'url', url: 'https://x' } })).toBeUndefined();
    expect(fileName({ type: 'application/pdf', name: '../../etc/pass"wd' })).toBe('pass_wd.pdf');
    expect(fileName({ type: 'audio/mpeg' })).toBe('file.mp3');
    expect(fileName({ type: undefined, name: 'C:\\a\\b.txt' })).toBe('b.txt');
  });
});

describe('messages', () => {
  it('have files and the sound of answers as parts, and images as images', () => {
    const message = {
      role: 'assistant',
      content: [{ type: 'text', text: 'Hear.' }],
      audio: { id: 'a1', data: wav, transcript: 'Hello there' },
    };
    const sound = inCall('audio/wav', wav, { transcript: 'Hello there' });
    expect(soundOf(message)).toEqual(sound);
    expect(parseMessage(message).parts).toEqual([
      { kind: 'text', text: 'Hear.' },
      { kind: 'file', file: sound },
    ]);
    const inline = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo' } };
    expect(parseMessage({ role: 'user', parts: [inline] }).parts).toEqual([
      { kind: 'image', url: 'data:image/png;base64,iVBORw0KGgo' },
    ]);
  });

  it('of a turn have the files beside its text', () => {
    const sound = { type: 'audio', data: wav };
    const { asked, answered } = parseExchange({ inputs: { question: 'What?', sound }, output: sound });
    const file = { kind: 'file', file: inCall('audio/wav', wav) };
    expect(asked).toEqual([{ role: 'user', parts: [{ kind: 'text', text: 'What?' }, file] }]);
    expect(answered).toEqual([{ role: 'assistant', parts: [file] }]);
  });
});
