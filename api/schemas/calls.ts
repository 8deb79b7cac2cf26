import * as z from 'zod/mini';
import type { WireNames } from '../../core/foundations/wire/index.ts';
import { optionalNameIn } from '../../core/foundations/wire/lenient.ts';
import { documentedList, id, namedFields, nullish, projectId } from '../../core/foundations/wire/schema.ts';
import type { CallReport } from '../../core/records/calls/model.ts';
import { endSchema, startSchema } from './call-records.ts';

/** The body of `/call/start`: `{start: {…}}`. */
export const callStartBody = (names: WireNames) => z.strictObject({ start: startSchema(names) });

/** The body of `/call/end`: `{end: {…}}`. */
export const callEndBody = (names: WireNames) => z.strictObject({ end: endSchema(names) });

/** The body of `/call/upsert_batch`: `{batch: [{mode, req}]}`. */
export const callBatchBody = (names: WireNames) => {
  const start = z.pipe(
    z.strictObject({ mode: z.literal('start'), req: callStartBody(names) }),
    z.transform(({ req }): CallReport => ({ kind: 'start', start: req.start })),
  );
  const end = z.pipe(
    z.strictObject({ mode: z.literal('end'), req: callEndBody(names) }),
    z.transform(({ req }): CallReport => ({ kind: 'end', end: req.end })),
  );
  return z.strictObject({
    batch: z.array(z.discriminatedUnion('mode', [start, end], { error: 'should be "start" or "end"' })),
  });
};

/** The body of `/call/update`: `{project_id, call_id, display_name}`. A null removes the name. */
export const callUpdateBody = (names: WireNames) =>
  z.strictObject({
    project_id: projectId,
    call_id: id,
    display_name: optionalNameIn(names),
    ...(names.dialect === 'weave' && namedFields({ [names.userId]: nullish(z.string()) })),
  });

const maxIds = 1000;

/** The body of `/calls/delete`: `{project_id, call_ids}`. */
export const callsDeleteBody = z.strictObject({
  project_id: projectId,
  call_ids: documentedList(
    z.array(id).check(
      z.refine((ids) => ids.length <= maxIds, {
        error: `should be at most ${maxIds} ids; send the rest in further requests`,
        params: { type: 'too_long' },
      }),
    ),
    maxIds,
  ),
});
