import type { Micros, ProjectId } from '../../../foundations/wire/index.ts';

/** What a value is: an op, or any other object. */
export type ObjectKind = 'object' | 'op';

/** Names an object among all projects. */
export interface ObjectName {
  readonly projectId: ProjectId;
  readonly objectId: string;
}

/** A version of an object without its value. */
export interface VersionHeader extends ObjectName {
  /** The digest of its value: of one object no two versions have the same. */
  readonly digest: string;
  /**
   * 0, 1, 2, … in the order in which the object's versions were made. A deleted version leaves a
   * gap.
   */
  readonly versionIndex: number;
  readonly kind: ObjectKind;
  /**
   * The name of the class that the value's own class is built upon; null if the value names none.
   */
  readonly baseObjectClass: string | null;
  /** The class of a value that means something to the service, such as `Evaluator`; null for others. */
  readonly meaning: string | null;
  /** When it was made, in microseconds of the server's clock. */
  readonly createdAt: Micros;
  /** Whose key made it. */
  readonly userId: string;
  /** Bytes of the value as compact JSON. */
  readonly bytes: number;
  /** Where its packed value lies: in the item that its digest leads to, or in the bucket. */
  readonly home: 'item' | 'bucket';
}

/** A version of an object as it stands among the others. */
export interface ObjectVersion {
  readonly header: VersionHeader;
  /** Whether it is the newest version that has not been deleted. */
  readonly isLatest: boolean;
}

/** A version together with its value, as JSON text. */
export interface StoredVersion extends ObjectVersion {
  readonly val: string;
}

/** What a change does to the versions of an object. */
export interface ObjectChange {
  readonly deleted: readonly VersionHeader[];
  /** The version that is not the latest any more, since a newer one is made; null if none is. */
  readonly covered: VersionHeader | null;
  /** The version that becomes the latest, since newer ones are deleted; null if none does. */
  readonly uncovered: VersionHeader | null;
}

/** Refuses a change, by what it throws, before it is made. */
export type AuthorizeChange = (change: ObjectChange) => Promise<void>;
