/*
 * Which records of the streams of tables wake a function. A record that no filter lets through
 * costs nothing. The patterns are those of EventBridge:
 * https://docs.aws.amazon.com/lambda/latest/dg/with-ddb-filtering.html
 */

/** A pattern of records. */
type Filter = Readonly<Record<string, unknown>>;

/** Whether records of items that are gone count, too. */
interface FilterOptions {
  readonly deletions: boolean;
}

const written = ['INSERT', 'MODIFY'];

/** Only DynamoDB itself signs its deletions, those of items whose time is up. */
const notExpired = { userIdentity: { principalId: [{ exists: false }] } };

/** Starts and ends, but not the payloads of many calls, whose items have another sort key. */
const startsAndEnds = { Keys: { p: { S: ['S', 'E'] } } };

/** Items with a head are records: neither tombstones nor what is left of a purge. */
const records = { NewImage: { h: { B: [{ exists: true }] } } };

/** Changes of calls. Nothing in an item but its packed header says whether its call has ended. */
export const changesOfCalls = ({ deletions }: FilterOptions): Filter[] => [
  { eventName: written, dynamodb: startsAndEnds },
  ...(deletions ? [{ eventName: ['REMOVE'], dynamodb: startsAndEnds, ...notExpired }] : []),
];

/** Changes of feedback; with `deletions`, whatever becomes of a record. */
export const changesOfFeedback = ({ deletions }: FilterOptions): Filter[] =>
  deletions
    ? [{ eventName: written }, { eventName: ['REMOVE'], ...notExpired }]
    : [{ eventName: written, dynamodb: records }];
