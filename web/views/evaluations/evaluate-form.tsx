import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { Row } from '../../calls/datasets/rows.ts';
import { toEvaluatorRef } from '../../calls/evaluators.ts';
import { useModels } from '../../calls/figures/used.ts';
import { costText, countedText, countText, momentText } from '../../data/format.ts';
import { useChange } from '../../navigation/change.ts';
import { type EvaluateSearch, maxRuns } from '../../navigation/search.ts';
import { allows, readAgain, useSession } from '../../session/session.tsx';
import { Button, Check, Failure, Notice, QueryStatus } from '../../ui/controls.tsx';
import { Choice, Form, Picker, Section } from '../../ui/fields.tsx';
import { useWork } from '../../ui/work.ts';
import {
  type EvaluatorChoice,
  useDataset,
  useEvaluatorChoices,
  useModelPrices,
  usePromptNames,
  usePromptVersions,
  useVersionChoices,
  type VersionChoice,
} from './evaluate-data.ts';
import {
  type Chat,
  columnsIn,
  estimateUsd,
  findExpected,
  matchColumns,
  maxRows,
  modelOf,
  type Plan,
  type PromptVersion,
  toChat,
  toJudgesChat,
  toPlans,
  usualAnswer,
  variablesOf,
} from './plan.ts';
import { beginRun } from './run.ts';

const route = getRouteApi('/evaluate');

/** How many versions are offered at first: the newest. Those with labels and those chosen are, too. */
const firstVersions = 8;

interface VersionsProps {
  readonly choices: readonly VersionChoice[];
  readonly chosen: readonly number[];
  readonly onChange: (chosen: readonly number[]) => void;
}

/** The versions of a prompt, to choose some. */
const Versions = ({ choices, chosen, onChange }: VersionsProps) => {
  const [all, setAll] = useState(false);
  const shown = choices.filter(
    ({ index, labels }, at) => all || at < firstVersions || labels.length > 0 || chosen.includes(index),
  );
  return (
    <fieldset className="version-checks">
      <legend>Versions</legend>
      {shown.map(({ index, labels, created }) => (
        <Check
          key={index}
          label={[`v${index}`, ...labels, momentText(created)].join(' · ')}
          checked={chosen.includes(index)}
          onChange={(checked) =>
            onChange(
              checked
                ? [...chosen, index].toSorted((one, other) => one - other)
                : chosen.filter((other) => other !== index),
            )
          }
        />
      ))}
      {shown.length < choices.length ? (
        <Button kind="quiet" onClick={() => setAll(true)}>
          All {countText(choices.length)} versions
        </Button>
      ) : null}
    </fieldset>
  );
};

interface PriceProps {
  readonly project: string;
  readonly plans: readonly Plan[];
  readonly versions: readonly PromptVersion[];
  readonly rows: readonly Row[];
  readonly evaluators: readonly EvaluatorChoice[];
}

/** What an evaluation would cost, about, and which models have no price. */
const Price = ({ project, plans, versions, rows, evaluators }: PriceProps) => {
  const chats = useMemo(
    () =>
      plans.map((plan) => {
        const version = versions.find(({ version_index: index }) => index === plan.version);
        const made = version ? rows.map((row) => toChat(version, plan, row)) : [];
        return made.flatMap((chat): Chat[] => ('body' in chat ? [chat.body] : []));
      }),
    [plans, versions, rows],
  );
  const judges = evaluators.flatMap(({ evaluator: { value } }) => value.judge ?? []);
  const models = [...new Set([...plans.map(({ model }) => model), ...judges.map(({ model }) => model)])];
  const prices = useModelPrices(project, models);
  const all = chats.flat();
  const parts = [
    ...plans.map(({ model }, at) => ({ model, bodies: chats[at] ?? [] })),
    ...judges.map((judge) => ({
      model: judge.model,
      bodies: all.map((body) => toJudgesChat({ ...judge, parameters: judge.parameters ?? {} }, body)),
    })),
  ];
  const usd = parts.reduce((sum, { model, bodies }) => {
    const price = prices.get(model)?.price;
    return sum + (price ? estimateUsd(bodies, price) : 0);
  }, 0);
  const unpriced = models.filter((model) => prices.get(model)?.price === null);
  const unserved = models.filter((model) => prices.get(model)?.isServed === false);
  const requests = parts.reduce((sum, { bodies }) => sum + bodies.length, 0);
  const isKnown = models.every((model) => prices.has(model));
  const unfilled = plans.length * rows.length - all.length;
  return (
    <div className="stack" role="status">
      <p>
        {countedText(plans.length, 'evaluation')} of {countedText(rows.length, 'row')}:{' '}
        {countedText(requests, 'request')} to models,{' '}
        {!isKnown ? (
          'whose price is being looked up'
        ) : unpriced.length === models.length ? (
          'whose price is not known'
        ) : (
          <>
            about <strong>{costText(usd)}</strong>
            {unpriced.length > 0 ? ' and what has no price' : ''}
          </>
        )}
        .
      </p>
      <p className="hint">
        This is an estimate: a token for four bytes of a request, and {usualAnswer} tokens for an answer,
        unless it may have fewer.
        {unpriced.length > 0 ? (
          <>
            {' '}
            {unpriced.join(', ')} {unpriced.length === 1 ? 'has' : 'have'} no price in dollars:{' '}
            <Link to="/settings" search={{ project, section: 'prices' }}>
              set one
            </Link>
            .
          </>
        ) : null}
      </p>
      {unserved.length > 0 ? (
        <Notice kind="error">No upstream of this service serves {unserved.join(', ')}.</Notice>
      ) : null}
      {unfilled > 0 ? (
        <Notice kind="info">
          {countedText(unfilled, 'row')} will fail, since a column has nothing in them.
        </Notice>
      ) : null}
    </div>
  );
};

/** What programs run where a page would take too long. */
const runnerCommand = (dataset: string): string =>
  `npx node clients/js/evaluate.ts --dataset '${dataset.replaceAll("'", `'\\''`)}'`;

/** Chooses what is evaluated, on what, and how it is scored; says the price, and begins. */
export const EvaluateForm = ({ onBegin }: { onBegin: (runs: readonly string[]) => void }) => {
  const search = route.useSearch();
  const { project, prompt, versions: indexes = [], models = [], dataset: name } = search;
  const change = useChange<EvaluateSearch>(route.useNavigate());
  const { client, me } = useSession();
  const cache = useQueryClient();
  const names = usePromptNames(project);
  const choices = useVersionChoices(project, prompt);
  const { versions, error: versionError } = usePromptVersions(project, prompt, indexes);
  const dataset = useDataset(project, name);
  const suggestions = useModels(project);
  const allEvaluators = useEvaluatorChoices(project);
  const [mapped, setMapped] = useState<Readonly<Record<string, string>>>({});
  const { isBusy, error, run, refuse } = useWork();
  const columns = useMemo(() => columnsIn(dataset.rows), [dataset.rows]);
  const variables = variablesOf(versions);
  const known = Object.fromEntries(Object.entries(mapped).filter(([, column]) => columns.includes(column)));
  const filled = { ...matchColumns(variables, columns), ...known };
  const exact = search.exact === 'none' ? undefined : (search.exact ?? findExpected(columns));
  const evaluators = allEvaluators.filter(
    ({ evaluator, why }) => why === undefined && search.evaluators?.includes(evaluator.id),
  );
  const planned = toPlans(
    {
      versions,
      models,
      rows: dataset.rows,
      variables: filled,
      exact: exact !== undefined && columns.includes(exact) ? exact : undefined,
      evaluators: evaluators.map(({ evaluator }) => ({
        ref: toEvaluatorRef(project, evaluator),
        name: evaluator.value.name,
      })),
    },
    maxRuns,
  );
  const lacking = (['inference', 'write'] as const).filter((role) => !allows(me, project, role));
  const isTooLong = (dataset.count ?? 0) > maxRows;
  const own = [...new Set(versions.flatMap((version) => modelOf(version) ?? []))];
  const begin = () => {
    if ('problem' in planned) return refuse(planned.problem);
    if (dataset.ref === undefined || name === undefined) return undefined;
    const begun = { project, dataset: name, datasetRef: dataset.ref, ...planned };
    return run(async () => {
      const ids = await beginRun(client, begun);
      readAgain(cache, { queryKey: ['evaluations'] });
      onBegin(ids);
    });
  };
  return (
    <Form className="stack" aria-label="New evaluation" onSubmit={begin}>
      <QueryStatus queries={[names, choices, ...dataset.queries]} />
      <Failure error={versionError} onRetry={() => readAgain(cache, { queryKey: ['prompt version'] })} />
      <Section title="Prompt" hint="Each version runs with each model, as an evaluation of its own.">
        <Choice
          label="Prompt"
          value={prompt ?? ''}
          options={[
            ...(prompt === undefined ? [['', 'Choose a prompt'] as const] : []),
            ...(names.data?.includes(prompt ?? '') === false && prompt !== undefined ? [prompt] : []),
            ...(names.data ?? []),
          ]}
          onChange={(next) => change({ prompt: next || undefined, versions: undefined })}
        />
        {names.data?.length === 0 ? (
          <p className="hint">
            {project} has no prompts yet. Save one in the{' '}
            <Link to="/playground" search={{ project }}>
              playground
            </Link>
            .
          </p>
        ) : null}
        {choices.data ? (
          <Versions
            choices={choices.data}
            chosen={indexes}
            onChange={(chosen) => change({ versions: chosen.length > 0 ? chosen : undefined })}
          />
        ) : null}
        <Picker
          label="Models"
          hint={
            own.length > 0 ? `Without any, what the versions name: ${own.join(', ')}.` : 'One or more models.'
          }
          values={models}
          suggestions={suggestions}
          onChange={(next) => change({ models: next.length > 0 ? next : undefined })}
        />
      </Section>
      <Section
        title="Dataset"
        hint="Rows fill the prompt’s variables. Columns of the same name fill themselves."
      >
        <Choice
          label="Dataset"
          value={name ?? ''}
          options={[
            ...(name === undefined ? [['', 'Choose a dataset'] as const] : []),
            ...(name !== undefined && !dataset.names.includes(name) ? [name] : []),
            ...dataset.names,
          ]}
          onChange={(next) => change({ dataset: next || undefined, exact: undefined })}
        />
        {dataset.count !== undefined ? <p className="hint">{countedText(dataset.count, 'row')}</p> : null}
        {isTooLong && name !== undefined ? (
          <Notice kind="info">
            A page runs at most {countText(maxRows)} rows. Run more with a program that goes on without it:{' '}
            <code>{runnerCommand(name)}</code>
          </Notice>
        ) : null}
        {dataset.rows.length > 0 && variables.length > 0 ? (
          <div className="evaluator-fields">
            {variables.map((variable) => (
              <Choice
                key={variable}
                label={`{${variable}}`}
                value={filled[variable] ?? ''}
                options={[
                  ...(filled[variable] === undefined ? [['', 'Choose a column'] as const] : []),
                  ...columns,
                ]}
                onChange={(column) => setMapped((before) => ({ ...before, [variable]: column }))}
              />
            ))}
          </div>
        ) : null}
      </Section>
      <Section title="Scores" hint="A row that fails scores 0.">
        <Choice
          label="Exact match with"
          value={exact !== undefined && columns.includes(exact) ? exact : 'none'}
          options={[['none', 'nothing'], ...columns]}
          onChange={(next) => change({ exact: next })}
        />
        {allEvaluators.length > 0 ? (
          <fieldset className="version-checks">
            <legend>Evaluators</legend>
            {allEvaluators.map(({ evaluator, why }) => (
              <Check
                key={evaluator.id}
                label={why === undefined ? evaluator.value.name : `${evaluator.value.name} (${why})`}
                disabled={why !== undefined}
                checked={why === undefined && search.evaluators?.includes(evaluator.id) === true}
                onChange={(checked) => {
                  const others = (search.evaluators ?? []).filter((id) => id !== evaluator.id);
                  const next = checked ? [...others, evaluator.id] : others;
                  change({ evaluators: next.length > 0 ? next : undefined });
                }}
              />
            ))}
          </fieldset>
        ) : null}
      </Section>
      {isTooLong ? null : 'problem' in planned ? (
        <p className="muted" role="status">
          {planned.problem}
        </p>
      ) : (
        <Price
          project={project}
          plans={planned.plans}
          versions={versions}
          rows={dataset.rows}
          evaluators={evaluators}
        />
      )}
      {lacking.length > 0 ? (
        <Notice kind="error">
          This needs the role {lacking.join(' and ')} on {project}. Somebody with the role admin can give it
          to you.
        </Notice>
      ) : null}
      {error ? <Notice kind="error">{error}</Notice> : null}
      <div className="row-end">
        <Button
          kind="primary"
          type="submit"
          idle={isBusy}
          disabled={lacking.length > 0 || isTooLong || 'problem' in planned}
        >
          {isBusy ? 'Starting…' : 'Start'}
        </Button>
      </div>
    </Form>
  );
};
