import { type CallSource, readSource } from '../../../api/shared/header-fields.ts';
import type { Store } from '../../../foundations/storage/index.ts';
import { parseRef } from '../../../foundations/wire/index.ts';
import { toCallKey } from './items.ts';
import type { CallReport, CallStart, StartHeader } from './model.ts';

/** How the operations of evaluations begin: those of the runner, and of Weave's SDKs. */
const ofEvaluations = 'Evaluation.';

/** What is known of a call where nobody says its source: evaluations are known by their operations. */
const sourceByName = (opName: string): CallSource | undefined => {
  // Most names are looked at no further: this is asked of each call of a scan.
  if (!opName.includes(ofEvaluations)) return undefined;
  const ref = parseRef(opName);
  const name = ref?.kind === 'op' ? ref.name : opName;
  return name.startsWith(ofEvaluations) ? 'evaluation' : undefined;
};

/** Who made a call. Production made what says nothing else, and what says something of its own. */
export const getSource = ({
  attributes,
  isJudges,
  opName,
}: Pick<StartHeader, 'attributes' | 'isJudges' | 'opName'>): CallSource => {
  const { source } = attributes;
  if (source === undefined || source === null)
    return isJudges ? 'judge' : (sourceByName(opName) ?? 'production');
  return readSource(source) ?? 'production';
};

const isUnsaid = ({ attributes: { source } }: CallStart): boolean => source === undefined || source === null;

/** A start with the source that it has from elsewhere. */
const from = (start: CallStart, source: CallSource): CallStart => ({
  ...start,
  attributes: { ...start.attributes, source },
});

const readEnvironment = ({ attributes: { environment } }: CallStart): string | undefined =>
  typeof environment === 'string' ? environment : undefined;

/**
 * Gives calls that do not name their source that of the nearest call above them that has one, as far as the
 * request shows it, or else that of the environment of the nearest. Calls of evaluations have it by their names.
 *
 * @param sourceOfEnvironment the source of what runs in an environment of a project. @default - none has one
 */
export const withSources = (
  reports: readonly CallReport[],
  sourceOfEnvironment: Store['sourceOfEnvironment'] = undefined,
): readonly CallReport[] => {
  const starts = reports.flatMap((report) => (report.kind === 'start' ? [report.start] : []));
  const ownSource = (start: CallStart): CallSource | undefined =>
    isUnsaid(start) ? sourceByName(start.opName) : (readSource(start.attributes.source) ?? 'production');
  const byEnvironment = (start: CallStart): CallSource | undefined => {
    const environment = readEnvironment(start);
    return environment === undefined
      ? undefined
      : readSource(sourceOfEnvironment?.(start.projectId, environment));
  };
  const hasSome = starts.some((start) => ownSource(start) ?? byEnvironment(start));
  // So it is of nearly all requests.
  if (!hasSome) return reports;
  const byKey = new Map(
    starts.flatMap((start) =>
      start.id === null ? [] : [[toCallKey({ projectId: start.projectId, id: start.id }), start] as const],
    ),
  );
  /** Finds what the nearest call has, from a call upward. */
  const nearest = (read: typeof ownSource) => {
    const known = new Map<CallStart, CallSource | undefined>();
    return (start: CallStart): CallSource | undefined => {
      const chain = new Set<CallStart>();
      let next: CallStart | undefined = start;
      let found: CallSource | undefined;
      while (next && !chain.has(next)) {
        if (known.has(next)) {
          found = known.get(next);
          break;
        }
        chain.add(next);
        found = read(next);
        if (found) break;
        const { projectId, parentId }: CallStart = next;
        next = parentId === null ? undefined : byKey.get(toCallKey({ projectId, id: parentId }));
      }
      for (const one of chain) known.set(one, found);
      return found;
    };
  };
  const findOwn = nearest(ownSource);
  // An environment without a source is production's, whatever is above.
  const findByEnvironment = nearest(
    (start) => byEnvironment(start) ?? (readEnvironment(start) === undefined ? undefined : 'production'),
  );
  return reports.map((report) => {
    if (report.kind === 'end' || !isUnsaid(report.start)) return report;
    const source = findOwn(report.start) ?? findByEnvironment(report.start);
    return source === undefined || source === 'production'
      ? report
      : { kind: 'start', start: from(report.start, source) };
  });
};
