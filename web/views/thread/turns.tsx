import { useEffect } from 'react';
import type { CallRow, Usage } from '../../api/calls.ts';
import { sumUsage } from '../../api/calls.ts';
import { wordsOf } from '../../api/errors.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Turn } from './turn.tsx';
import { useSaid, useSteps } from './use-thread.ts';

interface TurnsProps {
  readonly project: string;
  readonly turns: readonly CallRow[];
  /** How many turns are before these. */
  readonly before: number;
  readonly plain: boolean;
  /** Is told what these turns used, once it is known. */
  readonly onUsage: (first: string, usage: Usage | undefined) => void;
}

/** Some turns that are read together: their headers by traces, and their payloads. */
export const Turns = ({ project, turns, before, plain, onUsage }: TurnsProps) => {
  const { query, nodes } = useSteps(project, turns);
  const said = useSaid(project, turns);
  const first = turns[0]?.id ?? '';
  useEffect(() => {
    if (nodes.size > 0)
      onUsage(first, sumUsage([...nodes.values()].flatMap(({ totalUsage }) => totalUsage ?? [])));
  }, [nodes, first, onUsage]);
  const error = said.error ?? query.error;
  return (
    <>
      {error ? (
        <Notice
          kind="error"
          action={
            <Button
              onClick={() => {
                if (said.error) said.refetch();
                if (query.error) query.refetch();
              }}
            >
              Try again
            </Button>
          }
        >
          {wordsOf(error)}
        </Notice>
      ) : null}
      {turns.map((call, at) => (
        <Turn
          key={call.id}
          number={before + at + 1}
          call={call}
          payload={said.data?.get(call.id)}
          node={nodes.get(call.id)}
          plain={plain}
        />
      ))}
    </>
  );
};
