import { Aws } from 'aws-cdk-lib';
import type { LimitsAccess } from '../api/endpoint.ts';
import { tables } from '../foundations/storage/tables.ts';
import type { Config } from './config.ts';
import type { Needs } from './permissions.ts';
import type { Storage } from './storage.ts';

/** What a function needs that holds money, to tell when a limit is nearly reached: nothing without events. */
export const nearlyReachedNeeds = ({ limits, events }: Pick<Config, 'limits' | 'events'>): Needs => {
  if (!limits || !events) return { environment: {}, permissions: [] };
  const bus = `arn:${Aws.PARTITION}:events:${Aws.REGION}:${Aws.ACCOUNT_ID}:event-bus/${events.bus}`;
  return {
    environment: { EVENT_BUS: events.bus },
    permissions: [{ actions: ['events:PutEvents'], resource: bus }],
  };
};

/**
 * What the function of a route needs besides its stores to keep to spending limits, or to tell what
 * is left.
 *
 * @returns nothing without the setting, or for a route that has nothing to do with them
 */
export const limitsNeeds = (
  access: LimitsAccess | undefined,
  config: Pick<Config, 'limits' | 'shards' | 'events'>,
  { objects, costs, rollups }: Storage,
): Needs => {
  const { limits, shards } = config;
  if (!limits || !access) return { environment: {}, permissions: [] };
  const holds = access === 'hold';
  const nearly = holds ? nearlyReachedNeeds(config) : undefined;
  return {
    environment: {
      LIMITS: limits.unpriced,
      SHARDS: shards.join(','),
      [tables.objects.variable]: objects.tableName,
      [tables.rollups.variable]: rollups.tableName,
      ...(holds && { [tables.costs.variable]: costs.tableName }),
      ...nearly?.environment,
    },
    permissions: [
      { actions: ['dynamodb:BatchGetItem', 'dynamodb:Query'], resource: objects.tableArn },
      { actions: ['dynamodb:BatchGetItem'], resource: rollups.tableArn },
      // A route that notes projects may add to counters already.
      ...(holds ? [{ actions: ['dynamodb:Query'], resource: costs.tableArn }] : []),
      ...(nearly?.permissions ?? []),
    ],
  };
};
