import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ObjectVersion } from '../api/contract.ts';
import { countedText, countText, momentText } from '../data/format.ts';

type Target = Pick<LinkProps, 'to' | 'search'>;

interface ObjectLinkProps extends Target {
  readonly name: string;
  /** What stands below the name. */
  readonly about: ReactNode;
}

/** A link of a list whose objects open beside it. */
export const ObjectLink = ({ name, about, ...link }: ObjectLinkProps) => (
  <Link {...link} activeOptions={{ exact: false, includeSearch: true }} className="object-link">
    <span className="cut" dir="auto">
      {name}
    </span>
    <span className="muted">{about}</span>
  </Link>
);

interface ObjectListProps {
  /** What they are, such as `datasets`. */
  readonly kind: string;
  /** The latest versions of all of them. */
  readonly objects: readonly ObjectVersion[];
  /** The most that are read. */
  readonly most: number;
  readonly linkTo: (id: string) => Target;
}

/** Objects with the number of their versions. */
export const ObjectList = ({ kind, objects, most, linkTo }: ObjectListProps) => (
  <ul className="object-list" aria-label={`${kind[0]?.toUpperCase()}${kind.slice(1)}`}>
    {objects.map(({ object_id, version_index, kind: objectKind, created_at }) => (
      <li key={object_id}>
        <ObjectLink
          {...linkTo(object_id)}
          name={object_id}
          about={`${objectKind === 'op' ? 'op, ' : ''}${countedText(version_index + 1, 'version')} · ${momentText(created_at)}`}
        />
      </li>
    ))}
    {objects.length === most ? (
      <li className="muted">
        Only the first {countText(most)} {kind} are shown.
      </li>
    ) : null}
  </ul>
);

/** The name of a version, as `POST /obj/read` takes it. */
export const versionName = ({ version_index }: ObjectVersion): string => `v${version_index}`;

/** A version to choose, by its digest. */
export const versionOption = (version: ObjectVersion): readonly [digest: string, text: string] => [
  version.digest,
  `${versionName(version)} · ${momentText(version.created_at)}`,
];

interface VersionsProps {
  readonly versions: readonly ObjectVersion[];
  readonly shown: ObjectVersion;
  readonly linkTo: (version: ObjectVersion) => Target;
}

/** The versions of an object, to choose from. */
export const Versions = ({ versions, shown, linkTo }: VersionsProps) => (
  <ul className="versions" aria-label="Versions">
    {versions.map((version) => (
      <li key={version.digest}>
        <Link
          {...linkTo(version)}
          className="button plain"
          aria-current={version.digest === shown.digest ? 'true' : undefined}
        >
          {versionName(version)}
        </Link>
      </li>
    ))}
  </ul>
);

/** Goes to what appears where its reader does not see it, such as below a long list. A ref of its element. */
export const goTo = (pane: HTMLElement | null): void => {
  const { top = 0 } = pane?.getBoundingClientRect() ?? {};
  if (top >= 0 && top < innerHeight / 2) return;
  pane?.scrollIntoView();
  pane?.focus({ preventScroll: true });
};
