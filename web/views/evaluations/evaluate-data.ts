import { useQueries } from '@tanstack/react-query';
import { RequestFailed } from '../../api/http.ts';
import { useCount, useDatasets } from '../../calls/datasets/data.ts';
import type { Row } from '../../calls/datasets/rows.ts';
import { getTableDigest, readTable } from '../../calls/datasets/table.ts';
import { type Evaluator, readEvaluators } from '../../calls/evaluators.ts';
import { usePrices } from '../../calls/prices.ts';
import { useAllowed, useRead, useSession } from '../../session/session.tsx';
import { maxListed, readObjects, versionsRequest } from '../../session/stored.ts';
import { maxRows, type PromptVersion, type TokenPrice } from './plan.ts';

/** The names of the prompts of a project. */
export const usePromptNames = (project: string) =>
  useRead(['prompts to evaluate', project], async ({ client, signal }) => {
    const { prompts } = await client.ask('/prompts/query', { project_id: project, limit: maxListed }, signal);
    return prompts.map(({ name }) => name);
  });

/** A version of a prompt that can be chosen. */
export interface VersionChoice {
  readonly index: number;
  /** Those of prompts, `latest` too. */
  readonly labels: readonly string[];
  readonly created: string;
}

/** The versions of a prompt, the newest first, with their labels. */
export const useVersionChoices = (project: string, name: string | undefined) =>
  useRead(
    ['versions to evaluate', project, name],
    async (reading): Promise<readonly VersionChoice[]> => {
      const { client, signal } = reading;
      const request = { ...versionsRequest(name ?? ''), metadata_only: true };
      const [versions, { prompts }] = await Promise.all([
        readObjects(reading, project, request),
        client.ask('/prompts/query', { project_id: project, name: name ?? '' }, signal),
      ]);
      const labels = prompts[0]?.labels ?? [];
      return versions.map(({ version_index: index, created_at: created }, at) => {
        const own = labels.filter(({ version_index }) => version_index === index).map(({ label }) => label);
        return { index, created, labels: at === 0 ? [...own, 'latest'] : own };
      });
    },
    { enabled: name !== undefined },
  );

/** Versions of a prompt with what they say, as far as they are there, in this order. */
export const usePromptVersions = (
  project: string,
  name: string | undefined,
  indexes: readonly number[],
): { readonly versions: readonly PromptVersion[]; readonly error: Error | null } => {
  const { client, me } = useSession();
  return useQueries({
    queries: (name === undefined ? [] : indexes).map((version_index) => ({
      queryKey: ['prompt version', me.key_id, project, name, version_index],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        client.ask('/prompt/read', { project_id: project, name: name ?? '', version_index }, signal),
      staleTime: Number.POSITIVE_INFINITY,
    })),
    combine: (results) => ({
      versions: results.flatMap(({ data }) => data ?? []),
      error: results.find(({ error }) => error)?.error ?? null,
    }),
  });
};

const none: readonly Row[] = [];

/** A dataset to evaluate on: the newest version, and its rows if they are not too many. */
export const useDataset = (project: string, name: string | undefined) => {
  const datasets = useDatasets(project);
  const version = datasets.data?.find(({ object_id }) => object_id === name);
  let table: string | undefined;
  try {
    table = version && getTableDigest(version);
  } catch {
    // It is of the class and has no rows: nothing can be evaluated on it.
  }
  const count = useCount(project, table ?? '', table !== undefined);
  const isSmall = count.data !== undefined && count.data <= maxRows;
  const rows = useRead(
    ['rows to evaluate', project, table],
    async ({ client, signal }) =>
      (await readTable(client, project, table ?? '', { signal })).map(({ val }) => val),
    { enabled: isSmall, staleTime: Number.POSITIVE_INFINITY },
  );
  return {
    names: datasets.data?.map(({ object_id }) => object_id) ?? [],
    ref: version && `svc:///${project}/object/${version.object_id}:${version.digest}`,
    count: count.data,
    rows: rows.data ?? none,
    queries: [datasets, count, rows],
  };
};

/** What a model costs: null if it has no price in dollars, and whether an upstream serves it. */
export interface ModelPrice {
  readonly price: TokenPrice | null;
  readonly isServed: boolean;
}

/** What models cost by their names, as far as it is known. The project's own prices go first. */
export const useModelPrices = (
  project: string,
  models: readonly string[],
): ReadonlyMap<string, ModelPrice> => {
  const { client, me } = useSession();
  const mayAsk = useAllowed(project, 'inference');
  const { data: own = [] } = usePrices(project).query;
  const served = useQueries({
    queries: models.map((model) => ({
      queryKey: ['model', me.key_id, model],
      queryFn: async ({ signal }: { signal: AbortSignal }): Promise<ModelPrice> => {
        try {
          const found = await client.readModel(model, signal);
          const { prompt_token_cost: input, completion_token_cost: output } = found;
          const isPriced = input !== undefined && output !== undefined;
          return { isServed: true, price: isPriced ? { input, output } : null };
        } catch (error) {
          if (error instanceof RequestFailed && error.status === 404) return { isServed: false, price: null };
          throw error;
        }
      },
      enabled: mayAsk,
    })),
    combine: (results) => results.map(({ data }) => data),
  });
  const now = Date.now();
  return new Map(
    models.flatMap((model, at): (readonly [string, ModelPrice])[] => {
      const known = served[at];
      // The newest come first.
      const price = own.find(
        ({ llm_id, effective_date = '' }) => llm_id === model && Date.parse(effective_date) <= now,
      );
      if (!price) return known ? [[model, known]] : [];
      const { prompt_token_cost: input = 0, completion_token_cost: output = 0 } = price;
      const units = [price.prompt_token_cost_unit, price.completion_token_cost_unit];
      const areDollars = units.every((unit = 'USD') => unit === 'USD');
      return [[model, { isServed: known?.isServed ?? true, price: areDollars ? { input, output } : null }]];
    }),
  );
};

/** An evaluator that can be chosen, or why it cannot. */
export interface EvaluatorChoice {
  readonly evaluator: Evaluator;
  readonly why: string | undefined;
}

/** The evaluators of a project, and why some cannot score what a prompt is answered. */
export const useEvaluatorChoices = (project: string) => {
  const { data } = useRead(['evaluators', project], ({ client, signal }) =>
    readEvaluators(client, project, signal),
  );
  const mayWrite = useAllowed(project, 'write');
  const isOn = useRead(
    ['evaluators are on', project],
    async ({ client, signal }) => {
      const request = { project_id: project, call_ids: [], scorer_refs: [], dry_run: true };
      return (await client.ask('/calls/score', request, signal)).is_on;
    },
    { enabled: mayWrite && data !== undefined && data.length > 0 },
  ).data;
  const whyNot = ({ value: { on, judge, check, enabled } }: Evaluator): string | undefined => {
    if (isOn === false) return 'evaluators are off in this service';
    if (on === 'trace') return 'it judges whole traces';
    if (typeof (check?.max_cost_usd ?? check?.max_latency_ms) === 'number')
      return 'latency and cost are compared anyway';
    return judge && !enabled ? 'its judge is off: turn it on, at 0 % of calls if need be' : undefined;
  };
  return data?.map((evaluator): EvaluatorChoice => ({ evaluator, why: whyNot(evaluator) })) ?? [];
};
