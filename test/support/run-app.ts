import { makeApp } from '../../lib/app.ts';
import { handlers } from '../../lib/handlers.ts';

/*
 * The app of a test run: the project's own, which bundles all handlers that there are. Stacks with
 * other settings are made from these bundles (`assembly-with.ts`).
 */
makeApp({}, handlers).synth();
