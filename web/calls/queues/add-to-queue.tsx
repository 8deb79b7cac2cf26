import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { reviewQueueClass } from '../../../api/shared/classes.ts';
import type { ObjectVersion } from '../../api/contract.ts';
import { countedText, countText } from '../../data/format.ts';
import { isObject } from '../../data/values.ts';
import { useKept } from '../../session/kept.ts';
import { useRead, useSession } from '../../session/session.tsx';
import { ofClass, readObjects, useStoreObject } from '../../session/stored.ts';
import { Button, Notice, QueryStatus } from '../../ui/controls.tsx';
import { Choice, Form } from '../../ui/fields.tsx';
import { useWork } from '../../ui/work.ts';

/*
 * A queue is of the calls that its filter matches. One of chosen calls has their ids in its filter, so it
 * takes more of them.
 */

/** The most calls that a queue of chosen calls has. */
export const maxChosen = 1000;

/** What a new queue begins with: the calls that were chosen in a list. */
export const useQueuedCalls = (project: string) => useKept<readonly string[]>('queued calls', project, none);

const none: readonly string[] = [];

/** The ids of the calls that a queue was made of; undefined for a queue by another filter. */
const chosenIn = ({ val }: ObjectVersion): readonly string[] | undefined => {
  const filter = isObject(val) ? val.filter : undefined;
  const ids = isObject(filter) ? filter.call_ids : undefined;
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : undefined;
};

const nameOf = ({ object_id, val }: ObjectVersion): string =>
  isObject(val) && typeof val.name === 'string' ? val.name : object_id;

/** How often calls are added anew if somebody else changed the queue in the meantime. */
const maxTries = 4;

/**
 * Adds calls to a queue of chosen calls. Who adds others at the same moment may have the last word, so it
 * looks again, and adds what is missing.
 */
const useAddToQueue = (project: string) => {
  const { client } = useSession();
  const { save } = useStoreObject(project, ['queues', 'queues of chosen calls', 'objects']);
  const readQueue = async (id: string) => {
    const [version] = await readObjects({ client }, project, {
      filter: { object_ids: [id], latest_only: true },
    });
    if (!version) throw new Error('This queue was deleted.');
    return version;
  };
  /** @returns how many calls were not in it before */
  return async (id: string, calls: readonly string[]): Promise<number> => {
    let added: number | undefined;
    for (let tries = 0; tries < maxTries; tries++) {
      const version = await readQueue(id);
      const before = chosenIn(version);
      if (!before || !isObject(version.val)) throw new Error('This queue is by a filter now.');
      const missing = calls.filter((call) => !before.includes(call));
      added ??= missing.length;
      if (missing.length === 0) return added;
      if (before.length + missing.length > maxChosen)
        throw new Error(
          `A queue takes ${countText(maxChosen)} chosen calls, and this one has ${countText(before.length)}.`,
        );
      const filter = isObject(version.val.filter) ? version.val.filter : {};
      await save.mutateAsync({
        id,
        value: { ...version.val, filter: { ...filter, call_ids: [...before, ...missing] } },
      });
    }
    throw new Error('Somebody else is changing this queue. Try again.');
  };
};

interface AddToQueueProps {
  readonly project: string;
  readonly calls: readonly string[];
}

/** Puts calls into a queue of chosen calls, or begins one with them. */
export const AddToQueue = ({ project, calls }: AddToQueueProps) => {
  const [, keepQueued] = useQueuedCalls(project);
  const query = useRead(['queues of chosen calls', project], async (reading) => {
    const all = await readObjects(reading, project, ofClass(reviewQueueClass));
    return all
      .filter((version) => chosenIn(version) !== undefined)
      .map((version): [string, string] => [version.object_id, nameOf(version)])
      .toSorted(([, a], [, b]) => a.localeCompare(b));
  });
  const add = useAddToQueue(project);
  const [chosen, setChosen] = useState<string>();
  const [outcome, setOutcome] = useState<{ readonly id: string; readonly added: number }>();
  const { isBusy, error, run } = useWork();
  const queues = query.data ?? [];
  const id = chosen ?? queues[0]?.[0];
  const submit = () => {
    if (id === undefined) return;
    run(async () => setOutcome({ id, added: await add(id, calls) }), { failed: 'Nothing was added.' });
  };
  const nameById = new Map(queues);
  if (outcome)
    return (
      <Notice
        kind="info"
        action={
          <Link to="/reviews" search={{ project, queue: outcome.id }}>
            Open {nameById.get(outcome.id)}
          </Link>
        }
      >
        {outcome.added === 0
          ? `All of them were in ${nameById.get(outcome.id)} before.`
          : `${countedText(outcome.added, 'call')} ${outcome.added === 1 ? 'was' : 'were'} added to ${nameById.get(outcome.id)}.`}
      </Notice>
    );
  if (calls.length > maxChosen)
    return (
      <Notice kind="info">
        A queue takes at most {countText(maxChosen)} chosen calls. For more, tag them, and make a queue that
        is filtered by the tag.
      </Notice>
    );
  return (
    <Form className="stack" onSubmit={submit}>
      <QueryStatus queries={[query]} loading="Loading queues…" />
      {queues.length > 0 && id !== undefined ? (
        <Choice label="Queue" value={id} options={queues} onChange={setChosen} />
      ) : null}
      <p className="hint">
        {queues.length > 0
          ? 'These are the queues of chosen calls.'
          : 'There is no queue of chosen calls yet.'}{' '}
        Others take the calls that their filter matches: tag the rows, and filter such a queue by the tag.
      </p>
      {error ? <Notice kind="error">{error}</Notice> : null}
      <div className="row-end wrap">
        <Link
          to="/reviews"
          search={{ project }}
          className={queues.length > 0 ? 'button' : 'button primary'}
          onClick={() => keepQueued(calls)}
        >
          New queue with {calls.length === 1 ? 'it' : `these ${countText(calls.length)}`}
        </Link>
        {queues.length > 0 ? (
          <Button kind="primary" type="submit" idle={isBusy}>
            {isBusy ? 'Adding…' : 'Add to queue'}
          </Button>
        ) : null}
      </div>
    </Form>
  );
};
