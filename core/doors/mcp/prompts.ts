/** A prompt that a client offers to its user. */
interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly {
    readonly name: string;
    readonly description: string;
    readonly required?: boolean;
  }[];
  readonly text: (given: Readonly<Record<string, string>>) => string;
}

const project = { name: 'project_id', description: 'The project, <entity>/<project>.', required: true };

const whyFailed: Prompt = {
  name: 'why_did_this_fail',
  title: 'Why did this fail?',
  description: 'Finds the cause of a failed trace, and a fix.',
  arguments: [project, { name: 'trace_id', description: 'The trace (default: the newest failed one).' }],
  text: ({ project_id, trace_id }) =>
    [
      `Find out why ${trace_id ? `the trace ${trace_id}` : 'the newest failed trace'} of the project ${project_id} failed.`,
      trace_id
        ? `1. get_trace with trace_id ${trace_id} shows the tree. Find the first call that failed.`
        : '1. query_calls with trace_roots_only and the status error or descendant_error finds it; get_trace shows its tree.',
      '2. get_call reads the failed call: its exception and its inputs. Read the call before it as well: bad arguments often come from there.',
      '3. query_calls with the same op_name shows whether it always fails, or since when.',
      'Then say what failed, why, with what evidence (ids and links), and which change of prompt, tool or code would fix it. If the evidence is not sufficient, say so.',
    ].join('\n'),
};

const dearerSince: Prompt = {
  name: 'what_became_dearer',
  title: 'What got more expensive since?',
  description: 'Compares costs before and after a time, and finds what drives the difference.',
  arguments: [project, { name: 'since', description: 'The time: -7d, or ISO 8601.', required: true }],
  text: ({ project_id, since }) =>
    [
      `Find out what got more expensive in the project ${project_id} since ${since}.`,
      `1. get_stats from ${since} until now, and once more for as long before it, with usage_metrics total_cost, input_tokens and output_tokens, and call_metrics call_count, grouped by op_name.`,
      '2. Find out what grew: the number of calls, the tokens per call, or the price of the model.',
      '3. query_calls sorted by summary.usage or with columns inputs.model finds typical calls before and after; compare_calls shows the differences.',
      'Then say what costs more, by how much per call and in total, why, and how to reverse it. Name ids and links.',
    ].join('\n'),
};

/** Every prompt, by its name. */
export const promptsByName: ReadonlyMap<string, Prompt> = new Map(
  [whyFailed, dearerSince].map((prompt) => [prompt.name, prompt]),
);
