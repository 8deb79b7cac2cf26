/**
 * A program that uses the client of JavaScript: it does what it reads, a line of JSON each, and prints what came of it.
 * prompts.py is the same in Python.
 */
import { createInterface } from 'node:readline';
import { PennytraceClient } from 'pennytrace-client';

let client;
let told = [];

const describe = ({ kind, name, versionIndex, digest, labels, variables, config, messages, text }) => ({
  kind,
  name,
  versionIndex,
  digest,
  labels,
  variables,
  config,
  content: messages ?? text,
});

const work = {
  client: (options) => {
    told = [];
    client = new PennytraceClient({ ...options, onError: (error) => told.push(error.message) });
    return null;
  },
  get: async ({ name, ...options }) => describe(await client.getPrompt(name, options)),
  many: async ({ names, times, ...options }) => {
    const wanted = names.flatMap((name) => Array(times).fill(name));
    const prompts = await Promise.all(wanted.map((name) => client.getPrompt(name, options)));
    return prompts.map(({ versionIndex }) => versionIndex);
  },
  compile: async ({ name, values, ...options }) => (await client.getPrompt(name, options)).compile(values),
  spoil: async ({ name, ...options }) => {
    const prompt = await client.getPrompt(name, options);
    prompt.messages[0].content = 'spoiled';
    prompt.compile().at(-1).content[0].deep.value = 'spoiled';
    return describe(await client.getPrompt(name, options));
  },
  told: () => told,
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, task, given } = JSON.parse(line);
  const print = (came) => console.log(JSON.stringify({ id, ...came }));
  Promise.resolve()
    .then(() => work[task](given))
    .then(
      (result) => print({ result }),
      (error) => print({ error: `${error.name}: ${error.message}` }),
    );
}
