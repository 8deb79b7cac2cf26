import type { Dialect } from '../core/foundations/wire/index.ts';
import type { Tag } from './operation.ts';

const texts: Readonly<Record<Tag, string>> = {
  calls: 'Traced executions of operations: reporting, reading, querying and deleting them.',
  statistics: 'Sums, means and percentiles of calls and their usage.',
  opentelemetry: 'Spans of programs that report by OpenTelemetry.',
  threads: 'Conversations, with statistics over their turns.',
  objects: 'Values with names and versions, and what refs lead to.',
  costs: "A project's own prices of models.",
  feedback: 'Feedback on calls, ops and objects.',
  inference: 'A pass-through for model requests.',
  projects: 'Whose key a request has, and the projects that it may read.',
  service: 'The service itself, without credentials.',
  weave: "What Weave's SDKs ask beside all this.",
};

/** The groups of operations, with what each is about. */
export const tagsIn = (dialect: Dialect) =>
  Object.entries(texts)
    .filter(([name]) => name !== 'weave' || dialect === 'weave')
    .map(([name, description]) => ({ name, description }));
