import { analytics } from './analytics.ts';
import { breakOff, compressed, leave, query, report, stream } from './calls.ts';
import { ask, type Check, readText, type Untried } from './check.ts';
import { remove } from './cleanup.ts';
import { alerts, evaluators, events, redactionKey, reporter } from './features.ts';
import { throttling, tls } from './gateway.ts';
import { chats, embeddings, messagesOfModels, recordsModels, responses } from './models.ts';
import { alive, deployment, logged, ownUrl, quiet } from './observability.ts';
import { page } from './page.ts';
import { expires, refusals } from './refusals.ts';
import { spansAsJson, spansAsProtobuf } from './spans.ts';
import { bucket, conditions, expiry, feedback } from './storage.ts';

/**
 * What is tried, in this order: later checks need what earlier ones stored. docs/architecture.md has the same names,
 * and those of {@link untried}.
 */
export const checks: readonly Check[] = [
  { name: 'it is up', run: async ({ url }) => void (await readText(await fetch(`${url}/health`))) },
  { name: 'the URL is that of the stack', run: ownUrl },
  { name: 'the deployment is complete', run: deployment },
  { name: 'TLS 1.2 and 1.3, and nothing older', run: tls },
  { name: 'a new key is good', run: async (target) => void (await readText(await ask(target, '/me'))) },
  { name: 'calls are reported', run: report },
  { name: 'queries find them', run: query },
  { name: 'an answer of over 6 MB streams', run: stream },
  { name: 'an answer is compressed', run: compressed },
  { name: 'a client may leave midway', run: leave },
  { name: 'a stream that the service breaks is no whole answer', run: breakOff },
  { name: 'a large value is stored once, and read', run: bucket },
  { name: 'S3 writes and deletes objects on condition', run: conditions },
  { name: 'items expire by their attribute', run: expiry },
  { name: 'feedback is stored', run: feedback },
  { name: 'spans come as JSON', run: spansAsJson },
  { name: 'spans come as protobuf, plain and compressed', run: spansAsProtobuf },
  { name: 'the page opens', run: page },
  { name: 'each kind of refusal has its status', run: refusals },
  { name: 'an expired key is refused while its authorization is cached', run: expires },
  { name: 'models answer chats', run: chats },
  { name: 'models answer messages', run: messagesOfModels },
  { name: 'models answer responses', run: responses },
  { name: 'models embed texts', run: embeddings },
  { name: 'requests to models are recorded', run: recordsModels },
  { name: 'a function reports by grantReport', run: reporter },
  { name: 'redaction hashes with the key in the secret', run: redactionKey },
  { name: 'evaluators give verdicts', run: evaluators },
  { name: 'events are put on the bus', run: events },
  { name: 'alerts are looked at each minute', run: alerts },
  { name: 'Athena finds the calls in their files', run: analytics },
  { name: 'each request has a line in the log', run: logged },
  { name: 'no function died', run: alive },
  { name: 'no alarm rings', run: quiet },
];

/** What runs at the end, whatever was found. */
export const cleanup: Check = { name: 'all that was made is deleted', run: remove };

/** What runs after everything else: nothing is answered for a moment. */
export const last: readonly Check[] = [{ name: 'the stage throttles', run: throttling }];

/** What this command cannot try. */
export const untried: readonly Untried[] = [
  { name: 'expired items are deleted', why: 'DynamoDB takes days. Compare the item counts of tables' },
  { name: 'lifecycle rules delete objects', why: 'S3 takes days' },
  { name: 'storage keeps up with your load', why: 'it needs your load. Watch the alarm "storage throttles"' },
  {
    name: 'throttled functions are answered 429',
    why: 'it would refuse other callers for minutes. Reserve a concurrency of 0 for a function, and call it',
  },
  {
    name: 'functions see that a client has left',
    why: 'only the function knows. The saved query "Slow requests" has what such a request took',
  },
  {
    name: 'an answer ends before its record is written',
    why: 'only the function knows. The saved query "One request" has its line',
  },
  { name: 'shards cannot be taken back', why: 'it needs two deployments' },
  {
    name: 'the web ACL limits an address',
    why: 'it would shut this address out. Send more than firewallRatePerAddress from another one',
  },
  {
    name: 'a restored table is repaired',
    why: 'it needs a restored table: docs/operations.md, "Rehearsing"',
  },
  { name: 'a key is revoked with its stack', why: 'it needs a stack that you delete' },
  { name: 'the bill is as computed', why: 'compare the bill of a month with npm run cost' },
];
