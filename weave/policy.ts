import type { RecordKind } from '../foundations/expression/index.ts';
import { ownPolicy, type Policy } from '../foundations/policy.ts';
import { isJsonObject, type JsonValue } from '../foundations/wire/index.ts';
import { bytesDigest, valueDigest } from './digest.ts';
import { nameInWeave, textInWeave } from './names.ts';

/** The dialects of the service: its own, and that of Weave's server, which Weave's SDKs speak. */
export const dialects = ['svc', 'weave'] as const;
export type Dialect = (typeof dialects)[number];

/** The dialect that a setting or an environment names; the service's own if it names none. */
export const dialectOf = (name: string | undefined): Dialect =>
  dialects.find((dialect) => dialect === name) ?? 'svc';

const feedbackRule = (steps: readonly string[]): string | undefined =>
  steps.length > 0 ? undefined : 'should name a type and a field: feedback.[<type>].payload.<path>';

/** Records for expressions. Calls lead to the feedback on them, by its type. */
export const kindInWeave = (kind: RecordKind): RecordKind => {
  const fields = kind.fields.map(nameInWeave);
  if (kind.name === 'Cost')
    return {
      ...kind,
      fields: [...fields, 'cache_read_input_token_cost', 'cache_creation_input_token_cost'],
    };
  const { pathRule } = kind;
  if (!pathRule) return { ...kind, fields, equalAsText: true };
  return {
    ...kind,
    fields: [...fields, 'feedback'],
    nested: [...kind.nested, 'feedback'],
    missingIsEmpty: true,
    equalAsText: true,
    pathRule: (path) => {
      if (path.field === 'feedback') return feedbackRule(path.steps);
      const [block = '', ...below] = path.steps;
      return block === 'weave' ? pathRule({ ...path, steps: ['svc', ...below] }) : undefined;
    },
  };
};

const { columns } = ownPolicy;

/** Weave's SDKs store ops as custom types, whose `weave_type.type` is `Op`. */
const isCustomOp = (value: JsonValue): boolean => {
  const type = isJsonObject(value) && Object.hasOwn(value, 'weave_type') ? value.weave_type : null;
  return isJsonObject(type) && Object.hasOwn(type, 'type') && type.type === 'Op';
};

/** The service as Weave's SDKs know it. */
export const weavePolicy: Policy = {
  service: 'weave',
  refScheme: textInWeave(ownPolicy.refScheme),
  otelProject: textInWeave(ownPolicy.otelProject),
  columns: {
    ref: nameInWeave(columns.ref),
    userId: nameInWeave(columns.userId),
    runId: nameInWeave(columns.runId),
    runStep: nameInWeave(columns.runStep),
    runStepEnd: nameInWeave(columns.runStepEnd),
  },
  // Python SDKs up to 0.52 fail without these, as those of Weave's server are never missing.
  unaskedColumns: { attributes: '{}', inputs: '{}' },
  noValue: '{}',
  bytesDigest,
  valueDigest,
  isOp: (value) => ownPolicy.isOp(value) || isCustomOp(value),
  labels: true,
  feedbackRefs: true,
  feedbackCount: true,
  recordKind: kindInWeave,
};

export const policyOf = (dialect: Dialect): Policy => (dialect === 'weave' ? weavePolicy : ownPolicy);
