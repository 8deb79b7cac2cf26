import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { decodeExport } from '../../../core/doors/otel/index.ts';
import type { Span } from '../../../core/doors/otel/span.ts';

const folder = resolve(import.meta.dirname, '../../otel/captures');

/** One operation of a recorded program, as a person wants to see it. */
export interface Expected {
  readonly kind: string;
  readonly name_contains: string;
  readonly model?: string;
  readonly response_model?: string;
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly input_contains?: readonly string[];
  readonly output_contains?: readonly string[];
  readonly input_contains_on_enclosing_span?: readonly string[];
  readonly output_contains_on_enclosing_span?: readonly string[];
  readonly error_contains?: string;
  /** The index of the operation around it, perhaps with spans between that are not listed. */
  readonly parent: number | null;
  readonly conversation_id?: string;
  readonly conversation_id_on?: 'ancestor' | 'trace';
  readonly user_id?: string;
  readonly user_id_on?: 'ancestor' | 'trace';
  readonly prompt?: { readonly name: string; readonly version?: string };
}

/** A recorded export: what was sent, and what it should say. */
export interface Capture {
  readonly name: string;
  /** The bodies as sent, in order. */
  readonly requests: readonly { readonly body: Buffer; readonly headers: Readonly<Record<string, string>> }[];
  /** In the order in which the operations happened. */
  readonly expected: readonly Expected[];
}

const json = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

/** Reads a capture's folder. */
export const readCapture = (name: string): Capture => {
  const path = join(folder, name);
  const bodies = readdirSync(path).filter((file) => /^\d+\.bin$/.test(file));
  return {
    name,
    requests: bodies.sort().map((file) => ({
      body: readFileSync(join(path, file)),
      headers: (json(join(path, file.replace('.bin', '.json'))) as { headers: Record<string, string> })
        .headers,
    })),
    expected: json(join(path, 'expect.json')) as Expected[],
  };
};

/** The names of all captures. */
export const captureNames: readonly string[] = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** All spans of a capture, decoded as the service decodes them. */
export const readSpans = async ({ requests }: Capture): Promise<Span[]> => {
  const spans: Span[] = [];
  for (const { body, headers } of requests) {
    const type = headers['content-type']?.includes('json') ? 'application/json' : 'application/x-protobuf';
    const decoded = await decodeExport(body, type, headers['content-encoding'] ?? '');
    spans.push(...decoded.spans.map(({ span }) => span));
  }
  return spans;
};
