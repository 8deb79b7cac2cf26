import { useMemo } from 'react';
import { wordsOf } from '../../api/errors.ts';
import type { ObjectVersion } from '../../api/types.ts';
import { momentText } from '../../data/format.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { DiffView } from '../../ui/diff/diff-view.tsx';
import { valueText } from '../../ui/diff/value-text.ts';
import { JsonTree } from '../../ui/json/json-tree.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useValue } from './use-objects.ts';

interface VersionViewProps {
  readonly shown: ObjectVersion;
  /** What it is compared with; undefined for nothing. */
  readonly base: ObjectVersion | undefined;
  /** All versions, the newest first. */
  readonly versions: readonly ObjectVersion[];
  readonly onBase: (digest: string) => void;
}

/** The name of a version, as `POST /obj/read` takes it. */
export const versionName = ({ version_index }: ObjectVersion): string => `v${version_index}`;

const Differences = ({ one, other, label }: { one: unknown; other: unknown; label: string }) => {
  const texts = useMemo(() => [valueText(one), valueText(other)] as const, [one, other]);
  return <DiffView one={texts[0]} other={texts[1]} label={label} />;
};

/** A version with its value, and what differs from another one. */
export const VersionView = ({ shown, base, versions, onBase }: VersionViewProps) => {
  const value = useValue(shown);
  const before = useValue(base);
  const error = value.error ?? before.error;
  const others = versions.filter(({ digest }) => digest !== shown.digest);
  return (
    <section className="stack" aria-label="Version">
      <div className="row-between">
        <h2 dir="auto">
          {shown.object_id} {versionName(shown)}
        </h2>
        <CopyButton text={() => shown.digest}>Copy digest</CopyButton>
      </div>
      <p className="facts">
        <time dateTime={shown.created_at}>{momentText(shown.created_at)}</time>
        <span dir="auto">{shown.svc_user_id}</span>
        {shown.is_latest ? <span>latest</span> : null}
      </p>
      {error ? (
        <Notice
          kind="error"
          action={
            <Button
              onClick={() => {
                value.refetch();
                before.refetch();
              }}
            >
              Try again
            </Button>
          }
        >
          {wordsOf(error)}
        </Notice>
      ) : null}
      {base ? (
        <>
          <label className="compared">
            <span>Differences from</span>
            <select value={base.digest} onChange={(event) => onBase(event.target.value)}>
              {others.map((other) => (
                <option key={other.digest} value={other.digest}>
                  {versionName(other)} · {momentText(other.created_at)}
                </option>
              ))}
            </select>
          </label>
          {value.isSuccess && before.isSuccess ? (
            <Differences
              one={before.data}
              other={value.data}
              label={`Differences between ${versionName(base)} and ${versionName(shown)}`}
            />
          ) : null}
        </>
      ) : null}
      <h3>Value</h3>
      {value.isPending && !error ? <p className="muted">Loading the value…</p> : null}
      {value.isSuccess ? <JsonTree key={shown.digest} value={value.data} path="" label="value" /> : null}
    </section>
  );
};
