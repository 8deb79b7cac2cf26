import type { StoredRequest } from '../exchange.ts';
import { noise } from '../noise.ts';
import { longId, model, project, root, running, sentences, thread } from './names.ts';
import { batch, deletion, end, endAlone, start, startAlone } from './reports.ts';

/** Reports, renames and deletes those calls again. */
export const callRewrites: readonly StoredRequest[] = [
  startAlone('the child that ran on starts again', {
    ...thread,
    id: running,
    parent_id: root,
    inputs: { again: true },
  }),
  startAlone('the start of the end that was alone', { id: 'end-alone', trace_id: 'found' }),
  startAlone('a start with other inputs, its end inline', { id: 'inline', inputs: { q: 3 } }),
  endAlone('another end of the model call', { id: model, output: 'short', summary: { usage: null } }),
  endAlone('a third end', { id: 'ended-again', output: 'third' }),
  batch('the end of a call that ran', end({ id: 'neighbour', output: sentences }), end({ id: 'shared' })),
  batch(
    'the same call as before',
    start({ id: 'table-b', trace_id: 'large', inputs: { noise: noise('table-b') } }),
  ),
  batch(
    'a call in another trace at another time',
    start({ id: longId, trace_id: 'moved', started_at: '2026-11-01' }),
  ),
  {
    name: 'no display name any more',
    path: '/call/update',
    body: { project_id: project, call_id: root, display_name: null },
  },
  {
    name: 'a display name of a call whose end is apart',
    path: '/call/update',
    body: { project_id: project, call_id: 'early', display_name: 'Early' },
  },
  deletion(
    'the deletion that died, a call of the bucket and one of a segment',
    'half-gone',
    'bucket',
    'table-a',
  ),
  deletion('a thread of usages', 'usage-none', 'no-such-call'),
];
