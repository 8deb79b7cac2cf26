import { addFeedback } from './add-feedback.ts';
import { addToDataset } from './add-to-dataset.ts';
import { compareCalls } from './compare-calls.ts';
import type { Tool } from './context.ts';
import { describeProject } from './describe-project.ts';
import { findIssues } from './find-issues.ts';
import { getAgents } from './get-agents.ts';
import { getCall } from './get-call.ts';
import { getStats } from './get-stats.ts';
import { getThread } from './get-thread.ts';
import { getTrace } from './get-trace.ts';
import { listProjects } from './list-projects.ts';
import { queryCalls } from './query-calls.ts';
import { getPrompt, listPrompts, savePrompt, setPromptLabel } from './saved-prompts.ts';
import { searchText } from './search-text.ts';

const all: readonly Tool[] = [
  listProjects,
  describeProject,
  queryCalls,
  getTrace,
  getCall,
  getThread,
  getStats,
  getAgents,
  searchText,
  findIssues,
  compareCalls,
  listPrompts,
  getPrompt,
  addFeedback,
  addToDataset,
  savePrompt,
  setPromptLabel,
];

/** Every tool, by its name. */
export const toolsByName: ReadonlyMap<string, Tool> = new Map(all.map((tool) => [tool.name, tool]));
