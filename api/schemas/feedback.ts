import * as z from 'zod/mini';
import { optionalQuery, pathSchema, sortSchema } from '../../core/foundations/expression/index.ts';
import { isId, parseRef, type Ref, type WireNames } from '../../core/foundations/wire/index.ts';
import { purgeByIds } from '../../core/foundations/wire/purge.ts';
import {
  controls,
  count,
  displayText,
  documented,
  documentedList,
  fieldOf,
  freeObject,
  id,
  namedFields,
  nullish,
  projectId,
  projectIdPattern,
} from '../../core/foundations/wire/schema.ts';
import { feedbackKind } from '../../core/records/feedback/answer.ts';
import type { FeedbackDraft } from '../../core/records/feedback/model.ts';
import type { FeedbackQuery } from '../../core/records/feedback/query.ts';

const maxRef = 2048;
const printable = /^[^\p{Cc}\p{Cs}]*$/u;

const examples: Readonly<Record<Ref['kind'], string>> = {
  object: 'acme/shop/object/<name>:<digest>',
  op: 'acme/shop/op/<name>:<digest>',
  call: 'acme/shop/call/<call id>',
};

const character = `[^${controls}]`;
const nameCharacter = `[^/:${controls}]`;
const named = `${nameCharacter}+:${nameCharacter}+`;
/** The patterns of refs, for the OpenAPI document. */
const patterns: Readonly<Record<Ref['kind'], string>> = {
  object: `object/${named}(?:/${character}+)?`,
  op: `op/${named}`,
  call: `call/${character}{1,256}`,
};

const isRefTo = (names: WireNames, kinds: readonly Ref['kind'][], text: string): boolean => {
  if (text.length > maxRef || !printable.test(text)) return false;
  const ref = parseRef(names, text);
  return ref !== undefined && kinds.includes(ref.kind) && (ref.kind !== 'call' || isId(ref.callId));
};

/** A ref of one of the kinds, into any project. */
const refTo = (names: WireNames, ...kinds: Ref['kind'][]) => {
  const shapes = kinds.map((kind) => names.refScheme + examples[kind]).join(' or ');
  const error = `should be a ref such as ${shapes}, of at most ${maxRef} characters`;
  const ways = kinds.map((kind) => patterns[kind]).join('|');
  return z
    .string()
    .check(z.refine((text) => isRefTo(names, kinds, text), { error, params: { type: 'value_error' } }))
    .register(documented, {
      says: {
        maxLength: maxRef,
        pattern: `^${names.refScheme}${projectIdPattern}/(?:${ways})$`,
      },
    });
};

const maxText = 1024;
const freeText = z
  .string()
  .check(
    z.refine((text) => text.length <= maxText && text.isWellFormed(), {
      error: `should be at most ${maxText} characters, without lone surrogates`,
      params: { type: 'value_error' },
    }),
  )
  .register(documented, { says: { maxLength: maxText } });

const draftFields = (names: WireNames) => ({
  project_id: projectId,
  id: nullish(id),
  feedback_type: displayText,
  payload: freeObject,
  creator: nullish(freeText),
  annotation_ref: nullish(refTo(names, 'object')),
  // Weave's scorers are ops, or objects that have one.
  runnable_ref: nullish(names.dialect === 'weave' ? refTo(names, 'op', 'object') : refTo(names, 'op')),
  call_ref: nullish(refTo(names, 'call')),
  trigger_ref: nullish(refTo(names, 'object')),
  // The user is accepted, and overwritten with the caller's.
  ...namedFields({ [names.ref]: refTo(names, 'object', 'op', 'call'), [names.userId]: nullish(z.string()) }),
});

type DraftRecord = z.output<z.ZodMiniObject<ReturnType<typeof draftFields>>>;

const toDraft = (names: WireNames, record: DraftRecord): FeedbackDraft => ({
  projectId: record.project_id,
  id: record.id ?? null,
  ref: fieldOf(record, names.ref, z.string()),
  type: record.feedback_type,
  payload: record.payload,
  creator: record.creator ?? null,
  annotationRef: record.annotation_ref ?? null,
  runnableRef: record.runnable_ref ?? null,
  callRef: record.call_ref ?? null,
  triggerRef: record.trigger_ref ?? null,
});

/** The body of `/feedback/create`. */
export const feedbackCreateBody = (names: WireNames) =>
  z
    .pipe(
      z.strictObject(draftFields(names)),
      z.transform((record) => toDraft(names, record)),
    )
    .register(documented, { name: 'FeedbackCreateReq' });

/** The positions in a batch of each client's id that comes more than once. */
const repeatedIds = (batch: readonly FeedbackDraft[]): [first: number, again: number][] => {
  const seen = new Map<string, number>();
  return batch.flatMap((draft, i): [number, number][] => {
    if (draft.id === null) return [];
    const name = `${draft.projectId}\n${draft.id}`;
    const first = seen.get(name);
    if (first === undefined) seen.set(name, i);
    return first === undefined ? [] : [[first, i]];
  });
};

const eachIdOnce = z.check<FeedbackDraft[]>(({ value, issues }) => {
  for (const pair of repeatedIds(value)) {
    for (const [at, other] of [pair, pair.toReversed()]) {
      issues.push({
        code: 'custom',
        message: `this id stands in item ${other} as well; an id can be given to one record alone`,
        params: { type: 'value_error' },
        path: [at ?? 0, 'id'],
        input: value,
        continue: true,
      });
    }
  }
});

/** The body of `/feedback/batch/create`: `{batch: […]}`. */
export const feedbackBatchBody = (names: WireNames) =>
  z.strictObject({ batch: z.array(feedbackCreateBody(names)).check(eachIdOnce) });

/** The body of `/feedback/replace`: the body of a creation, and the id of the record to replace. */
export const feedbackReplaceBody = (names: WireNames) =>
  z.pipe(
    z.strictObject({ ...draftFields(names), feedback_id: id }),
    z.transform((record) => ({ feedbackId: record.feedback_id, draft: toDraft(names, record) })),
  );

/** The body of `/feedback/purge`. Its `query` becomes the ids that it names. */
export const feedbackPurgeBody = z.strictObject({ project_id: projectId, query: purgeByIds });

const maxFields = 500;

/** The body of `/feedback/query`. */
export const feedbackQueryBody = (names: WireNames) => {
  const kind = feedbackKind(names);
  const fields = documentedList(
    z.array(pathSchema(kind)).check(
      z.refine((paths) => paths.length <= maxFields, {
        error: `should be at most ${maxFields} paths`,
        params: { type: 'too_long' },
      }),
    ),
    maxFields,
  );
  return z.pipe(
    z.strictObject({
      project_id: projectId,
      fields: nullish(fields),
      query: optionalQuery(kind),
      sort_by: nullish(sortSchema(kind)),
      limit: nullish(count),
      offset: nullish(count),
    }),
    z.transform(
      (body): FeedbackQuery => ({
        projectId: body.project_id,
        fields: body.fields ?? null,
        where: body.query ?? null,
        sort: body.sort_by ?? [],
        limit: body.limit ?? null,
        offset: body.offset ?? 0,
      }),
    ),
  );
};
