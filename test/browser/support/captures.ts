import { expect } from 'vitest';
import { readAgentCapture } from '../../support/otel/agent-captures.ts';
import { key, url } from './visit.ts';

/* What programs with agents exported, as it was recorded. */

const authorization = `Basic ${Buffer.from(`api:${key}`).toString('base64')}`;

/**
 * Sends a recorded program.
 *
 * @param project where it goes: one of its own, if its trace is of interest
 * @returns the trace with the most calls
 */
export const sendCapture = async (name: string, project: string): Promise<string> => {
  for (const { path, body, headers } of readAgentCapture(name).requests) {
    const { 'content-type': type = '', 'content-encoding': encoding } = headers;
    const answer = await fetch(`${url}/otel${path}`, {
      method: 'POST',
      headers: {
        'content-type': type,
        ...(encoding && { 'content-encoding': encoding }),
        authorization,
        project_id: project,
      },
      body: new Uint8Array(body),
    });
    expect(answer.status).toBe(200);
  }
  const answer = await fetch(`${url}/calls/stream_query`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ project_id: project, columns: ['parent_id'] }),
  });
  const lines = (await answer.text()).split('\n').filter(Boolean);
  const traces = Map.groupBy(lines, (line) => (JSON.parse(line) as { trace_id: string }).trace_id);
  const [largest] = [...traces].sort(([, a], [, b]) => b.length - a.length);
  return largest?.[0] ?? expect.unreachable('no calls');
};
