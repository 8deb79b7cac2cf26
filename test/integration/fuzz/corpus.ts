/*
 * Bodies that have broken JSON services before. Each is sent to every endpoint as it stands.
 */

const deep = (open: string, close: string, levels: number): string =>
  open.repeat(levels) + close.repeat(levels);

const bytes = (...values: number[]): Buffer => Buffer.from(values);

/** Texts and bytes, by what is nasty about them. */
export const corpus: readonly (readonly [name: string, body: string | Buffer])[] = [
  ['nothing', ''],
  ['white space', ' \n\t'],
  ['a byte order mark', '\ufeff{}'],
  ['a byte order mark alone', '\ufeff'],
  ['null', 'null'],
  ['a number', '1'],
  ['a text', '"x"'],
  ['an empty list', '[]'],
  ['an empty object', '{}'],
  ['half an object', '{"project_id": "acme/sh'],
  ['a comma too many', '{"project_id": "acme/shop",}'],
  ['single quotes', "{'project_id': 'acme/shop'}"],
  ['a comment', '{/* */"project_id": "acme/shop"}'],
  ['NaN', '{"project_id": NaN}'],
  ['a number beyond a double', '{"project_id": "acme/shop", "limit": 1e400}'],
  ['a number beyond 2^53', '{"project_id": "acme/shop", "limit": 9007199254740993}'],
  ['a negative zero', '{"project_id": "acme/shop", "limit": -0}'],
  ['ten thousand digits', `{"project_id": "acme/shop", "limit": ${'9'.repeat(10_000)}}`],
  ['ten thousand decimals', `{"project_id": "acme/shop", "limit": 1.${'1'.repeat(10_000)}}`],
  ['duplicate keys', '{"project_id": "acme/shop", "project_id": "acme/other"}'],
  ['__proto__', '{"project_id": "acme/shop", "__proto__": {"polluted": true}}'],
  ['__proto__ first', '{"__proto__": {"project_id": "acme/shop", "polluted": true}}'],
  ['constructor', '{"constructor": {"prototype": {"polluted": true}}}'],
  [
    '__proto__ far below',
    '{"start": {"inputs": {"__proto__": {"polluted": true}}}, "obj": {"val": {"__proto__": 1}}}',
  ],
  ['a lone surrogate', '{"project_id": "\\ud800"}'],
  ['a NUL', '{"project_id": "acme/shop\\u0000"}'],
  ['a raw NUL', bytes(0x7b, 0x00, 0x7d)],
  ['no UTF-8', bytes(0x22, 0xc3, 0x28, 0xff, 0xfe, 0x22)],
  ['overlong UTF-8', bytes(0x22, 0xc0, 0xaf, 0x22)],
  ['UTF-16', Buffer.from('\ufeff{"project_id": "acme/shop"}', 'utf16le')],
  ['lists 100,000 deep', deep('[', ']', 100_000)],
  ['objects 20,000 deep', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
  ['lists that do not end', '['.repeat(100_000)],
  [
    'a query 20,000 deep',
    `{"project_id": "acme/shop", "query": {"$expr": ${'{"$not": ['.repeat(20_000)}{"$literal": 1}${']}'.repeat(20_000)}}}`,
  ],
  [
    'inputs 5,000 deep',
    `{"start": {"project_id": "acme/shop", "op_name": "x", "started_at": "2026-10-01", "inputs": ${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}}`,
  ],
  [
    'a value 5,000 deep',
    `{"obj": {"project_id": "acme/shop", "object_id": "x", "val": ${deep('[', ']', 5000)}}}`,
  ],
  [
    'a path of dots',
    `{"project_id": "acme/shop", "columns": ["inputs${'.'.repeat(400)}"], "sort_by": [{"field": "inputs.__proto__.x", "direction": "asc"}]}`,
  ],
  [
    'a column of the prototype',
    '{"project_id": "acme/shop", "columns": ["__proto__", "constructor", "toString"]}',
  ],
  ['an operator of the prototype', '{"project_id": "acme/shop", "query": {"$expr": {"constructor": []}}}'],
  ['a long key', `{"${'k'.repeat(100_000)}": 1}`],
  ['many keys', `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}": ${i}`).join(',')}}`],
  ['many items', `{"batch": [${Array.from({ length: 20_000 }, () => '{}').join(',')}]}`],
  ['two values', '{}{}'],
  ['a value behind it', '{} x'],
  ['another encoding of a quote', '{"project_id": "acme\\u002fshop"}'],
  ['SQL', `{"project_id": "acme/shop' OR '1'='1"}`],
  ['a template', `{"project_id": "$\{7*7}{{7*7}}"}`],
  ['a path', '{"project_id": "../../etc/passwd"}'],
  ['line breaks for a log', '{"project_id": "a\\r\\n{\\"level\\":\\"error\\"}"}'],
  ['a form', 'project_id=acme%2Fshop'],
  ['XML', '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'],
];
