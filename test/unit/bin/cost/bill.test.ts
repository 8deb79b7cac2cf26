import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { root } from '../../../../bin/common.ts';
import {
  alertsBill,
  analyticsBill,
  breakEven,
  compressedShare,
  computeBills,
  countTraced,
  evaluatorsBill,
  eventsBill,
  failedShare,
  httpApiCosts,
  idleEvaluatorsBill,
  limitsBill,
  openAnswerBytes,
  promptsBill,
  provisionedBill,
  provisionedFrom,
  redactionBill,
  total,
  turnShare,
} from '../../../../bin/cost/bill.ts';
import { type ByReporting, type Load, type Measured, measured, toLoad } from '../../../../bin/cost/load.ts';
import { agentTraces } from '../../../../examples/agent-traces.ts';
import { maxPlainBytes } from '../../../../lambdas/common/http/negotiate.ts';
import { brotli, buildPage } from '../../../../lib/page.ts';

const everyWay = (together: number, apart: number): ByReporting => ({
  together,
  apart,
  togetherInThreads: together + 1,
  apartInThreads: apart + 1.5,
});

/** Figures that are easy to reckon with. */
const figures: Measured = {
  headerUnits: everyWay(3, 5),
  reportReads: { together: 0, apart: 1, togetherInThreads: 0, apartInThreads: 1 },
  headerBytes: everyWay(1000, 1500),
  itemBytes: everyWay(400, 700),
  apartPayload: 1.5,
  newest: 14,
  trace: 2,
  list: 10,
  usage: 150,
  rollups: 20,
  scannedPerUnit: 20,
  eventReads: 0.5,
  rowReads: 1,
  alerts: { reads: 20, writes: 3, idle: 1 },
  prompt: 1,
  audit: { member: 1, alert: 1, largest: 9, newest: 8 },
  compressed: [
    [1, 0.3],
    [100, 0.02],
  ],
  usual: { bytes: 5000, together: 25, apart: 45, billed: 26_000 },
};

/**
 * A million calls of 5,000 bytes, 100 in a request and in no thread, that nobody asks for: 10,000
 * requests of 10,000 compressed bytes.
 */
const load = (changes: Partial<Load> = {}): Load =>
  toLoad({
    bytes: 5000,
    inThreads: 0,
    months: 1,
    late: 0,
    queries: 0,
    traces: 0,
    lists: 0,
    usages: 0,
    statistics: 0,
    scans: 0,
    ...changes,
  });
const bill = (changes: Partial<Load> = {}) => computeBills(load(changes), figures);

describe('the bill of a month', () => {
  it('has a write unit per KB of each payload segment, beside those of headers', () => {
    // 3 units and 10 KB a hundred calls, at $0.625 a million.
    expect(bill().service['DynamoDB: writes']).toBeCloseTo((3 + 10 / 100) * 0.625, 10);
  });

  it('has one more unit per call in a thread', () => {
    const more = (bill({ inThreads: 0.5 }).service['DynamoDB: writes'] ?? 0) - 3.1 * 0.625;
    expect(more).toBeCloseTo(0.5 * 0.625, 10);
  });

  it('has the end’s items and reads if ends are reported apart', () => {
    const { service } = bill({ apart: 1 });
    // 15,000 bytes of payload in two segments: 15 units, and one that both round up to.
    expect(service['DynamoDB: writes']).toBeCloseTo((5 + 16 / 100) * 0.625, 10);
    expect(service['DynamoDB: reads']).toBeCloseTo(0.125, 10);
  });

  it('has what queries read', () => {
    const { service } = bill({ queries: 1000, traces: 500, scans: 10, scanned: 20_000 });
    expect(service['DynamoDB: reads']).toBeCloseTo(((14_000 + 1000 + 10_000) * 0.125) / 1e6, 10);
  });

  it('has what lists and the usage of their roots read', () => {
    const { service } = bill({ lists: 1000, usages: 100 });
    expect(service['DynamoDB: reads']).toBeCloseTo(((10_000 + 15_000) * 0.125) / 1e6, 10);
  });

  it('has what statistics read and store: rollups, open hours, and each hour once', () => {
    const { service } = bill({ calls: 730_000, statistics: 1000, openHours: 2, pageUnits: 6 });
    const none = bill({ calls: 730_000 }).service['DynamoDB: writes'] ?? 0;
    // 1,000 calls an hour are 50 units.
    const reads = 1000 * (20 + 2 * 50) + 730 * 50;
    expect(service['DynamoDB: reads']).toBeCloseTo((reads * 0.125) / 1e6, 10);
    expect((service['DynamoDB: writes'] ?? 0) - none).toBeCloseTo((730 * 6 * 0.625) / 1e6, 10);
  });

  it('has a write unit for each request that changes a finished hour', () => {
    const more = (bill({ late: 0.5 }).service['DynamoDB: writes'] ?? 0) - 3.1 * 0.625;
    expect(more).toBeCloseTo((5000 * 0.625) / 1e6, 10);
  });

  it('stores the calls of the retention, and recovers the table without its indexes', () => {
    const { service } = bill({ months: 2 });
    // 1,000 bytes of headers, 100 of payload, 1 of the segment's overhead.
    expect(service['DynamoDB: storage']).toBeCloseTo(2 * 1.101 * 0.25, 10);
    expect(service['DynamoDB: point-in-time recovery']).toBeCloseTo(2 * 0.501 * 0.2, 10);
  });

  it('has requests of the gateway and the functions, and of the authorizer if nothing is cached', () => {
    const { service } = bill({ remembered: 0.9 });
    expect(service['API Gateway: requests']).toBeCloseTo(0.01 * 3.5, 10);
    expect(service['Lambda: requests']).toBeCloseTo(0.011 * 0.2, 10);
  });

  it('has the functions’ time, with CPU that takes longer with little memory', () => {
    const { service } = bill({ cpuMs: 1, latencyMs: 50, memoryMb: 1024, remembered: 1 });
    const seconds = 10_000 * 0.05 + 1_000_000 * 0.001 * (1769 / 1024);
    expect(service['Lambda: time']).toBeCloseTo(seconds * 0.0000133334, 10);
    const whole = bill({ cpuMs: 1, latencyMs: 0, memoryMb: 2048, remembered: 1 }).service['Lambda: time'];
    expect(whole).toBeCloseTo(1000 * 2 * 0.0000133334, 10);
  });

  it('counts a streamed answer once per 10 MB, and what Lambda streams above 6', () => {
    const { service } = bill({ calls: 100, bytes: 250_000, batch: 1, queries: 1000, gzip: 1 });
    // 25 MB each: three requests, 19 MB above the free ones, 25 GB within the free 100.
    expect(service['API Gateway: requests']).toBeCloseTo(((100 + 3000) * 3.5) / 1e6, 10);
    expect(service['Lambda: answers above 6 MB']).toBeCloseTo(19 * 0.008, 10);
    expect(service['data sent to the internet']).toBe(0);
  });

  it('has logs, and alarms, dashboards and traces beyond the free ones', () => {
    const { service } = bill({ logBytes: 1000, alarms: 12, dashboards: 4, batch: 1, xray: 1 });
    expect(service['CloudWatch: logs']).toBeCloseTo(0.53, 10);
    expect(service['CloudWatch: alarms and dashboards']).toBeCloseTo(0.2 + 3, 10);
    // Of a million requests, 84 % are the first of their second, or of the 5 % of the others.
    expect(countTraced(1e6) / 1e6).toBeCloseTo(0.84, 2);
    expect(service['X-Ray']).toBeCloseTo(((countTraced(1e6) - 1e5) * 5) / 1e6, 10);
    expect(bill({ batch: 1 }).service['X-Ray']).toBe(0);
  });

  it('has the PUTs and the storage of large payloads', () => {
    const { service } = bill({ objects: 2000, objectKb: 500, months: 3 });
    expect(service['S3: large payloads']).toBeCloseTo(0.01 + 3 * 0.023, 10);
  });
});

describe('the bill with provisioned capacity', () => {
  const hourly = (changes: Partial<Load> = {}) =>
    provisionedBill(load({ minUnits: 2, used: 0.5, ...changes }), figures);

  it('has twice what is used if half of it is, and the least capacity of the index of errors', () => {
    // 31 million units, spread over a month of 730 hours.
    const units = ((31 * 1e6) / (730 * 3600)) * 2 + 2;
    expect(hourly({ calls: 1e7 })['DynamoDB: writes']).toBeCloseTo(units * 730 * 0.00065, 10);
  });

  it('has the least capacity of the table and each index if less is used', () => {
    expect(hourly()['DynamoDB: writes']).toBeCloseTo(5 * 2 * 730 * 0.00065, 10);
    expect(hourly({ queries: 1000 })['DynamoDB: reads']).toBeCloseTo(5 * 2 * 730 * 0.00013, 10);
  });

  it('has marks and rollups per request, since their table stays so', () => {
    const more = (hourly({ late: 0.5 })['DynamoDB: writes'] ?? 0) - (hourly()['DynamoDB: writes'] ?? 0);
    expect(more).toBeCloseTo((5000 * 0.625) / 1e6, 10);
  });

  it('has the alarms of auto scaling', () => {
    // Four alarms each for reads and writes of five, beside the ten that are free.
    expect(hourly({ alarms: 10 })['CloudWatch: alarms and dashboards']).toBeCloseTo(40 * 0.1, 10);
  });

  it('changes no other line', () => {
    const paid = bill().service;
    const by = hourly();
    const others = Object.keys(paid).filter((name) => !/writes|reads|alarms/.test(name));
    expect(others.length).toBeGreaterThan(5);
    for (const name of others) expect(by[name]).toBe(paid[name]);
  });

  it('is lower from the number of calls that is named, and not before', () => {
    const from = provisionedFrom(load(), figures) ?? 0;
    const saves = (calls: number) => {
      const at = { ...load(), calls };
      return total(computeBills(at, figures).service) > total(provisionedBill(at, figures));
    };
    expect([saves(from * 1.1), saves(from * 0.9)]).toEqual([true, false]);
    // A unit that is used a quarter of the time costs more than paid per request.
    expect(provisionedFrom(load({ used: 0.25 }), figures)).toBeUndefined();
  });
});

describe('requests at an HTTP API', () => {
  it('count once per 512 KB', () => {
    expect(httpApiCosts(load({ batch: 1 }))).toBeCloseTo(1, 10);
    expect(httpApiCosts(load({ batch: 1, apart: 1 }))).toBeCloseTo(2, 10);
    // 10,000 requests of 1,000,000 bytes.
    expect(httpApiCosts(load({ bytes: 10_000 }))).toBeCloseTo(0.02, 10);
  });
});

describe('the bill of the usual layout', () => {
  it('grows with the bytes of a call, and writes the complete item again for an end', () => {
    expect(bill({ bytes: 10_000 }).usual['DynamoDB: writes']).toBeCloseTo(50 * 0.625, 10);
    expect(bill({ apart: 1 }).usual['DynamoDB: writes']).toBeCloseTo(45 * 0.625, 10);
    expect(bill({ bytes: 10_000 }).usual['DynamoDB: storage']).toBeCloseTo(52 * 0.25, 10);
  });

  it('reads complete items at half a unit per 4 KB', () => {
    const { usual } = bill({ queries: 1000 });
    expect(usual['DynamoDB: reads']).toBeCloseTo((1000 * Math.ceil(500_000 / 8192) * 0.125) / 1e6, 10);
  });
});

describe('the compressed share of payloads', () => {
  it('is interpolated between two measured sizes along the logarithm of the size', () => {
    const share = (batch: number) => compressedShare(figures.compressed, batch);
    expect(share(1)).toBe(0.3);
    expect(share(10)).toBeCloseTo(0.16, 10);
    expect(share(100)).toBeCloseTo(0.02, 10);
    expect(share(1000)).toBe(0.02);
  });
});

describe('the break-even with a server', () => {
  it('is the load at which both bills are equal', () => {
    const server = { name: 'a server', usd: 100 };
    const calls = breakEven(load(), figures, server) ?? 0;
    const million = total(bill().service);
    expect(calls).toBeGreaterThan((0.97 * 100 * 1e6) / million);
    expect(calls).toBeLessThan((1.03 * 100 * 1e6) / million);
  });

  it('does not exist if a server costs more than any load', () => {
    expect(breakEven(load(), figures, { name: 'a cluster', usd: 1e9 })).toBeUndefined();
  });
});

describe('what streams add to a bill', () => {
  it.each([
    [0, 1.45],
    [1, 1.65],
  ])('is little for the events of a million calls, and for their rows, %i of them apart', (apart, most) => {
    const load = toLoad({ apart });
    expect(total(eventsBill(load, measured()))).toBeLessThanOrEqual(most);
    expect(total(analyticsBill(load, measured()))).toBeLessThanOrEqual(0.5);
  });

  it('is $0.26 for evaluators in a month in which nothing happens', () => {
    expect(total(idleEvaluatorsBill())).toBeCloseTo(0.2628, 4);
    expect(total(evaluatorsBill(load({ calls: 0 }), figures))).toBe(total(idleEvaluatorsBill()));
  });

  it('counts turns and failures as the generator makes them', () => {
    const calls = [...agentTraces({ projectId: 'acme/shop', conversations: 60 })];
    const turns = calls.filter(({ start }) => start.turn_id === start.id).length / calls.length;
    const failed = calls.filter(({ end }) => end.exception !== null).length / calls.length;
    expect([turns, failed]).toEqual([expect.closeTo(turnShare, 2), expect.closeTo(failedShare, 3)]);
  });
});

describe('what settings add', () => {
  it('is processor time and a secret for redaction', () => {
    const { 'Lambda: time': time, ...rest } = redactionBill(load({ cpuMs: 1, memoryMb: 1769 * 2 }));
    expect(time).toBeCloseTo(1000 * 0.5 * ((1769 * 2) / 1024) * 0.0000133334, 10);
    expect(rest).toEqual({ 'Secrets Manager: the key of hashes': 0.4 });
  });

  it('is two updates for a model request under a limit', () => {
    expect(limitsBill(load({ latencyMs: 30 }))).toEqual({
      'DynamoDB: writes': expect.closeTo(2 * 0.625, 10),
      'Lambda: time': expect.closeTo(60_000 * 0.5 * 0.0000133334, 10),
    });
  });
});

describe('a hundred alerts', () => {
  it('cost at most half a dollar over a project of a million calls a month', () => {
    expect(total(alertsBill(toLoad(), measured()))).toBeLessThanOrEqual(0.5);
  });

  it('have the units of each minute', () => {
    // 43,800 minutes, at $0.625 a million.
    expect(alertsBill(load(), figures)['DynamoDB: writes']).toBeCloseTo(43_800 * 3 * 0.625e-6, 10);
  });
});

describe('reads of prompts', () => {
  it('are a request, a read unit and the time that the function waits, each', () => {
    const { 'CloudWatch: logs': logs = 0, ...bill } = promptsBill(load({ latencyMs: 30 }), figures, 1e6);
    expect(bill).toEqual({
      'API Gateway: requests': 3.5,
      'DynamoDB: reads': 0.125,
      'Lambda: requests': 0.2,
      'Lambda: time': expect.closeTo(((30 + 5 * (1769 / 512)) / 1000) * 0.5 * 1e6 * 0.0000133334, 6),
    });
    expect(logs).toBeCloseTo(1500e6 * ((0.5 + 0.03) / 1e9), 6);
  });
});

describe('routes without a key', () => {
  it('answer at most what the bill assumes, in every coding', async () => {
    const { files } = await buildPage(root);
    const sizes = [...files.values()].flatMap((contents) =>
      [brotli(contents), gzipSync(contents, { level: 9 })].map(({ length }) => length),
    );
    expect(sizes.length).toBeGreaterThan(100);
    // The head of an answer takes some hundred bytes.
    expect(Math.max(...sizes)).toBeLessThan(openAnswerBytes.compressed - 1000);
    expect(maxPlainBytes).toBeLessThan(openAnswerBytes.plain - 1000);
  });
});
