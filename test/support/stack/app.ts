import { makeApp } from '../../../lib/app.ts';
import { everyHandler } from '../../../lib/features.ts';

/*
 * The app of a test run: the project's own, which bundles all handlers that there are. Stacks with other
 * settings are made from these bundles (`template.ts`).
 */
const app = await makeApp({}, everyHandler);
app.synth();
