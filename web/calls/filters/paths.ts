import { costPath, type Operator } from '../../navigation/search.ts';
import { parseScorePath, scoreText } from '../scores.ts';

/** What people filter by most, with the operator that they most likely mean. */
export const suggestions: readonly { path: string; text: string; op: Operator }[] = [
  { path: 'op_name', text: 'Operation', op: 'contains' },
  { path: 'display_name', text: 'Display name', op: 'contains' },
  { path: 'inputs.model', text: 'Model', op: 'contains' },
  { path: 'svc_user_id', text: 'User', op: 'is' },
  { path: 'attributes.user.id', text: 'End user', op: 'is' },
  { path: 'attributes.environment', text: 'Environment', op: 'is' },
  { path: 'attributes.release', text: 'Release', op: 'is' },
  { path: 'attributes.kind', text: 'Kind', op: 'is' },
  { path: 'attributes.tool.name', text: 'Tool', op: 'is' },
  { path: 'attributes.agent.name', text: 'Agent', op: 'is' },
  { path: 'attributes.agent.version', text: 'Agent version', op: 'is' },
  { path: 'attributes.prompt.name', text: 'Prompt', op: 'is' },
  { path: 'attributes.prompt.version', text: 'Prompt version', op: 'is' },
  { path: 'attributes.tags', text: 'Tags', op: 'contains' },
  { path: 'thread_id', text: 'Thread', op: 'is' },
  { path: 'summary.svc.latency_ms', text: 'Latency (ms)', op: 'above' },
  { path: 'summary.svc.waited_ms', text: 'Waited for a person (ms)', op: 'above' },
  { path: 'summary.svc.waiting', text: 'Waits for a person', op: 'is' },
  { path: costPath, text: 'Cost', op: 'above' },
  { path: 'exception', text: 'Exception', op: 'contains' },
  { path: 'inputs', text: 'Inputs', op: 'contains' },
  { path: 'output', text: 'Output', op: 'contains' },
  { path: 'attributes', text: 'Attributes', op: 'contains' },
];

/** The words for a path. */
export const pathText = (path: string): string => {
  const score = parseScorePath(path);
  return score
    ? scoreText(score)
    : (suggestions.find((suggestion) => suggestion.path === path)?.text ?? path);
};
