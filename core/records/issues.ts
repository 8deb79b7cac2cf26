import { isDeepStrictEqual } from 'node:util';
import { type IssueUpdate, type SavedIssue, savedIssue } from '../../api/issues.ts';
import { issueClass, issueOfObject, toIssueObject } from '../../api/shared/issues.ts';
import { compareAndSwap, type RequestBudget, type Store } from '../../foundations/storage/index.ts';
import {
  formatTime,
  invalidAt,
  type JsonValue,
  type Micros,
  type ProjectId,
  parseTime,
} from '../../foundations/wire/index.ts';
import { safeParse } from '../../foundations/wire/schema.ts';
import { createObject, type ObjectChecks, readClass, readNewest } from './objects/index.ts';

/* What people decide on issues: an object of class `Issue` for each. */

const parseSaved = (value: JsonValue): SavedIssue | undefined => {
  const parsed = safeParse(savedIssue(), value);
  return parsed.success ? parsed.data : undefined;
};

/** What was decided on an issue. */
export interface Decision extends Omit<SavedIssue, 'resolvedAt'> {
  /** Since when what is seen is a regression; undefined if the issue is not resolved. */
  readonly resolvedAt: Micros | undefined;
}

const toDecision = (saved: SavedIssue): Decision => ({
  ...saved,
  resolvedAt: saved.state === 'resolved' ? parseTime(saved.resolvedAt ?? saved.savedAt ?? '') : undefined,
});

/** Reads what was decided on issues, by their ids. */
export const readDecisions = async (
  objects: Store,
  projectId: ProjectId,
  isWanted: (issueId: string) => boolean,
  budget: RequestBudget,
): Promise<ReadonlyMap<string, Decision>> => {
  const isOne = (objectId: string) => isWanted(issueOfObject(objectId) ?? '');
  const found = await readClass(objects, projectId, issueClass, isOne, budget);
  return new Map(
    found.flatMap(({ header, value }) => {
      const id = issueOfObject(header.objectId);
      const saved = parseSaved(value);
      return id !== undefined && saved ? [[id, toDecision(saved)] as const] : [];
    }),
  );
};

/** Somebody else decided while a decision was made. */
class ChangedMeanwhile extends Error {}

/**
 * Changes what is decided on an issue: what a change leaves out stays, also what others change at the same moment.
 *
 * @param userId who decides
 * @param checks as {@link createObject} takes them
 * @throws ServiceError as {@link createObject}; 422 for a change of nothing
 */
export const updateIssue = async (
  objects: Store,
  { projectId, issueId, change }: IssueUpdate,
  userId: string,
  budget: RequestBudget,
  checks: ObjectChecks = {},
  now: () => number = Date.now,
) => {
  if (Object.values(change).every((value) => value === undefined))
    throw invalidAt(['body'], 'should have a state, an assignee or a note');
  const objectId = toIssueObject(issueId);
  const read = () => readNewest(objects, { projectId, objectId }, issueClass, parseSaved, budget);
  return compareAndSwap(budget, async () => {
    const before = await read();
    const at = formatTime(now() * 1000);
    const state = change.state ?? before?.state ?? 'open';
    const assignee = change.assignee === undefined ? (before?.assignee ?? null) : change.assignee;
    const note = change.note === undefined ? (before?.note ?? null) : change.note;
    // Resolving again what came back is a decision of now.
    const resolvedAt =
      change.state === 'resolved' ? at : state === 'resolved' ? (before?.resolvedAt ?? at) : null;
    const val = { _type: issueClass, state, resolved_at: resolvedAt, assignee, note, saved_at: at };
    // The version is made on condition that none came after this look.
    const announce = async () => {
      if (!isDeepStrictEqual(await read(), before)) throw new ChangedMeanwhile();
    };
    try {
      await createObject(objects, { projectId, objectId, val }, userId, budget, { ...checks, announce });
    } catch (error) {
      if (error instanceof ChangedMeanwhile) return undefined;
      throw error;
    }
    return { value: { object_id: objectId, state, assignee, note } };
  });
};
