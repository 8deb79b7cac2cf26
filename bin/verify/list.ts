import { analytics } from './analytics.ts';
import { breakOff, compressed, leave, query, report, stream } from './calls.ts';
import { ask, type Check, readText, type Untried } from './check.ts';
import { remove } from './cleanup.ts';
import { alerts, evaluators, events, redactionKey, reporter } from './features.ts';
import { page, throttling, tls } from './gateway.ts';
import { chats, embeddings, messagesOfModels, recordsModels, responses } from './models.ts';
import { alive, deployment, logged, ownUrl, quiet } from './observability.ts';
import { expires, refusals } from './refusals.ts';
import { spansAsJson, spansAsProtobuf } from './spans.ts';
import { bucket, conditions, expiry, feedback } from './storage.ts';

/**
 * What is tried, in this order: later checks need what earlier ones stored. docs/architecture.md has the same names,
 * and those of {@link untried}.
 */
export const checks: readonly Check[] = [
  { name: 'it is up', run: async ({ url }) => void (await readText(await fetch(`${url}/health`))) },
  { name: 'the URL belongs to the stack', run: ownUrl },
  { name: 'the deployment is complete', run: deployment },
  { name: 'TLS 1.2 and 1.3, and nothing older', run: tls },
  { name: 'a new key is accepted', run: async (target) => void (await readText(await ask(target, '/me'))) },
  { name: 'calls are reported', run: report },
  { name: 'queries find the calls', run: query },
  { name: 'an answer over 6 MB streams', run: stream },
  { name: 'an answer is compressed', run: compressed },
  { name: 'a client may leave midway', run: leave },
  { name: 'a broken stream is an error for the client', run: breakOff },
  { name: 'a large value is stored once, and read', run: bucket },
  { name: 'S3 honors If-Match', run: conditions },
  { name: 'time to live is enabled on the tables', run: expiry },
  { name: 'feedback is stored', run: feedback },
  { name: 'spans are accepted as JSON', run: spansAsJson },
  { name: 'spans are accepted as protobuf, plain and compressed', run: spansAsProtobuf },
  { name: 'the page opens', run: page },
  { name: 'each kind of refusal has the right status', run: refusals },
  { name: 'an expired key is refused while its authorization is cached', run: expires },
  { name: 'models answer chats', run: chats },
  { name: 'models answer messages', run: messagesOfModels },
  { name: 'models answer responses', run: responses },
  { name: 'models embed texts', run: embeddings },
  { name: 'requests to models are recorded', run: recordsModels },
  { name: 'a function with grantReport reports', run: reporter },
  { name: 'redaction hashes with the key in the secret', run: redactionKey },
  { name: 'evaluators give verdicts', run: evaluators },
  { name: 'events are put on the bus', run: events },
  { name: 'alerts are evaluated every minute', run: alerts },
  { name: 'Athena finds the calls in the files', run: analytics },
  { name: 'each request has a line in the log', run: logged },
  { name: 'no function died', run: alive },
  { name: 'no alarm is active', run: quiet },
];

/** Runs at the end, whatever was found. */
export const cleanup: Check = { name: 'everything it created is deleted', run: remove };

/** Run after everything else: for a moment, nothing else is answered. */
export const last: readonly Check[] = [{ name: 'the API throttles', run: throttling }];

/** What this command cannot try. */
export const untried: readonly Untried[] = [
  { name: 'expired items are deleted', why: 'DynamoDB takes days. Compare the item counts of the tables' },
  { name: 'lifecycle rules delete objects', why: 'S3 takes days' },
  { name: 'storage keeps up with your load', why: 'it needs your load. Watch the alarm "storage throttles"' },
  {
    name: 'throttled functions return 429',
    why: 'it would refuse other callers. Reserve a concurrency of 0 for a function, and call it',
  },
  {
    name: 'functions stop when a client has left',
    why: 'only the function knows. The saved query "Slow requests" shows how long it ran',
  },
  {
    name: 'an answer ends before its record is written',
    why: 'only the function knows. The saved query "One request" shows its line',
  },
  {
    name: 'the memory of a function grows as it should',
    why: 'it needs your load. See the metrics of Lambda',
  },
  { name: 'CloudFormation refuses to remove shards', why: 'it needs another deployment' },
  {
    name: 'the firewall limits an address',
    why: 'it would block yours. Send more than firewallRatePerAddress from another one',
  },
  {
    name: 'restored tables can be repaired',
    why: 'it needs a restored table: docs/operations.md, "Rehearsing"',
  },
  { name: 'a failed first deployment can be removed', why: 'it needs a deployment that fails' },
  { name: 'the keys of a deleted stack are revoked', why: 'it needs a stack that you delete' },
  { name: 'prices are up to date', why: 'compare the bill of a month with npm run cost' },
];
