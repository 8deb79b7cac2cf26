import { beforeAll, describe, expect, it } from 'vitest';
import { captureNames, readCapture } from '../../../support/captures.ts';
import { type SharedService, sharedService } from '../../../support/service.ts';
import { bearer } from '../../security/credentials.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

interface Call {
  readonly op_name: string;
  readonly thread_id: string | null;
  readonly exception: string | null;
  readonly attributes: { readonly kind: string };
  readonly summary: { readonly usage?: Readonly<Record<string, Readonly<Record<string, number>>>> };
}

/** Sends a capture's requests as its exporter did, but for the project. */
const send = async (name: string, project: string): Promise<void> => {
  for (const { body, headers } of readCapture(name).requests) {
    const { 'user-agent': _, ...sent } = headers;
    const answer = await fetch(`${service.url}/otel/v1/traces`, {
      method: 'POST',
      headers: { ...sent, authorization: bearer(service.key), project_id: project },
      body: new Uint8Array(body),
    });
    expect([answer.status, (await answer.bytes()).length <= 3]).toEqual([200, true]);
  }
};

const callsOf = async (project: string): Promise<Call[]> => {
  const answer = await service.post('/calls/stream_query', { project_id: project });
  return (await answer.text())
    .trim()
    .split('\n')
    .map((line): Call => JSON.parse(line));
};

const tokens = (calls: readonly Call[], name: string): number =>
  calls
    .flatMap(({ summary }) => Object.values(summary.usage ?? {}))
    .reduce((sum, usage) => sum + (usage[name] ?? 0), 0);

describe.each(captureNames)('the export of %s', (name) => {
  it('is stored with its operations, their conversations, errors and tokens', async () => {
    const project = `acme/${name}`;
    await send(name, project);
    const calls = await callsOf(project);
    const { expected } = readCapture(name);
    for (const { kind, name_contains, error_contains, conversation_id } of expected) {
      const found = calls.filter(
        ({ op_name, attributes, exception, thread_id }) =>
          op_name.includes(name_contains) &&
          attributes.kind === kind &&
          (error_contains === undefined ? exception === null : exception?.includes(error_contains)) &&
          // A conversation that only a span elsewhere names reaches it if that is above it.
          (conversation_id === undefined || thread_id === conversation_id || thread_id === null),
      );
      expect([kind, name_contains, found.length > 0]).toEqual([kind, name_contains, true]);
    }
    const wanted = (field: 'prompt_tokens' | 'completion_tokens'): number =>
      expected.reduce((sum, operation) => sum + (operation[field] ?? 0), 0);
    expect([tokens(calls, 'input_tokens'), tokens(calls, 'output_tokens')]).toEqual([
      wanted('prompt_tokens'),
      wanted('completion_tokens'),
    ]);
  });
});
