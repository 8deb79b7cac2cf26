import { useState } from 'react';
import { readRows } from '../../calls/data.ts';
import { momentText } from '../../data/format.ts';
import { useRead, useSession } from '../../session/session.tsx';
import { Choice, TextArea } from '../../ui/fields.tsx';
import { useWork } from '../../ui/work.ts';
import { type Draft, valuesOfCall, variablesOf } from './draft.ts';

/** How many calls are offered to take values from. */
const maxCalls = 20;

/** The latest calls of a prompt, of whatever version. */
const usePromptCalls = (project: string, prompt: string | undefined, enabled: boolean) =>
  useRead(
    ['calls of a prompt', project, prompt],
    (reading) =>
      readRows(reading, {
        project_id: project,
        query: { $expr: { $eq: [{ $getField: 'attributes.prompt.name' }, { $literal: prompt }] } },
        sort_by: [{ field: 'started_at', direction: 'desc' }],
        columns: ['preview'],
        limit: maxCalls,
      }),
    { enabled: enabled && prompt !== undefined },
  );

interface VariablesFormProps {
  readonly project: string;
  /** The prompt that the draft began with. */
  readonly prompt: string | undefined;
  /** The call that it began with. */
  readonly call: string | undefined;
  readonly draft: Draft;
  readonly onChange: (values: NonNullable<Draft['values']>) => void;
}

/** The values of a prompt's variables, which are typed or taken from a recorded call. */
export const VariablesForm = ({ project, prompt, call = '', draft, onChange }: VariablesFormProps) => {
  const { client } = useSession();
  const names = variablesOf(draft);
  const { data: calls = [] } = usePromptCalls(project, prompt, names.length > 0);
  const [from, setFrom] = useState(call);
  const { error, run, refuse } = useWork();
  if (names.length === 0) return null;
  const options = calls.map(({ id, started_at, preview }): [string, string] => [
    id,
    [momentText(started_at), preview?.input].filter(Boolean).join(' · '),
  ]);
  const isListed = from === '' || calls.some(({ id }) => id === from);
  const take = (id: string) => {
    setFrom(id);
    if (id === '') return;
    run(async () => {
      const { call } = await client.ask('/call/read', { project_id: project, id });
      const found = call ? valuesOfCall(draft, call) : {};
      onChange({ ...draft.values, ...found });
      if (Object.keys(found).length === 0) refuse('This call was not made of these messages.');
    });
  };
  return (
    <fieldset className="variables">
      <legend>Variables</legend>
      {calls.length > 0 ? (
        <Choice
          label="Values from"
          value={from}
          options={[
            ['', 'what is typed'],
            ...(isListed ? [] : [[from, 'the recorded call'] as const]),
            ...options,
          ]}
          onChange={take}
        />
      ) : null}
      {error ? <p className="error-text">{error}</p> : null}
      {names.map((name) => (
        <TextArea
          key={name}
          label={name}
          rows={Math.min(6, (draft.values?.[name] ?? '').split('\n', 7).length)}
          value={draft.values?.[name] ?? ''}
          onChange={(value) => onChange({ ...draft.values, [name]: value })}
        />
      ))}
    </fieldset>
  );
};
