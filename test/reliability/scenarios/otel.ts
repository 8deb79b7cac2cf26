import { attributes, exportJson, spanJson } from '../../support/otel.ts';
import { callViews, forBucket, noise, type Scenario } from './scenario.ts';

const idOf = (i: number): string => (i + 1).toString(16).padStart(16, '0');

/** Spans of one trace and thread, below the first, whose payloads make a segment. */
const spans = (count: number, bytes: number) =>
  Array.from({ length: count }, (_, i) =>
    spanJson({
      spanId: idOf(i),
      ...(i > 0 && { parentSpanId: idOf(0) }),
      attributes: attributes({ text: noise(bytes, `${i}`), 'session.id': 'thread' }),
    }),
  );

/** The route of spans. */
export const otelScenarios: Readonly<Record<string, readonly Scenario[]>> = {
  '/otel/v1/traces': [
    {
      name: 'spans of two projects, one of them in the bucket',
      request: (p) => {
        const one = exportJson({ 'svc.project_id': p }, spans(30, 600));
        const other = exportJson({ 'svc.project_id': `${p}-2` }, spans(2, forBucket));
        const resourceSpans = [one, other].flatMap((each) => each.resourceSpans as object[]);
        return { path: '/otel/v1/traces', body: { resourceSpans } };
      },
      views: (p) => [...callViews(p), ...callViews(`${p}-2`)],
    },
  ],
};
